// @vitest-environment happy-dom
import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { Query } from "../api/client";
import { drawn, serve } from "../testing/served";
import { askAgain, useGet } from "./ask";
import { useLive } from "./live-state";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function Version({ path = "/health", query = {} }: { path?: string | null; query?: Query }) {
  const { data, error } = useGet<{ version: string }>(path, query);
  return <p>{data?.version ?? (error ? `refused: ${error.message}` : "reading")}</p>;
}

test("an answer is shared by all who ask for it", async () => {
  const asked = serve({ "/health": { version: "1.2.3" } });
  drawn(
    <>
      <Version />
      <Version />
    </>,
  );
  await waitFor(() => expect(screen.getAllByText("1.2.3")).toHaveLength(2));
  expect(asked).toHaveLength(1);
});

test("nothing is asked while there is no address", () => {
  const asked = serve({});
  drawn(<Version path={null} />);
  expect(asked).toEqual([]);
});

test("an answer is kept while more is asked of the same thing, and never shown for another", async () => {
  const never = new Promise(() => {});
  vi.stubGlobal("fetch", (address: string) =>
    address.includes("first") ? Promise.resolve(Response.json({ version: "1" })) : never,
  );
  const page = drawn(<Version query={{ project: "p", at: "first" }} />);
  await screen.findByText("1");
  page.rerender(<Version query={{ project: "p", at: "next" }} />);
  screen.getByText("1");
  page.rerender(<Version query={{ project: "other", at: "next" }} />);
  screen.getByText("reading");
  page.rerender(<Version query={{ project: "p", at: "first" }} />);
  await screen.findByText("1");
  page.rerender(<Version path="/other" query={{ project: "p", at: "next" }} />);
  screen.getByText("reading");
});

test("a question that nobody waits for any more is given up", async () => {
  let signal: AbortSignal | null | undefined;
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    signal = init.signal;
    return new Promise(() => {});
  });
  const page = drawn(<Version path="/slow" />);
  await waitFor(() => expect(signal).toBeDefined());
  page.unmount();
  await waitFor(() => expect(signal?.aborted).toBe(true));
});

test("what a server refused is said, and asked again when it is back", async () => {
  let answers = 0;
  serve({ "/health": () => (++answers === 1 ? undefined : { version: "2" }) });
  drawn(<Version />);
  await screen.findByText("refused: /health");
  askAgain();
  await screen.findByText("2");
});

test("a server that is busy is asked again by itself", async () => {
  let answers = 0;
  const busy = { type: "about:blank", title: "Busy", status: 503, code: "busy", detail: "busy" };
  serve({ "/health": () => (++answers === 1 ? Response.json(busy, { status: 503 }) : { version: "3" }) });
  drawn(<Version />);
  await screen.findByText("3", {}, { timeout: 5000 });
});

test("a page that the server does not know is signed out", async () => {
  const unknown = { type: "about:blank", title: "Unauthorized", status: 401, code: "unauthorized", detail: "sign in" };
  serve({ "/health": Response.json(unknown, { status: 401 }) });
  drawn(<Version />);
  await screen.findByText("refused: sign in");
  expect(useLive.getState().signedOut).toBe(true);
  useLive.setState({ signedOut: false });
});
