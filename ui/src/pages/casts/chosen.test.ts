import { expect, test } from "vitest";
import type { CastSummary } from "../../api/generated";
import { chosen, filtersOf, nameFor, needsYou, sameFilters, savedViews } from "./chosen";

const now = Date.parse("2026-11-15T12:00:00Z");
const cast = (part: Partial<CastSummary>): CastSummary => ({
  castId: "a",
  status: "completed",
  loadout: "Demo",
  request: "Greet people",
  startedAt: "2026-11-15T10:00:00Z",
  project: "p",
  driven: false,
  lastSeq: 9,
  usage: { turns: 1, tokens: 0 },
  updatedAt: "2026-11-15T11:00:00Z",
  ...part,
});
const casts = [
  cast({}),
  cast({ castId: "b", status: "failed", error: { code: "utility_timeout", message: "it took too long" } }),
  cast({ castId: "c", status: "waiting", waiting: { reason: "approval", message: "asks" }, loadout: "Pair" }),
  cast({ castId: "d", status: "waiting", waiting: { reason: "interactive", message: "paused" } }),
  cast({ castId: "e", updatedAt: "2026-11-01T11:00:00Z" }),
];
const ids = (query: string) => chosen(casts, new URLSearchParams(query), now).map((one) => one.castId);

test("filters narrow the list together", () => {
  expect(ids("")).toEqual(["a", "b", "c", "d", "e"]);
  expect(ids("view=failed")).toEqual(["b"]);
  expect(ids("view=today")).toEqual(["a", "b", "c", "d"]);
  expect(ids("state=needs_you")).toEqual(["c"]);
  expect(ids("loadout=Pair")).toEqual(["c"]);
  expect(ids("text=LONG took")).toEqual(["b"]);
  expect(ids("text=greet&view=today&state=done")).toEqual(["a"]);
});

test("what somebody paused does not need them", () => {
  expect(casts.filter(needsYou).map((one) => one.castId)).toEqual(["c"]);
});

test("a view is its filters, in any order, and has a name", () => {
  const filters = filtersOf(new URLSearchParams("text=x&state=failed&new=1&at=3"));
  expect(filters).toEqual({ text: "x", state: "failed" });
  expect(sameFilters(filters, { state: "failed", text: "x" })).toBe(true);
  expect(sameFilters(filters, { state: "failed" })).toBe(false);
  expect(nameFor(filters)).toBe("x, failed");
});

test("kept views that are no views are passed over", () => {
  expect(savedViews("nonsense")).toEqual([]);
  expect(savedViews('{"a":1}')).toEqual([]);
  expect(savedViews('[{"name":"A","filters":{"text":"x"}},{"name":3},null,{"name":"B"}]')).toEqual([
    { name: "A", filters: { text: "x" } },
  ]);
});
