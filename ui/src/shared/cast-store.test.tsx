// @vitest-environment happy-dom
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { act, cleanup, screen, waitFor } from "@testing-library/react";
import { useLayoutEffect } from "react";
import { afterEach, expect, test, vi } from "vitest";
import type { CastView, EventLine } from "../api/generated";
import { drawn, serve } from "../testing/served";
import { client } from "./ask";
import { type CastSnapshot, CastStore, useCast } from "./cast-store";

const file = join(import.meta.dirname, "../testing/demo.json");
const demo = JSON.parse(readFileSync(file, "utf8")) as { report: CastView; events: EventLine[] };
const upTo = (seq: number) => demo.events.slice(0, seq);

/** A server that has the demo up to an event. */
function served(seq: number) {
  const asked = serve({
    "/casts/demo": { ...demo.report, lastSeq: seq, at: seq, project: "p" },
    "/casts/demo/events": { items: upTo(seq), next: null },
  });
  return { asked, store: new CastStore("demo", "p") };
}
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function Reader(props: { store: CastStore; part: (held: CastSnapshot) => unknown; onDraw: () => void }) {
  // What was drawn, not what was only looked at anew and came to the same.
  useLayoutEffect(() => void props.onDraw());
  return <p>{String(useCast(props.store, props.part))}</p>;
}

test("events are folded in order, once each, and a gap is read", async () => {
  const { store } = served(40);
  await store.load();
  expect(store.get().state?.seq).toBe(40);
  serve({ "/casts/demo/events": { items: demo.events.slice(40, 44), next: null } });
  // The stream has left out three events, and says one twice.
  for (const seq of [44, 44]) store.push(demo.events[seq - 1] as EventLine);
  await waitFor(() => expect(store.get().state?.seq).toBe(44));
  expect(store.get().events.map((event) => event.seq)).toEqual(upTo(44).map((event) => event.seq));
});

test("the state as of an event is the fold of the events before it", async () => {
  const { store } = served(demo.events.length);
  await store.load();
  for (const seq of [1, 30, 44, 79]) expect(store.heldAt(seq)?.seq).toBe(seq);
  expect(store.heldAt(9999)).toBe(store.get().state);
});

test("an event draws only the readers of what it changed", async () => {
  const { store } = served(44);
  await store.load();
  const draws = { seq: 0, live: 0, view: 0 };
  const readers: [keyof typeof draws, (held: CastSnapshot) => unknown][] = [
    ["seq", ({ state }) => `event ${state?.seq}`],
    ["live", ({ live }) => live["Socket-2"]?.lines.join("|")],
    ["view", ({ view }) => view?.loadout],
  ];
  drawn(
    readers.map(([name, part]) => <Reader key={name} store={store} part={part} onDraw={() => (draws[name] += 1)} />),
  );
  const before = { ...draws };
  act(() => store.push(demo.events[44] as EventLine));
  await screen.findByText("event 45");
  expect(draws).toEqual({ ...before, seq: expect.any(Number) });
  expect(draws.seq).toBeGreaterThan(before.seq);
  const then = draws.seq;
  act(() => store.pushLive({ socket: "Socket-2", kind: "text", text: "one\ntwo" }));
  await screen.findByText("one|two");
  expect(draws).toEqual({ seq: then, live: expect.any(Number), view: before.view });
  expect(draws.live).toBeGreaterThan(before.live);
});

test("a flood of output is cut at the top, and counted", async () => {
  const { store } = served(44);
  await store.load();
  store.pushLive({ socket: "Socket-2", kind: "text", text: `${"x".repeat(1023)}\n`.repeat(1024) });
  await waitFor(() => expect(store.get().live["Socket-2"]?.chars).toBe(1024 * 1024));
  const text = store.get().live["Socket-2"];
  expect(text?.lines.length).toBeLessThan(60);
  expect((text?.dropped ?? 0) + (text?.lines.length ?? 0)).toBe(1025);
});

/** Requests whose address has a word are never answered; their signals. */
function unanswered(word: string): AbortSignal[] {
  const signals: AbortSignal[] = [];
  const answer = globalThis.fetch;
  vi.stubGlobal("fetch", (address: string, init?: RequestInit) => {
    if (!address.includes(word)) return answer(address, init);
    const signal = init?.signal ?? new AbortController().signal;
    signals.push(signal);
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  return signals;
}
const ended = (signals: AbortSignal[]) => signals.map((signal) => signal.aborted);

test("events that the stream left out are read no further when the page is left, and read again later", async () => {
  const { store } = served(40);
  await store.load();
  const signals = unanswered("/events");
  store.push(demo.events[43] as EventLine);
  await waitFor(() => expect(ended(signals)).toEqual([false]));
  store.leave();
  expect(ended(signals)).toEqual([true]);
  serve({ "/casts/demo/events": { items: demo.events.slice(40, 45), next: null } });
  store.push(demo.events[44] as EventLine);
  await waitFor(() => expect(store.get().state?.seq).toBe(45));
});

test("the search for stopped items ends when the page is left, and is made again later", async () => {
  const loops = [{ id: "loop", entry: 1, sockets: [], items: [] }];
  const answers = {
    "/casts/demo": { ...demo.report, lastSeq: 4000, at: 3600, project: "p", loops },
    "/casts/demo/events": { items: [], next: null },
  };
  serve(answers);
  const store = new CastStore("demo", "p");
  const signals = unanswered("type=loop.entered");
  await store.load();
  await waitFor(() => expect(ended(signals)).toEqual([false]));
  store.leave();
  expect(ended(signals)).toEqual([true]);
  const asked = serve(answers);
  await client.fetchQuery(store.stretch(1200));
  expect(asked.filter(({ search }) => search.has("type"))).toHaveLength(1);
});
