// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { Compared, ComparedTurn, Comparison } from "../../api/generated";
import { demo, project, turnView, viewAt } from "../../testing/demo";
import { drawn, openAt, refusal, serve } from "../../testing/served";
import { Compare } from ".";

afterEach(cleanup);

const usage = { turns: 12, tokens: 1000, cost: 1 };
const side = (castId: string): Compared => ({ castId, loadout: "Demo", request: "Greet", status: "completed", usage });
const turn = (part: Partial<ComparedTurn>): ComparedTurn => ({
  socket: "Socket-2",
  materia: "Build",
  item: "WI-1",
  itemLabel: "Greet by name",
  attempt: 1,
  verdict: "same",
  a: { seq: 12, outcome: "completed" },
  b: { seq: 12, outcome: "completed" },
  ...part,
});
const rows: ComparedTurn[] = [
  turn({}),
  turn({
    item: "WI-2",
    itemLabel: "Greet in French",
    verdict: "differs",
    differs: ["output"],
    a: { seq: 31, outcome: "completed" },
    b: { seq: 31, outcome: "completed" },
    output: { a: "It says Bonjour.", b: "It says Salut." },
  }),
  turn({
    socket: "Socket-3",
    materia: "Auto-Eval",
    item: null,
    verdict: "only_b",
    a: null,
    b: { seq: 50, outcome: "failed" },
  }),
];
const both = { a: 1, b: 2 };
const comparison: Comparison = {
  a: side("a"),
  b: { ...side("b"), forkedFrom: "a" },
  forkedAt: 8,
  rows,
  routes: [{ edge: "Socket-3->Socket-2", a: 1, b: 2 }],
  variables: [{ path: "greeting", a: "Bonjour", b: "Salut" }],
  totals: { turns: both, tokens: both, cost: both, durationMs: both },
};
function opened(search = "", more: Record<string, unknown> = {}) {
  openAt(`/casts/a/compare/b${search}`);
  const turns = [12, 31, 50].flatMap((seq) =>
    ["a", "b"].map((id) => [`/casts/${id}/turns/${seq}`, { ...turnView(seq), output: `${id} at ${seq}` }] as const),
  );
  serve({
    "/projects": { items: [project] },
    "/casts/a": viewAt(80, { castId: "a", usage, state: { greeting: "Bonjour", name: "Ada" } }),
    "/casts/b": viewAt(80, { castId: "b", usage: { ...usage, turns: 14 }, state: { greeting: "Salut", name: "Ada" } }),
    "/casts/a/events": { items: demo.events.slice(0, 8), next: null },
    "/casts/a/compare/b": comparison,
    ...Object.fromEntries(turns),
    ...more,
  });
  drawn(<Compare a="a" b="b" />);
}
const half = (name: string) => within(screen.getByRole("region", { name }));

test("a sentence says what differs, and the totals stand beside each other", async () => {
  opened();
  expect(screen.getByRole("status").textContent).toBe("Reading both casts…");
  expect((await screen.findByTestId("compare-sentence")).textContent).toContain("B took 2 turns more than A.");
  expect(screen.getByText("fork of A at event 8")).toBeDefined();
  expect(screen.getByRole("link", { name: "Swap" }).getAttribute("href")).toContain("/casts/b/compare/a");
});

test("turns are aligned: the same, different, or only in one of them", async () => {
  opened();
  await screen.findByTestId("compare-page");
  const turns = half("Turns, aligned");
  // One turn and one variable.
  expect(turns.getAllByText("= the same")).toHaveLength(2);
  expect(turns.getByText("≠ output")).toBeDefined();
  expect(turns.getByText("+ only B")).toBeDefined();
});

test("the first turn that differs is shown word by word", async () => {
  opened();
  await waitFor(() => expect(document.querySelector("del")?.textContent).toBe("Bonjour."));
  expect(document.querySelector("ins")?.textContent).toBe("Salut.");
  expect(screen.getByRole("tab", { selected: true }).textContent).toBe("Output");
});

test("another turn is chosen, and its place in each cast can be opened", async () => {
  opened();
  await screen.findByTestId("compare-page");
  fireEvent.click(screen.getAllByRole("button", { name: "Auto-Eval" })[0] as HTMLElement);
  const graph = half("The graph and the turn");
  await graph.findByText("no such turn");
  expect(graph.getByRole("link", { name: "50" }).getAttribute("href")).toContain("/casts/b?project=p&at=50");
  fireEvent.click(graph.getByRole("tab", { name: "Output" }));
  await graph.findByText("b at 50");
});

test("variables that differ come first, then those that are the same", async () => {
  opened();
  const table = within(await screen.findByTestId("variables"));
  expect(table.getAllByRole("row").map((row) => row.textContent)).toEqual([
    'greeting"Bonjour""Salut"≠ differs',
    'name"Ada"= the same',
  ]);
});

test("casts that cannot be compared lead back to the list", async () => {
  opened("", { "/casts/a/compare/b": refusal(409, "resolution", "They have different loadouts.") });
  expect((await screen.findByRole("alert")).textContent).toBe("They have different loadouts.");
  expect(screen.getByRole("link", { name: "All casts" })).toBeDefined();
});
