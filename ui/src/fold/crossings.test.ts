import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { field } from "../api/events";
import type { EventLine } from "../api/generated";
import { crossings } from "./crossings";

const file = join(import.meta.dirname, "../testing/demo.json");
const { events } = JSON.parse(readFileSync(file, "utf8")) as { events: EventLine[] };
const EDGE = "Socket-3->Socket-2";

test("a payload waits on its line until a turn takes it, and names that turn", () => {
  const sent = events.find((event) => event.type === "handoff.sent" && event.data.edgeId === EDGE);
  if (!sent) throw new Error("nothing was sent back");
  const [then] = crossings(events, EDGE, sent.seq);
  expect(then).toMatchObject({ seq: sent.seq, to: "Socket-2", item: "WI-2", fate: "waits", by: null });
  const [now] = crossings(events, EDGE, events.length);
  const taker = events.find((event) => event.seq === now?.by);
  expect(now?.fate).toBe("consumed");
  expect(taker?.type).toBe("turn.started");
  expect(field(taker, "consumed")).toContain(field(sent, "payloadId"));
});

test("what did not arrive says why, and other lines are not told of", () => {
  const event = (seq: number, type: string, data: object) => ({ seq, type, data }) as unknown as EventLine;
  const log = [
    event(1, "handoff.sent", { payloadId: "a", edgeId: "e", to: "x", preview: "1" }),
    event(2, "handoff.sent", { payloadId: "b", edgeId: "e", to: "x", preview: "2" }),
    event(3, "handoff.sent", { payloadId: "c", edgeId: "other", to: "x", preview: "3" }),
    event(4, "payload.superseded", { payloadId: "a", edgeId: "e", by: "b" }),
    event(5, "payload.dropped", { payloadId: "b", edgeId: "e", reason: "overflow" }),
  ];
  expect(crossings(log, "e", 9).map(({ payloadId, fate, by, reason }) => [payloadId, fate, by, reason])).toEqual([
    ["a", "superseded", 4, null],
    ["b", "dropped", 5, "overflow"],
  ]);
});
