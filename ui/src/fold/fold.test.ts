import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CastView, EventLine, Visit } from "../api/generated";
import { fold, itemKey } from "./fold";
import { fromView } from "./report";
import { type CastState, emptyState, type LoopState } from "./state";
import { castState, itemStates, litEdges, sentence, shownState, waitsAt } from "./view";

interface Recorded {
  id: string;
  report: CastView;
  events: EventLine[];
}
const demo = JSON.parse(readFileSync(join(import.meta.dirname, "../testing/demo.json"), "utf8")) as Recorded;
const casts = [demo];
function at(cast: Recorded, seq: number): CastState {
  return fold(emptyState(cast.id), cast.events.slice(0, seq));
}
function event(seq: number, type: EventLine["type"], data: object, nodeId: string | null = null): EventLine {
  return { seq, ts: seq, wallTime: "", type, nodeId, data } as EventLine;
}
const all = (state: CastState, loop: LoopState) =>
  Array.from({ length: loop.total }, (_, n) => `${itemKey(n)} ${loop.labels[n]} ${itemStates(state, loop)(n)}`);
function visitsOf(state: CastState): Partial<Visit>[] {
  return state.turns.map(({ socket, visit, attempt, item, itemLabel, outcome, satisfied, reason }) => ({
    socket,
    visit,
    attempt,
    item,
    itemLabel,
    outcome,
    satisfied,
    reason,
  }));
}

describe.each(casts)("$id", (cast) => {
  const end = at(cast, cast.events.length);

  test("ends where the program's own report does", () => {
    expect(end.status).toBe(cast.report.status);
    expect(end.waiting).toEqual(cast.report.waiting ?? null);
    expect(end.error).toEqual(cast.report.error ?? null);
    expect(end.variables).toEqual(cast.report.state);
    expect(end.usage.turns).toBe(cast.report.usage.turns);
    expect(end.usage.tokens).toBe(cast.report.usage.tokens);
    expect(end.usage.cost ?? 0).toBeCloseTo(cast.report.usage.cost ?? 0, 9);
    const visits = cast.report.visits.map(
      ({ socket, visit, attempt, item, itemLabel, outcome, satisfied, reason }) => ({
        socket,
        visit,
        attempt,
        item: item ?? null,
        itemLabel: itemLabel ?? null,
        outcome,
        satisfied: satisfied ?? null,
        reason: reason ?? null,
      }),
    );
    expect(visitsOf(end)).toEqual(visits);
    const questions = Object.values(end.questions).map(({ socket, hash, denied }) => ({ socket, hash, denied }));
    expect(questions).toEqual(
      (cast.report.questions ?? []).map(({ socket, hash, denied }) => ({ socket, hash, denied })),
    );
  });

  test("does not depend on where it is cut, nor on events that come twice", () => {
    for (let cut = 1; cut < cast.events.length; cut += 7) {
      const first = at(cast, cut);
      const kept = structuredClone(first);
      expect(fold(first, cast.events.slice(Math.max(0, cut - 3)))).toEqual(end);
      expect(first).toEqual(kept);
    }
  });

  test("costs of turns add up to the total", () => {
    const tokens = end.turns.reduce((sum, turn) => sum + turn.tokens, 0);
    expect(tokens).toBe(end.usage.tokens);
  });
});

test("the demo at its rework", () => {
  const rework = demo.events.find((event) => event.type === "turn.started" && event.data.visit === 3);
  const state = at(demo, rework?.seq ?? 0);
  expect(shownState(state, "Socket-2")).toBe("running");
  expect(shownState(state, "Socket-1")).toBe("done");
  expect(shownState(state, "Socket-3")).toBe("idle");
  expect([...litEdges(state)]).toEqual(["Socket-3->Socket-2"]);
  expect(state.edges["Socket-3->Socket-2"]).toMatchObject({ taken: 1, forItem: 1, item: "WI-2" });
  const loop = state.loops.workItems;
  expect(loop && all(state, loop)).toEqual([
    "WI-1 Greet by name done",
    "WI-2 Greet in French running",
    "WI-3 Write a README idle",
  ]);
  expect(loop?.sentBack).toBe(1);
  expect(sentence(state)).toBe(
    "Build does “Greet in French” again: Auto-Eval sent it back with a reason. 1 of 3 items done.",
  );
});

test("each way of waiting has its state", () => {
  const before = at(demo, 44);
  const waiting = (reason: string) =>
    fold(before, [event(45, "run.waiting", { reason, node: "Socket-2", message: "it waits" })]);
  const words = ["approval", "multi_turn", "stall", "budget", "interactive"].map(
    (reason) => castState(waiting(reason)).word,
  );
  expect(words).toEqual(["Needs you", "Needs you", "Stalled", "Needs you", "Paused"]);
  expect(shownState(waiting("stall"), "Socket-2")).toBe("stalled");
  expect(shownState(waiting("approval"), "Socket-2")).toBe("needs_you");
  const failed = fold(before, [event(45, "run.failed", { code: "internal", message: "no", socket: "Socket-2" })]);
  expect([castState(failed).word, shownState(failed, "Socket-2")]).toEqual(["Failed", "failed"]);
  const aborted = fold(before, [event(45, "run.aborted", { reason: "enough" })]);
  expect([castState(aborted).word, shownState(aborted, "Socket-2")]).toEqual(["Aborted", "aborted"]);
});

