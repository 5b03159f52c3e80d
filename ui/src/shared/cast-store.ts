// One cast as the page holds it: its events, and the fold over them. Everything that is shown comes from here.
import { get, segment } from "../api/client";
import { readEvents, withTexts, withWords } from "../api/texts";
import type { CastView, JournalEvent, LiveNews } from "../api/types";
import { BESIDE_VIEW, type CastState, emptyState, fold, fromView } from "../fold";
import { plain } from "./text";

/** Casts up to this size are held whole; of longer ones the newest part, and the server is asked for the rest. */
export const WHOLE_MAX = 3000;
const TAIL = 400;
const PAGE = 1000;
const CHECKPOINT_EVERY = 128;
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
  events: JournalEvent[];
  whole: boolean;
  live: Record<string, LiveText>;
  error: Error | null;
  version: number;
}

export class CastStore {
  readonly id: string;
  project: string | null;
  private snapshot: CastSnapshot = {
    state: null,
    view: null,
    events: [],
    whole: false,
    live: {},
    error: null,
    version: 0,
  };
  private listeners = new Set<() => void>();
  private queue: JournalEvent[] = [];
  private news: LiveNews[] = [];
  private frame: number | ReturnType<typeof setTimeout> | null = null;
  private checkpoints = new Map<number, CastState>();
  private stopped: Promise<JournalEvent[]> | null = null;
  private catching = false;
  private closed = false;

  /** Whether all of it is at hand, however long it is. */
  private readonly wholly: boolean;

  constructor(id: string, project: string | null, wholly = false) {
    this.id = id;
    this.project = project;
    this.wholly = wholly;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  get = (): CastSnapshot => this.snapshot;

  /** The event that the stream should begin with. */
  nextSeq(): number {
    return (this.snapshot.state?.seq ?? 0) + 1;
  }

  async load(): Promise<void> {
    try {
      const view = await get<CastView>(`/casts/${segment(this.id)}`, { project: this.project });
      if (this.closed) return;
      this.project ??= view.project ?? null;
      if (this.wholly || view.lastSeq <= WHOLE_MAX) {
        const events = await this.read(1, view.lastSeq);
        const state = fold(emptyState(this.id), events);
        this.change({ view, events, whole: true, state, error: null });
      } else {
        const at = Math.max(1, view.lastSeq - TAIL);
        const [base, events] = await Promise.all([
          get<CastView>(`/casts/${segment(this.id)}`, { project: this.project, at }),
          this.read(at + 1, view.lastSeq),
        ]);
        const state = fold(fromView(base), events);
        this.change({ view, events, whole: false, state, error: null });
        void this.noteStopped(base, at).catch(() => {});
      }
    } catch (error) {
      this.change({ error: error as Error });
    }
  }

  /** Which items were stopped before an event. The server looks through the whole log for it, so it is asked once. */
  private async stoppedBefore(base: CastView, at: number): Promise<JournalEvent[]> {
    if (!base.loops?.some((loop) => loop.entry > 0)) return [];
    const end = this.snapshot.view?.lastSeq ?? at;
    this.stopped ??= this.read(1, end, BESIDE_VIEW);
    return (await this.stopped).filter((event) => event.seq <= at);
  }

  /** The cast is shown before this is known: it only strikes out items. */
  private async noteStopped(base: CastView, at: number): Promise<void> {
    const before = fromView(base, await this.stoppedBefore(base, at));
    const { state } = this.snapshot;
    if (!state || this.closed) return;
    const loops = { ...state.loops };
    for (const [id, loop] of Object.entries(before.loops)) {
      const now = loops[id];
      if (now && now.entry === loop.entry && loop.skipped.length > 0)
        loops[id] = { ...now, skipped: [...new Set([...loop.skipped, ...now.skipped])] };
    }
    this.change({ state: { ...state, loops } });
  }

  close(): void {
    this.closed = true;
    this.listeners.clear();
  }

  /** Reads events from one to another, both included. */
  async read(from: number, to: number, type: string | null = null): Promise<JournalEvent[]> {
    const out: JournalEvent[] = [];
    let next = from;
    while (next <= to) {
      const page = await readEvents(this.id, {
        project: this.project,
        type,
        from: next,
        to,
        order: "asc",
        limit: PAGE,
      });
      const last = page.items.at(-1);
      if (!last) break;
      for (const event of page.items) out.push(await this.foldable(event));
      next = last.seq + 1;
    }
    return out;
  }

  /** Takes an event of the stream. They are folded once a frame, however many come. */
  push(event: JournalEvent): void {
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
  private async foldable(event: JournalEvent): Promise<JournalEvent> {
    return event.data?.object && !event.data.whole ? withTexts(event, ["output"], this.project) : event;
  }

  pushLive(news: LiveNews): void {
    this.news.push(news);
    this.schedule();
  }

  private schedule(): void {
    if (this.frame !== null) return;
    // A hidden tab draws no frames, but its state must be current when it is looked at.
    const run = () => {
      this.frame = null;
      this.flush();
    };
    this.frame = document.hidden ? setTimeout(run, 100) : requestAnimationFrame(run);
  }

  private flush(): void {
    const { state, events } = this.snapshot;
    if (!state) return;
    const fresh: JournalEvent[] = [];
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
    if (fresh.length === 0 && live === this.snapshot.live) return;
    const after = fresh.length > 0 ? fold(state, fresh) : state;
    this.change({ state: after, events: fresh.length > 0 ? [...events, ...fresh] : events, live });
  }

  private takeNews(fresh: JournalEvent[]): Record<string, LiveText> {
    let { live } = this.snapshot;
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
      for (const event of await this.read(this.nextSeq(), to)) this.queue.push(event);
      this.flush();
    } finally {
      this.catching = false;
    }
  }

  /** The state as of an event: folded here where all events are held, else asked for. */
  async at(seq: number): Promise<CastState> {
    const { whole, events, state } = this.snapshot;
    if (state && seq >= state.seq) return state;
    if (whole) {
      const base = Math.floor(seq / CHECKPOINT_EVERY) * CHECKPOINT_EVERY;
      return fold(this.checkpoint(base), events.slice(base, seq));
    }
    const window = Math.max(1, seq - TAIL);
    const [view, before] = await Promise.all([
      get<CastView>(`/casts/${segment(this.id)}`, { project: this.project, at: window }),
      this.read(window + 1, seq),
    ]);
    return fold(fromView(view, await this.stoppedBefore(view, window)), before);
  }

  private checkpoint(seq: number): CastState {
    if (seq === 0) return emptyState(this.id);
    const known = this.checkpoints.get(seq);
    if (known) return known;
    const state = fold(
      this.checkpoint(seq - CHECKPOINT_EVERY),
      this.snapshot.events.slice(seq - CHECKPOINT_EVERY, seq),
    );
    this.checkpoints.set(seq, state);
    return state;
  }

  private change(part: Partial<CastSnapshot>): void {
    this.snapshot = { ...this.snapshot, ...part, version: this.snapshot.version + 1 };
    for (const listener of this.listeners) listener();
  }
}

function withNews(before: LiveText | undefined, news: LiveNews): LiveText {
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
