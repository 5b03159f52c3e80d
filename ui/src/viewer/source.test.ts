import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CastView, EventLine } from "../api/generated";
import { type Exported, readExported, sourceOf } from "./source";

const recorded = JSON.parse(readFileSync(join(import.meta.dirname, "../testing/demo.json"), "utf8")) as {
  events: EventLine[];
  report: CastView;
};
const file: Exported = readExported(
  JSON.stringify({
    version: 1,
    cast: recorded.report,
    events: recorded.events,
    whys: { "Socket-2": { sentence: "It ran." } },
    files: [
      { path: "a/b c.txt", bytes: 3, text: "abc" },
      { path: "big", bytes: 9_000_000 },
    ],
    stateHash: "ab",
  }),
);
const source = sourceOf(file);
const events = (query: Record<string, string | number>) =>
  (source.get("/casts/x/events", query) as unknown as { items: EventLine[]; next: number | null }).items;

test("events are filtered as the server does", () => {
  expect(events({ from: 3, to: 5 }).map((event) => event.seq)).toEqual([3, 4, 5]);
  expect(events({ order: "desc", limit: 2 }).map((event) => event.seq)).toEqual([
    recorded.events.length,
    recorded.events.length - 1,
  ]);
  for (const event of events({ type: "handoff" })) expect(event.type).toMatch(/^handoff\./);
  for (const event of events({ node: "Socket-2" })) expect(event.nodeId).toBe("Socket-2");
  const ofItem = events({ item: "WI-1", type: "turn" });
  expect(ofItem.length).toBeGreaterThan(0);
  expect(ofItem.some((event) => event.type === "turn.completed")).toBe(true);
  expect(events({ text: "no such words anywhere" })).toEqual([]);
  const page = source.get("/casts/x/events", { limit: 10 }) as unknown as { items: EventLine[]; next: number | null };
  expect([page.items.length, page.next]).toEqual([10, 11]);
});

test("what is in the file is given, what is not is said", () => {
  expect(source.get("/casts/x", {})).toBe(file.cast);
  expect(source.get("/casts/x/nodes/Socket-2/why", {})).toEqual({ sentence: "It ran." });
  expect(() => source.get("/casts/x/nodes/Socket-2/why", { at: 5 })).toThrow(/as of its last event/);
  expect(() => source.get("/casts/x/nodes/other/why", {})).toThrow(/does not say why/);
  expect(() => source.get("/casts/x/turns/9", {})).toThrow(/event 9/);
  expect(source.text("/casts/x/files/a/b%20c.txt")).toBe("abc");
  expect(() => source.text("/casts/x/files/big")).toThrow(/9,000,000 bytes/);
  expect(() => source.text("/casts/x/files/none")).toThrow(/does not hold/);
});

test("a file that cannot be read says why", () => {
  expect(() => readExported("")).toThrow(/damaged/);
  expect(() => readExported("null")).toThrow(/another version/);
  expect(() => readExported('{"version":2}')).toThrow(/another version/);
  expect(() => readExported('{"version":1}')).toThrow(/no cast/);
});
