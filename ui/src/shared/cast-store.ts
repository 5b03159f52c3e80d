// One cast as the page holds it: its events, and the fold over them. Everything that is shown comes from here.

import { queryOptions } from "@tanstack/react-query";
import { startTransition, useEffect, useRef, useState } from "react";
import { createStore } from "zustand";
import { get, segment } from "../api/client";
import { field } from "../api/events";
import type { CastView, EventLine, LiveWords } from "../api/generated";
import { readEvents, withTexts, withWords } from "../api/texts";
import { BESIDE_VIEW, type CastState, emptyState, fold, fromView } from "../fold";
import { client } from "./ask";
import { plain } from "./text";

/** Casts up to this size are held whole; of longer ones the newest part, and the server is asked for the rest. */
export const WHOLE_MAX = 3000;
const TAIL = 400;
const PAGE = 1000;
const CHECKPOINT_EVERY = 128;
/** A flood of events is drawn at this pace, and takes this share of the time at the most: the rest is for who uses the page. */
const DRAW_EVERY_MS = 100;
const DRAW_SHARE_MAX = 0.2;
const DRAW_LATEST_MS = 1000;
/** A press has the page for itself for so long. */
const PRESS_MS = 100;
let pressed = Number.NEGATIVE_INFINITY;
for (const kind of ["pointerdown", "keydown"])
  globalThis.addEventListener?.(
    kind,
    () => {
      pressed = performance.now();
    },
    { capture: true, passive: true },
  );
const LIVE_LINES_MAX = 400;
const LIVE_LINE_CHARS_MAX = 2000;
/** All lines together: laying out much more than this at every frame would stop the page. */
const LIVE_CHARS_MAX = 48_000;

export interface LiveText {
  lines: string[];
  /** Lines that were dropped from the top. */
  dropped: number;
  /** Characters that arrived altogether. */
  chars: number;
}

export interface CastSnapshot {
  state: CastState | null;
  view: CastView | null;
  /** Events that are held, without a gap. */
  events: EventLine[];
  whole: boolean;
  live: Record<string, LiveText>;
}

/**
 * A part of what is held of a cast; only a change of that part draws its reader again. Events are drawn in a
 * transition: a press is answered before them.
 */
export function useCast<T>(store: CastStore, part: (held: CastSnapshot) => T): T {
  const [shown, show] = useState(() => part(store.get()));
  const read = useRef(part);
  read.current = part;
  useEffect(() => {
    const note = () => startTransition(() => show(() => read.current(store.get())));
    note();
    return store.held.subscribe(note);
  }, [store]);
  return shown;
}

let made = 0;

export class CastStore {
  readonly id: string;
  /** Tells stores of the same cast apart. */
  readonly number = ++made;
  project: string | null;
  readonly held = createStore<CastSnapshot>(() => ({
    state: null,
    view: null,
    events: [],
    whole: false,
    live: {},
  }));
  private queue: EventLine[] = [];
  private news: LiveWords[] = [];
  private frame: number | ReturnType<typeof setTimeout> | null = null;
  private flushed = 0;
  /** When the next events may be drawn. */
  private drawsFrom = 0;
  private checkpoints = new Map<number, CastState>();
  private stopped: Promise<EventLine[]> | null = null;
  private catching = false;
  /** Ends the reads that no question of the page asks for. */
  private reading = new AbortController();

  /** Whether all of it is at hand, however long it is. */
  private readonly wholly: boolean;

  constructor(id: string, project: string | null, wholly = false) {
    this.id = id;
    this.project = project;
    this.wholly = wholly;
  }

  get = (): CastSnapshot => this.held.getState();

  /** The page of the cast was left: what is still read for it is given up. */
  leave(): void {
    this.reading.abort();
    this.reading = new AbortController();
  }

  /** The event that the stream should begin with. */
  nextSeq(): number {
    return (this.get().state?.seq ?? 0) + 1;
  }

