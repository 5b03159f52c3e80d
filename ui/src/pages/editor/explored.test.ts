// V4: what an exploration found, by the sockets, edges and loops that it names.
import { expect, test } from "vitest";
import type { ExploreFinding, ExploreView } from "../../api/generated";
import { linesOf, rowsOf, summaryOf, withExplored } from "./explored";

const history = { steps: 2, end: "failed", visits: [], script: {}, plays: true } as ExploreFinding["history"];
const finding = (kind: ExploreFinding["kind"], more: Partial<ExploreFinding>): ExploreFinding => ({
  kind,
  message: kind,
  history,
  ...more,
});
const view = (findings: ExploreFinding[], complete = true): ExploreView => ({
  explored: {
    loadout: "L",
    items: [0, 1, 2],
    complete,
    ...(complete ? {} : { stopped: "the time was over" }),
    states: 1234,
    ends: {},
    unreachedSockets: ["lost"],
    unreachedEdges: ["a->lost"],
    findings,
    notes: [],
  },
  walks: findings.map((one) =>
    one.kind === "waits" ? { reason: "a person refuses" } : { choices: [{ socket: "a", outcome: "fails" }] },
  ),
  findings: [],
});
const all = view([
  finding("fails", { socket: "a" }),
  finding("waits", { socket: "b" }),
  finding("race", { socket: "b", other: "a" }),
  finding("drops", { edge: "a->b" }),
  finding("itemsLeft", { loop: "items" }),
]);

test("the notable comes first, and each keeps its own history", () => {
  const rows = rowsOf(all);
  expect(rows.map((row) => row.finding?.kind ?? "never")).toEqual([
    "never",
    "never",
    "race",
    "drops",
    "itemsLeft",
    "waits",
    "fails",
  ]);
  expect(rows.find((row) => row.finding?.kind === "waits")).toMatchObject({
    choices: null,
    reason: "a person refuses",
    notable: false,
  });
  expect(rows.find((row) => row.finding?.kind === "race")?.choices).toHaveLength(1);
});

test("marks count on cards and loops, beside those of the checker", () => {
  const marks = withExplored(new Map([["socket:a", { errors: 1, warnings: 0 }]]), rowsOf(all));
  expect(marks.get("socket:a")).toEqual({ errors: 1, warnings: 0, explored: 2, notable: true });
  expect(marks.get("socket:b")).toMatchObject({ explored: 2, notable: true });
  expect(marks.get("loop:items")).toMatchObject({ explored: 1, notable: true });
  const plain = withExplored(new Map(), rowsOf(view([finding("fails", { socket: "c" })])));
  expect(plain.get("socket:c")).toMatchObject({ explored: 1, notable: false });
});

test("edges have words", () => {
  expect(Object.fromEntries(linesOf(rowsOf(all)))).toEqual({ "a->b": "can be dropped", "a->lost": "never taken" });
});

test("where not all states were looked at, nothing is called unreached", () => {
  const part = view([], false);
  expect(rowsOf(part)).toEqual([]);
  expect(summaryOf(part)).toBe("1,234 states, not all: the time was over.");
  expect(summaryOf(all)).toBe("1,234 states, all of them.");
  expect(summaryOf({ walks: [], findings: [] })).toContain("has errors");
});