test("what waits is what the next turn takes: kept by its edge, quiet, one at a time, or a tick beside it", () => {
  const edge = { id: "a->b", when: "always", to: "b", delivery: { mode: "debounce" } };
  const plan = { entry: "a", nodes: { a: { edges: [edge] }, b: { consume: "one", edges: [] } } };
  const sent = (seq: number, payloadId: string) =>
    event(seq, "handoff.sent", { payloadId, edgeId: "a->b", to: "b" }, "a");
  const timer = { kind: "debounce", edgeId: "a->b" };
  const log = [
    event(1, "run.created", { plan }),
    sent(2, "p"),
    event(3, "timer.set", { timer, at: 9 }, "b"),
    sent(4, "q"),
    event(5, "timer.fired", { timer }, "b"),
    event(6, "timer.fired", { timer: { kind: "tick" }, payloadId: "t" }, "b"),
    event(7, "payload.delivered", { payloadId: "t" }, "b"),
    event(8, "payload.delivered", { payloadId: "p", edgeId: "a->b" }, "b"),
    event(9, "payload.consumed", { payloadId: "p" }, "b"),
    event(10, "payload.superseded", { payloadId: "q", edgeId: "a->b", by: "r" }, "b"),
  ];
  const counts = log.map((_, n) => waitsAt(fold(emptyState("c"), log.slice(0, n + 1)), "b"));
  expect(counts).toEqual([0, 1, 0, 0, 1, 1, 2, 2, 2, 1]);
});

test("an item that a person stopped is not done, and what waited for it is gone", () => {
  const cut = demo.events.findIndex((event) => event.type === "follow_up.captured");
  const before = fold(at(demo, cut), [event(cut + 1, "payload.delivered", { payloadId: "p" }, "Socket-2")]);
  expect(waitsAt(before, "Socket-2")).toBe(1);
  const index = before.loops.workItems?.index ?? 0;
  const state = fold(before, [
    event(cut + 2, "item.skipped", { loop: "workItems", index, item: "WI-2", dropped: ["p"], reason: "enough" }),
    event(cut + 3, "cursor.advanced", { loop: "workItems", index: index + 1, count: 3, exhausted: false }),
  ]);
  expect(state.waits["Socket-2"]).toEqual([]);
  const loop = state.loops.workItems;
  expect(loop && all(state, loop).map((item) => item.split(" ").at(-1))).toEqual(["done", "aborted", "running"]);
  expect(state.marks.at(-1)?.text).toContain("enough");
  // What was folded before is as it was.
  expect(before.waits["Socket-2"]).toEqual([{ id: "p" }]);
  expect(before.loops.workItems?.skipped).toEqual([]);
});

test("a state taken up in the middle knows which items were stopped, and believes no item about it", () => {
  const view = {
    castId: "c",
    status: "running",
    loadout: "L",
    visits: [],
    state: {},
    usage: { turns: 0, tokens: 0 },
    lastSeq: 9,
    plan: { loadout: "L", entry: "a", nodes: {} },
    loops: [{ id: "items", entry: 2, index: 2, total: 3, items: [{ title: "x", state: "aborted" }, {}, {}] }],
  } as unknown as CastView;
  const beside = [
    event(1, "loop.entered", { loop: "items" }),
    event(2, "item.skipped", { loop: "items", index: 2 }),
    event(3, "loop.entered", { loop: "items" }),
    event(4, "item.skipped", { loop: "items", index: 1 }),
    event(5, "item.skipped", { loop: "other", index: 0 }),
  ];
  expect(fromView(view, beside).loops.items?.skipped).toEqual([1]);
  expect(fromView(view).loops.items?.skipped).toEqual([]);
});

test("a cast in a workspace runs until its branch is published", () => {
  const created = event(1, "run.created", { ...demo.events[0]?.data, workspace: { kind: "own" } });
  const begun = fold(emptyState("own"), [created, event(2, "workspace.publishing", {})]);
  expect([begun.own, begun.publishing, begun.status]).toEqual([true, true, "running"]);
  expect(sentence(begun)).toBe("Every turn has ended; its branch is being published.");
  const data = { branch: "materia/own", commit: "0123456789abcdef" };
  const ended = fold(begun, [event(3, "workspace.published", data), event(4, "run.completed", {})]);
  expect([ended.publishing, ended.status, ended.marks.at(-1)?.text]).toEqual([
    false,
    "completed",
    "published materia/own",
  ]);
});
