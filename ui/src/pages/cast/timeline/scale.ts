// From time to place: the axis of the timeline, without the stretches in which nothing ran. Pure.

export interface Span {
  from: number;
  to: number;
}
/** A stretch that is drawn shorter than it was. */
export interface Gap extends Span {
  /** Where it is drawn, as shares of the axis. */
  start: number;
  end: number;
}
export interface Scale {
  /** Milliseconds that the whole axis stands for: the longer stretches count as what they are drawn as. */
  drawn: number;
  gaps: Gap[];
  /** The place of a time, as a share of the axis. */
  at: (time: number) => number;
  /** The time at a place. */
  time: (share: number) => number;
}

/** Stretches without any turn that are more than five times as long as turns usually are. */
export function idleStretches(turns: Span[], whole: Span): { idle: Span[]; usual: number } {
  const lengths = turns.map((turn) => turn.to - turn.from).sort((a, b) => a - b);
  const usual = Math.max(1, lengths[Math.floor(lengths.length / 2)] ?? 0);
  const idle: Span[] = [];
  let reached = whole.from;
  const rest = (until: number) => {
    if (lengths.length > 0 && until - reached > 5 * usual) idle.push({ from: reached, to: until });
  };
  for (const turn of [...turns].sort((a, b) => a.from - b.from)) {
    rest(turn.from);
    reached = Math.max(reached, turn.to);
  }
  rest(whole.to);
  return { idle, usual };
}

/** The axis over a span, where each idle stretch is as wide as a usual turn. */
export function scaleOf(whole: Span, idle: Span[], usual: number): Scale {
  const cuts = idle.map((one) => ({ ...one, saved: Math.max(0, one.to - one.from - usual) }));
  const drawn = Math.max(1, whole.to - whole.from - cuts.reduce((sum, cut) => sum + cut.saved, 0));
  const at = (time: number): number => {
    let place = time - whole.from;
    for (const cut of cuts) {
      if (time >= cut.to) place -= cut.saved;
      else if (time > cut.from) place -= ((time - cut.from) / (cut.to - cut.from)) * cut.saved;
    }
    return place / drawn;
  };
  const time = (share: number): number => {
    const wanted = share * drawn;
    let before = 0;
    for (const cut of cuts) {
      const start = cut.from - whole.from - before;
      if (wanted < start) break;
      if (wanted <= start + usual) return cut.from + ((wanted - start) / usual) * (cut.to - cut.from);
      before += cut.saved;
    }
    return whole.from + wanted + before;
  };
  return { drawn, at, time, gaps: cuts.map(({ from, to }) => ({ from, to, start: at(from), end: at(to) })) };
}

/** The part of the axis that is looked at, as shares of it. */
export interface Window {
  from: number;
  to: number;
}
export const ALL: Window = { from: 0, to: 1 };
const NARROWEST = 0.002;

/** Zooms around a place; what is looked at stays within the axis. */
export function zoomed(now: Window, around: number, factor: number): Window {
  const width = Math.min(1, Math.max(NARROWEST, (now.to - now.from) * factor));
  const share = (around - now.from) / (now.to - now.from);
  return placed(around - share * width, width);
}

export function moved(now: Window, by: number): Window {
  return placed(now.from + by, now.to - now.from);
}

function placed(from: number, width: number): Window {
  const start = Math.min(Math.max(0, from), 1 - width);
  return { from: start, to: start + width };
}

/** A step of the axis that gives four to eight lines. */
export function axisStep(ms: number): number {
  const steps = [
    100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000,
    7_200_000, 21_600_000, 86_400_000,
  ];
  return steps.find((step) => ms / step <= 7) ?? Math.ceil(ms / 6 / 86_400_000) * 86_400_000;
}

/** How wide a bar is at the least, in pixels. */
export const BAR_MIN = 3;

/** How wide a bar is at the most that several share. */
const SHARED_MAX = 10;

/** Bars that are seen, with the last one that shares each: narrow neighbours of a kind share one. There may be thousands. */
export function shared<T extends Span & { kind: string }>(
  bars: T[],
  room: (from: number, to: number) => number,
): (T & { last: T })[] {
  const out: (T & { last: T })[] = [];
  for (const bar of bars) {
    const before = out.at(-1);
    const most = before && room(before.to, bar.from) < 1 ? SHARED_MAX : BAR_MIN;
    if (before?.kind === bar.kind && room(before.from, bar.to) <= most)
      Object.assign(before, { to: Math.max(before.to, bar.to), last: bar });
    else out.push({ ...bar, last: bar });
  }
  return out;
}

/** The first and the last event within a span of time. */
export function eventsIn(
  events: readonly { seq: number; ts: number }[],
  span: Span,
): { from: number; to: number } | null {
  const within = events.filter((event) => event.ts / 1000 >= span.from && event.ts / 1000 <= span.to);
  const [first, last] = [within[0], within.at(-1)];
  return first && last ? { from: first.seq, to: last.seq } : null;
}

/** Where something is drawn, for those who draw it. */
export interface Places {
  left: (time: number) => string;
  wide: (from: number, to: number, least?: number) => string;
  /** How many pixels a stretch has. */
  room: (from: number, to: number) => number;
}
