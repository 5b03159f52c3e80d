import { describe, expect, test } from "vitest";
import type { EventLine } from "../../../api/generated";
import { restsOf } from "./rests";
import { ALL, eventsIn, idleStretches, moved, scaleOf, shared, zoomed } from "./scale";

const turns = [
  { from: 0, to: 10 },
  { from: 12, to: 24 },
  { from: 1000, to: 1010 },
];

describe("idle stretches", () => {
  test("are those over five times the usual turn, also at the end", () => {
    const { idle, usual } = idleStretches(turns, { from: 0, to: 5000 });
    expect(usual).toBe(10);
    expect(idle).toEqual([
      { from: 24, to: 1000 },
      { from: 1010, to: 5000 },
    ]);
    expect(idleStretches([], { from: 0, to: 5000 }).idle).toEqual([]);
  });
  test("are not where a long turn covers them", () => {
    const long = [...turns, { from: 5, to: 990 }];
    expect(idleStretches(long, { from: 0, to: 1010 }).idle).toEqual([]);
  });
});

describe("the scale", () => {
  const whole = { from: 0, to: 1010 };
  const { idle, usual } = idleStretches(turns, whole);
  const scale = scaleOf(whole, idle, usual);
  test("draws turns in proportion and stretches as long as a usual turn", () => {
    const wide = (from: number, to: number) => (scale.at(to) - scale.at(from)) * scale.drawn;
    expect(wide(0, 10)).toBeCloseTo(10);
    expect(wide(12, 24)).toBeCloseTo(12);
    expect(wide(24, 1000)).toBeCloseTo(10);
    expect(wide(1000, 1010)).toBeCloseTo(10);
    expect([scale.at(0), scale.at(1010)]).toEqual([0, 1]);
  });
  test("finds the time of each place again", () => {
    for (const time of [0, 3, 11, 24, 300, 999, 1000, 1007, 1010]) expect(scale.time(scale.at(time))).toBeCloseTo(time);
    const plain = scaleOf(whole, [], usual);
    for (const time of [0, 500, 1010]) expect(plain.time(plain.at(time))).toBeCloseTo(time);
  });
  test("zooms around a place and stays within the axis", () => {
    const near = zoomed(ALL, 0.5, 0.5);
    expect(near).toEqual({ from: 0.25, to: 0.75 });
    expect(zoomed(near, 0.25, 0.5).from).toBeCloseTo(0.25);
    expect(zoomed(near, 0.5, 100)).toEqual(ALL);
    expect(moved(near, -9)).toEqual({ from: 0, to: 0.5 });
    expect(moved(near, 9)).toEqual({ from: 0.5, to: 1 });
  });
});

test("a brush picks the events of its span", () => {
  const events = [1, 2, 3, 4].map((seq) => ({ seq, ts: seq * 1000 }));
  expect(eventsIn(events, { from: 1.5, to: 3 })).toEqual({ from: 2, to: 3 });
  expect(eventsIn(events, { from: 9, to: 10 })).toBeNull();
});

test("bars that another covers are not drawn; a longer one and one of another kind are", () => {
  const bar = (from: number, to: number, kind = "done") => ({ from, to, kind });
  const bars = [bar(0, 1), bar(1, 2), bar(2, 9), bar(10, 11), bar(11, 12, "failed")];
  const room = (from: number, to: number) => to - from;
  expect(shared(bars, room).map((one) => one.from)).toEqual([0, 10, 11]);
  // Those that touch share one, up to a width.
  const touching = [bar(0, 4), bar(4, 8), bar(8, 12), bar(14, 18)];
  expect(shared(touching, room).map(({ from, to, last }) => [from, to, last.from])).toEqual([
    [0, 8, 4],
    [8, 12, 8],
    [14, 18, 14],
  ]);
});

describe("rests", () => {
  const log = (...all: [string, string | null, object][]) =>
    all.map(
      ([type, nodeId, data], index) => ({ seq: index + 1, ts: (index + 1) * 1000, type, nodeId, data }) as EventLine,
    );
  test("an input waits until it is taken", () => {
    const events = log(
      ["payload.delivered", "b", { payloadId: "p" }],
      ["payload.delivered", "b", { payloadId: "q" }],
      ["payload.consumed", "b", { payloadId: "p" }],
      ["payload.consumed", "b", { payloadId: "q" }],
    );
    expect(restsOf(events, 9)).toEqual([{ socket: "b", kind: "queued", from: 1, to: 4 }]);
    expect(restsOf(events, 3)).toEqual([{ socket: "b", kind: "queued", from: 1, to: null }]);
    // Told again with more events, it goes on; told with fewer, it begins anew.
    const held = {};
    for (const upTo of [2, 3, 9, 3]) expect(restsOf(events, upTo, held)).toEqual(restsOf(events, upTo));
  });
  test("a question waits for its answer, a pause asks nobody", () => {
    const events = log(
      ["approval.requested", "m", {}],
      ["run.waiting", null, { reason: "approval", node: "m" }],
      ["approval.given", "m", {}],
      ["run.waiting", null, { reason: "interactive", node: "m" }],
      ["run.waiting", null, { reason: "stall", node: "c" }],
      ["run.aborted", null, {}],
    );
    expect(restsOf(events, 9)).toEqual([
      { socket: "m", kind: "needs_you", from: 1, to: 3 },
      { socket: "c", kind: "needs_you", from: 5, to: 6 },
    ]);
  });
});
