// Two casts beside each other: their turns aligned by socket, item and the how-manieth time.
import type { CastState, Turn } from "../../fold";

export interface Pair {
  key: string;
  socket: string;
  item: string | null;
  a: Turn | null;
  b: Turn | null;
  shared: boolean;
  differs: string[];
}

const outcome = (turn: Turn) =>
  `${turn.outcome}${turn.satisfied === null ? "" : turn.satisfied ? ", satisfied" : ", not satisfied"}`;

function keys(turns: Turn[]): Map<string, Turn> {
  const seen = new Map<string, number>();
  const out = new Map<string, Turn>();
  for (const turn of turns) {
    // An interrupted attempt and the one that repeats it are the same visit: the last one counts.
    const base = `${turn.socket}\u0000${turn.item ?? ""}`;
    const visit = `${base}\u0000${turn.visit}`;
    if (!seen.has(visit)) seen.set(visit, 1 + [...seen.keys()].filter((key) => key.startsWith(`${base}\u0000`)).length);
    out.set(`${base}\u0000${seen.get(visit)}`, turn);
  }
  return out;
}

/** Where both casts have the same events: up to the fork, if one is a fork of the other. */
export function sharedUpTo(a: CastState, b: CastState): number {
  if (b.fork?.castId === a.castId) return b.fork.seq;
  if (a.fork?.castId === b.castId) return a.fork.seq;
  if (a.fork && b.fork && a.fork.castId === b.fork.castId) return Math.min(a.fork.seq, b.fork.seq);
  return 0;
}

export function align(a: CastState, b: CastState): Pair[] {
  const [left, right] = [keys(a.turns), keys(b.turns)];
  const shared = sharedUpTo(a, b);
  const order = new Map<string, number>();
  for (const [key, turn] of left) order.set(key, turn.seq);
  for (const [key, turn] of right) if (!order.has(key)) order.set(key, turn.seq + 0.5);
  return [...order.keys()]
    .map((key) => {
      const [x, y] = [left.get(key) ?? null, right.get(key) ?? null];
      const [socket = "", item = ""] = key.split("\u0000");
      const same = Boolean(x && y && (x.endSeq ?? Number.POSITIVE_INFINITY) <= shared && x.seq === y.seq);
      return { key, socket, item: item || null, a: x, b: y, shared: same, differs: same ? [] : differences(x, y) };
    })
    .sort((x, y) => (order.get(x.key) ?? 0) - (order.get(y.key) ?? 0));
}

function differences(a: Turn | null, b: Turn | null): string[] {
  if (!a) return ["only B"];
  if (!b) return ["only A"];
  const out: string[] = [];
  if (outcome(a) !== outcome(b)) out.push("verdict");
  if (a.preview !== b.preview) out.push("output");
  return out;
}

export function routes(a: CastState, b: CastState): { id: string; a: number; b: number }[] {
  const ids = new Set([...Object.keys(a.edges), ...Object.keys(b.edges)]);
  return [...ids].map((id) => ({ id, a: a.edges[id]?.taken ?? 0, b: b.edges[id]?.taken ?? 0 }));
}

export { outcome };