  /** Reads the cast as it is now. */
  async load(signal?: AbortSignal): Promise<true> {
    const view = await this.view(undefined, signal);
    this.project ??= view.project;
    if (this.wholly || view.lastSeq <= WHOLE_MAX) {
      const events = await this.read(1, view.lastSeq, null, signal);
      this.held.setState({ view, events, whole: true, state: fold(emptyState(this.id), events) });
    } else {
      // The graph is shown before the newest turns are read.
      this.held.setState({ view, events: [], whole: false, state: fromView(view) });
      const at = Math.max(1, view.lastSeq - TAIL);
      const [base, read] = await Promise.all([this.view(at, signal), this.read(at + 1, view.lastSeq, null, signal)]);
      const events = [...read, ...this.get().events];
      this.held.setState({ events, state: fold(fromView(base), events) });
      void this.noteStopped(base, at).catch(() => {});
    }
    return true;
  }

  /** Which items were stopped before an event. The server looks through the whole log for it, so it is asked once. */
  private async stoppedBefore(base: CastView, at: number): Promise<EventLine[]> {
    if (!base.loops?.some((loop) => loop.entry > 0)) return [];
    const end = this.get().view?.lastSeq ?? at;
    this.stopped ??= this.read(1, end, BESIDE_VIEW, this.reading.signal).catch((error) => {
      this.stopped = null;
      throw error;
    });
    return (await this.stopped).filter((event) => event.seq <= at);
  }

  /** The cast is shown before this is known: it only strikes out items. */
  private async noteStopped(base: CastView, at: number): Promise<void> {
    const before = fromView(base, await this.stoppedBefore(base, at));
    const { state } = this.get();
    if (!state) return;
    const loops = { ...state.loops };
    for (const [id, loop] of Object.entries(before.loops)) {
      const now = loops[id];
      if (now && now.entry === loop.entry && loop.skipped.length > 0)
        loops[id] = { ...now, skipped: [...new Set([...loop.skipped, ...now.skipped])] };
    }
    this.held.setState({ state: { ...state, loops } });
  }

  /** Reads events from one to another, both included. */
  async read(from: number, to: number, type: string | null = null, signal?: AbortSignal): Promise<EventLine[]> {
    const out: EventLine[] = [];
    let next = from;
    while (next <= to) {
      const query = { project: this.project, type, from: next, to, order: "asc", limit: PAGE };
      const page = await readEvents(this.id, query, signal);
      const last = page.items.at(-1);
      if (!last) break;
      for (const event of page.items) out.push(await this.foldable(event, signal));
      next = last.seq + 1;
    }
    return out;
  }

  /** Takes an event of the stream. They are folded at a pace, however many come. */
  push(event: EventLine): void {
    const worded = withWords(event);
    if (worded === event) {
      this.queue.push(event);
      this.schedule();
      return;
    }
    void this.foldable(worded).then((whole) => {
      this.queue.push(whole);
      this.schedule();
    });
  }

  /** The fold reads the object in an output, so a long output that has one is read here. */
  private async foldable(event: EventLine, signal?: AbortSignal): Promise<EventLine> {
    return field(event, "object") && !field(event, "whole") ? withTexts(event, this.project, signal) : event;
  }

  pushLive(news: LiveWords): void {
    this.news.push(news);
    this.schedule();
  }

  private schedule(): void {
    if (this.frame !== null) return;
    const run = () => {
      const now = performance.now();
      const held = pressed + PRESS_MS - now;
      if (held > 0 && now < this.drawsFrom + DRAW_LATEST_MS) {
        this.frame = setTimeout(run, held);
        return;
      }
      this.frame = null;
      this.flushed = now;
      this.drawsFrom = this.flushed + DRAW_EVERY_MS;
      this.flush();
    };
    const rest = this.drawsFrom - performance.now();
    // A hidden tab draws no frames, but its state must be current when the user comes back.
    this.frame = document.hidden || rest > 0 ? setTimeout(run, rest) : requestAnimationFrame(run);
  }

  /** The page has drawn what it was told last: where that took long, the next events wait. */
  drawn(): void {
    const now = performance.now();
    const rest = (now - this.flushed) * (1 / DRAW_SHARE_MAX - 1);
    this.drawsFrom = Math.max(this.drawsFrom, now + Math.min(rest, DRAW_LATEST_MS));
  }

