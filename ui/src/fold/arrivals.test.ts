import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { EventLine } from "../api/generated";
import { arrivals } from "./arrivals";
import { fold } from "./fold";
import { emptyState } from "./state";

const file = join(import.meta.dirname, "../testing/demo.json");
const { events } = JSON.parse(readFileSync(file, "utf8")) as { events: EventLine[] };
const state = fold(emptyState("demo"), events);

test("a turn that was sent back names who sent it, on which condition, and how often it may be", () => {
  const rework = state.turns.find((turn) => turn.socket === "Socket-2" && turn.visit === 3);
  if (!rework) throw new Error("no rework");
  expect(arrivals(events, state.plan, rework)).toEqual([
    {
      seq: 41,
      edge: "Socket-3->Socket-2",
      from: "Socket-3",
      when: "not_satisfied",
      taken: 1,
      limit: 3,
      item: "WI-2",
    },
  ]);
});

test("what no line brought has no arrival, and events that are not held are not told", () => {
  const first = state.turns[0];
  const last = state.turns.at(-1);
  if (!first || !last) throw new Error("no turns");
  expect(arrivals(events, state.plan, first)).toEqual([]);
  expect(arrivals([], state.plan, last)).toEqual([]);
  expect(arrivals(events, null, last)).toEqual([]);
});
