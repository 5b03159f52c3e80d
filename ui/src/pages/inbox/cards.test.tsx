// @vitest-environment happy-dom
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { CastView, InboxItem } from "../../api/generated";
import { drawn, serve } from "../../testing/served";
import { Approval } from "./Approval";
import { BudgetCard } from "./Budget";
import { OtherCard } from "./Other";
import { TrustCards } from "./Trust";

const file = join(import.meta.dirname, "../../testing/demo.json");
const { report } = JSON.parse(readFileSync(file, "utf8")) as { report: CastView };
const view = { ...report, plan: { nodes: {} }, budget: { maxTurns: 6 }, usage: { turns: 6, tokens: 100 } };
const item = (part: Partial<InboxItem>): InboxItem => ({
  project: "p",
  castId: "c1",
  loadout: "Pair",
  request: "Merge it",
  reason: "approval",
  message: "`merge` asks",
  node: "merge",
  since: "2026-11-15T12:00:00Z",
  next: [],
  ...part,
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("an approval shows the words that would run, and approves what was shown", async () => {
  const asked = serve({
    "/casts/c1": view,
    "/casts/c1/nodes/merge/given": { layers: [], payloads: [] },
    "/casts/c1/events": { items: [], next: null },
    "/casts/c1/commands": { events: [9] },
  });
  const answered = vi.fn();
  const approval = {
    hash: "abcdef0123456789",
    runs: "runs git",
    argv: ["git", "pu\u200bsh"],
    inputs: [],
    writes: "the project",
    routes: false,
  };
  drawn(<Approval item={item({ approval })} onAnswered={answered} />);
  expect(screen.getByTestId("argv").textContent).toContain("U+200B");
  fireEvent.click(screen.getByTestId("approve"));
  await waitFor(() => expect(answered).toHaveBeenCalledOnce());
  const sent = asked.filter((one) => one.method === "POST").map((one) => one.body);
  expect(sent).toEqual([{ do: "approve", node: "merge", hash: approval.hash, actor: "page" }]);
});

test("while the input of a newer question is read, that of the older one is not shown", async () => {
  const approval = { hash: "h1", runs: "runs git", argv: ["git"], inputs: [], writes: "nothing", routes: false };
  const given = (prompt: string) => ({ prompt, layers: [], payloads: [] });
  let answer: unknown = given("the older input");
  serve({
    "/casts/c1": view,
    "/casts/c1/nodes/merge/given": () => answer,
    "/casts/c1/events": { items: [], next: null },
  });
  const { rerender } = drawn(<Approval item={item({ approval })} onAnswered={() => {}} />);
  await screen.findByText("the older input");
  let tell = (_: unknown) => {};
  answer = new Promise((resolve) => {
    tell = resolve;
  });
  rerender(<Approval item={item({ approval: { ...approval, hash: "h2" } })} onAnswered={() => {}} />);
  expect(screen.queryByText("the older input")).toBeNull();
  tell(given("the newer input"));
  await screen.findByText("the newer input");
});

test("a spent budget proposes more, and sends it", async () => {
  const asked = serve({ "/casts/c1": view, "/casts/c1/commands": { events: [9] } });
  const answered = vi.fn();
  drawn(<BudgetCard item={item({ reason: "budget" })} onAnswered={answered} />);
  const field = (await screen.findByTestId("raise-maxTurns")) as HTMLInputElement;
  await waitFor(() => expect(Number(field.value)).toBeGreaterThan(6));
  fireEvent.change(field, { target: { value: "20" } });
  fireEvent.click(screen.getByRole("button", { name: /Raise|go on/i }));
  await waitFor(() => expect(answered).toHaveBeenCalledOnce());
  const [sent] = asked.filter((one) => one.method === "POST");
  expect(sent?.body).toMatchObject({ do: "budget", budget: { maxTurns: 20 } });
});

test("anything else offers what the server says can be done, without what a person must fill in", () => {
  serve({});
  const next: InboxItem["next"] = [{ do: "say" }, { do: "resume" }, { do: "abort" }];
  drawn(<OtherCard item={item({ reason: "manual", next })} onAnswered={() => {}} />);
  expect(screen.getAllByRole("button").map((one) => one.textContent)).toEqual(["resume", "abort", ""]);
});

test("a configuration is trusted by its hash", async () => {
  let items = [{ project: "p", hash: "h".repeat(64), text: "", runs: ["sh -c true"], question: null }];
  const asked = serve({
    "/trust": ({ method }: { method: string }) => {
      if (method === "POST") items = [];
      return { items };
    },
  });
  drawn(<TrustCards />);
  fireEvent.click(await screen.findByRole("button", { name: "Approve what is shown" }));
  await waitFor(() => expect(screen.queryByTestId("trust-card")).toBeNull());
  expect(asked.find((one) => one.method === "POST")?.body).toEqual({ project: "p", hash: "h".repeat(64) });
});