  private flush(): void {
    const { state, events } = this.get();
    if (!state) return;
    const fresh: EventLine[] = [];
    let next = state.seq + 1;
    for (const event of this.queue.sort((a, b) => a.seq - b.seq)) {
      if (event.seq < next) continue;
      if (event.seq > next) {
        void this.catchUp(event.seq);
        break;
      }
      fresh.push(event);
      next += 1;
    }
    this.queue = this.queue.filter((event) => event.seq >= next);
    const live = this.takeNews(fresh);
    if (fresh.length === 0 && live === this.get().live) return;
    const after = fresh.length > 0 ? fold(state, fresh) : state;
    this.held.setState({ state: after, events: fresh.length > 0 ? [...events, ...fresh] : events, live });
  }

  private takeNews(fresh: EventLine[]): Record<string, LiveText> {
    let { live } = this.get();
    for (const event of fresh)
      if (event.type === "turn.started" && event.nodeId)
        live = { ...live, [event.nodeId]: { lines: [], dropped: 0, chars: 0 } };
    for (const news of this.news) live = { ...live, [news.socket]: withNews(live[news.socket], news) };
    this.news = [];
    return live;
  }

  /** Reads what the stream has left out. */
  private async catchUp(to: number): Promise<void> {
    if (this.catching) return;
    this.catching = true;
    try {
      // Where it fails, the next event of the stream asks again.
      const missed = await this.read(this.nextSeq(), to, null, this.reading.signal).catch(() => []);
      this.queue.push(...missed);
      this.flush();
    } finally {
      this.catching = false;
    }
  }

  /** The state as of an event, where the events before it are held. */
  heldAt(seq: number): CastState | null {
    const { whole, events, state } = this.get();
    if (state && seq >= state.seq) return state;
    if (whole) {
      const base = Math.floor(seq / CHECKPOINT_EVERY) * CHECKPOINT_EVERY;
      return fold(this.checkpoint(base), events.slice(base, seq));
    }
    const held = client.getQueryData(this.stretch(seq).queryKey);
    return held ? fold(held.from, held.events.slice(0, seq - held.from.seq)) : null;
  }

  /** The question for the events around one. A stretch is read once, however many of its events are looked at. */
  stretch(seq: number) {
    const base = Math.max(1, (Math.floor(seq / TAIL) - 1) * TAIL);
    return queryOptions({
      queryKey: ["stretch", this.id, this.project, base],
      queryFn: async ({ signal }) => {
        const end = Math.min(base + 2 * TAIL, this.get().view?.lastSeq ?? base);
        const [view, events] = await Promise.all([this.view(base, signal), this.read(base + 1, end, null, signal)]);
        return { from: fromView(view, await this.stoppedBefore(view, base)), events };
      },
      staleTime: Number.POSITIVE_INFINITY,
      structuralSharing: false,
    });
  }

  private view(at?: number, signal?: AbortSignal): Promise<CastView> {
    return get<CastView>(`/casts/${segment(this.id)}`, { project: this.project, at }, signal);
  }

  private checkpoint(seq: number): CastState {
    if (seq === 0) return emptyState(this.id);
    const known = this.checkpoints.get(seq);
    if (known) return known;
    const state = fold(this.checkpoint(seq - CHECKPOINT_EVERY), this.get().events.slice(seq - CHECKPOINT_EVERY, seq));
    this.checkpoints.set(seq, state);
    return state;
  }
}

function withNews(before: LiveText | undefined, news: LiveWords): LiveText {
  const text = plain(news.text);
  const chars = (before?.chars ?? 0) + news.text.length;
  const lines = [...(before?.lines ?? [])];
  const [first = "", ...rest] = text.split("\n");
  if (news.kind === "text" && lines.length > 0)
    lines[lines.length - 1] = (lines.at(-1) + first).slice(0, LIVE_LINE_CHARS_MAX);
  else lines.push(first.slice(0, LIVE_LINE_CHARS_MAX));
  for (const line of rest) lines.push(line.slice(0, LIVE_LINE_CHARS_MAX));
  let over = Math.max(0, lines.length - LIVE_LINES_MAX);
  let kept = 0;
  for (let index = lines.length - 1; index >= over; index -= 1) {
    kept += (lines[index]?.length ?? 0) + 1;
    if (kept > LIVE_CHARS_MAX) over = index + 1;
  }
  return { lines: lines.slice(over), dropped: (before?.dropped ?? 0) + over, chars };
}
