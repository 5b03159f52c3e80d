// @vitest-environment happy-dom
import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { CastSummary } from "../api/generated";
import { demo, listed, loadedStore, serveDemo, summary } from "../testing/demo";
import { type Asked, drawn, openAt, refusal, serve } from "../testing/served";
import { startLive, useInbox, watch } from "./live";
import { useLive } from "./live-state";

afterEach(cleanup);

/** A stream of the server: what it says next, and its end. */
function stream() {
  const begun: URLSearchParams[] = [];
  let now: ReadableStreamDefaultController<Uint8Array> | null = null;
  const answer = ({ search }: Asked) => {
    begun.push(search);
    return new Response(
      new ReadableStream<Uint8Array>({
        start(controller) {
          now = controller;
        },
      }),
    );
  };
  return {
    answer,
    begun,
    say: (event: string, data: unknown, id = "") =>
      now?.enqueue(
        new TextEncoder().encode(`event: ${event}\n${id ? `id: ${id}\n` : ""}data: ${JSON.stringify(data)}\n\n`),
      ),
    end: () => now?.close(),
  };
}
const castsOf = () => [...useLive.getState().casts.values()].map((cast) => `${cast.castId} ${cast.status}`);

function Waits() {
  return <p>{useInbox().length} wait</p>;
}

test("the list is read once and then told, and what waits is asked for again", async () => {
  openAt("/casts");
  const { answer, say, begun } = stream();
  let items: unknown[] = [];
  const asked = serve({ "/casts": { items: [summary("a", "Greet")] }, "/inbox": () => ({ items }), "/stream": answer });
  startLive();
  drawn(<Waits />);
  await screen.findByText("0 wait");
  await waitFor(() => expect(castsOf()).toEqual(["a completed"]));
  await waitFor(() => expect(begun).toHaveLength(1));
  items = [{ castId: "b" }];
  const waiting: CastSummary = summary("b", "Ask", {
    status: "waiting",
    waiting: { reason: "approval", message: "asks" },
  });
  say("cast", waiting, "17");
  await waitFor(() => expect(castsOf()).toEqual(["a completed", "b waiting"]));
  await screen.findByText("1 wait");
  expect(asked.filter(({ path }) => path === "/casts")).toHaveLength(1);
});

test("a lost connection goes on behind what it heard, and the list is read anew", async () => {
  openAt("/casts");
  const { answer, say, end, begun } = stream();
  const asked = serve({ "/casts": { items: [] }, "/stream": answer });
  startLive();
  await waitFor(() => expect(begun).toHaveLength(1));
  say("cast", summary("b", "Ask"), "23");
  await waitFor(() => expect(castsOf()).toEqual(["b completed"]));
  const before = useLive.getState().returns;
  end();
  await waitFor(() => expect(useLive.getState().connection.kind).toBe("reconnecting"));
  await waitFor(() => expect(begun).toHaveLength(2));
  expect(begun[1]?.get("from")).toBe("23");
  await waitFor(() => expect(useLive.getState().returns).toBe(before + 1));
  await waitFor(() => expect(asked.filter(({ path }) => path === "/casts")).toHaveLength(2));
});

test("a place in the stream that the server has forgotten is given up", async () => {
  openAt("/casts");
  const { answer, begun } = stream();
  const forgets = (asked: Asked) => (asked.search.has("from") ? refusal(410, "gone", "Begin again.") : answer(asked));
  serve({ "/casts": { items: [] }, "/stream": forgets });
  startLive();
  await waitFor(() => expect(useLive.getState().connection.kind).toBe("connected"));
  expect(begun.at(-1)?.has("from")).toBe(false);
});

test("a page that is not known any more is signed out", async () => {
  openAt("/casts");
  serve({ "/casts": { items: [] }, "/stream": refusal(401, "unauthorized", "sign in") });
  startLive();
  await waitFor(() => expect(useLive.getState().signedOut).toBe(true));
});

test("while a cast is open its events come over the same stream, from the first that is missing", async () => {
  openAt("/casts/demo");
  const { answer, say, begun } = stream();
  serveDemo(44, { "/stream": answer });
  const store = await loadedStore();
  const leave = watch(store);
  await waitFor(() => expect(begun.at(-1)?.get("castFrom")).toBe("45"));
  expect(useLive.getState().lastSeq).toBe(44);
  say("journal", demo.events[44]);
  await waitFor(() => expect(useLive.getState().lastSeq).toBe(45));
  say("live", { socket: "Socket-2", kind: "text", text: "one" });
  await waitFor(() => expect(store.get().live["Socket-2"]?.lines).toEqual(["one"]));
  leave();
  expect(useLive.getState().lastSeq).toBeNull();
  await waitFor(() => expect(begun.at(-1)?.has("cast")).toBe(false));
});

test("casts of the same id in two projects are two", () => {
  expect([...listed(summary("a", "One"), summary("a", "Two", { project: "q" })).keys()]).toEqual(["p/a", "q/a"]);
});
