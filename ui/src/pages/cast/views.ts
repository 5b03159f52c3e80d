// From the state of a cast to what its graph shows.
import type { Grid } from "../../api/generated";
import {
  type CastState,
  currentItem,
  isOpen,
  itemIndex,
  itemStates,
  itemTitle,
  lastTurn,
  litEdges,
  shownState,
  waitsAt,
} from "../../fold";
import type { CardView, LineView, RegionView } from "../../graph/Graph";
import { groupItems } from "../../graph/groups";
import { NO_ITEMS } from "../../graph/types";
import type { LiveText } from "../../shared/cast-store";
import { materiaColor } from "../../shared/color";
import { duration } from "../../shared/format";
import { stateWords } from "../../shared/parts";
import { oneLine } from "../../shared/text";

export function cardsOf(
  state: CastState,
  grid: Grid,
  live: Record<string, LiveText>,
  now: number,
  past: boolean,
): Record<string, CardView> {
  return Object.fromEntries(grid.sockets.map(({ id }) => [id, cardOf(state, id, live[id], now, past)]));
}

export function cardOf(
  state: CastState,
  socket: string,
  live: LiveText | undefined,
  now: number,
  past: boolean,
): CardView {
  const where = shownState(state, socket);
  const last = lastTurn(state, socket);
  const node = state.plan?.nodes[socket];
  const open = isOpen(state, socket);
  let word: string = stateWords[where];
  if (open && last) word = `Running ${duration((past ? state.ts / 1000 : now) - last.start / 1000)}`;
  else if (where === "done" && last?.durationMs !== undefined) word = `Done ${duration(last.durationMs, true)}`;
  const note = noteOf(state, socket);
  const newest = open && !past ? live?.lines.findLast((line) => line.trim() !== "") : undefined;
  const waits = waitsAt(state, socket);
  const text = newest ?? last?.preview ?? (waits > 0 ? `${waits} ${waits === 1 ? "input waits" : "inputs wait"}` : "");
  return {
    state: where,
    word,
    note,
    live: oneLine(text, 120),
    gate: node?.approval === "before",
    color: materiaColor(node?.color),
  };
}

function noteOf(state: CastState, socket: string): string {
  const last = lastTurn(state, socket);
  if (!last) return (state.visits[socket] ?? 0) > 0 ? `visit ${state.visits[socket]}` : "";
  const attempt = last.attempt > 1 ? `, attempt ${last.attempt}` : "";
  const item = last.item ? oneLine(itemTitle(state, last.item), 40) : "";
  if (last.outcome === "running") return `${item ? `${item} · ` : ""}visit ${last.visit}${attempt}`;
  const verdict =
    last.satisfied === false ? ", not satisfied" : last.outcome !== "completed" ? `, ${last.outcome}` : "";
  return item ? `last: ${item}${verdict}` : `visit ${last.visit}${attempt}${verdict}`;
}

export function linesOfState(state: CastState, grid: Grid, flashed: string | null): Record<string, LineView> {
  const lit = litEdges(state);
  const out: Record<string, LineView> = {};
  const max = new Map<string, number>();
  for (const socket of grid.sockets)
    for (const edge of socket.edges) if (edge.maxTraversals) max.set(edge.id, edge.maxTraversals);
  const ids = new Set([
    ...Object.keys(state.edges),
    ...lit,
    ...max.keys(),
    ...Object.keys(grid.loops ?? {}).map((id) => `loop-exit:${id}:`),
  ]);
  for (const id of ids) {
    const edge = state.edges[id];
    const limit = max.get(id);
    const loop = /^loop-exit:(.*):$/.exec(id)?.[1];
    const taken = edge?.taken ?? (loop && state.loops[loop]?.exhausted ? 1 : 0);
    const item = edge?.item ?? null;
    const current = limit !== undefined && item !== null && stillAt(state, item);
    const note =
      limit === undefined
        ? ""
        : current
          ? `${edge?.forItem} of ${limit} for ${oneLine(itemTitle(state, item), 24)}`
          : taken > 0
            ? `×${taken}`
            : "";
    const spent = state.error?.edgeId === id;
    out[id] = { lit: lit.has(id), flash: flashed === id, taken, partial: edge?.partial ?? false, note, spent };
  }
  const feed = grid.sockets.find((socket) => socket.generator);
  if (feed)
    for (const edge of feed.edges) {
      const loop = Object.values(state.loops).find((one) => state.plan?.loops?.[one.id]?.consumes === feed.id);
      const view = out[edge.id];
      if (loop && view) view.note = `${loop.total} work ${loop.total === 1 ? "item" : "items"}`;
    }
  return out;
}

function stillAt(state: CastState, item: string): boolean {
  return Object.values(state.loops).some((loop) => currentItem(loop)?.key === item);
}

export function regionsOf(state: CastState, grid: Grid, item: string | null): Record<string, RegionView> {
  const out: Record<string, RegionView> = {};
  for (const id of Object.keys(grid.loops ?? {})) {
    const loop = state.loops[id];
    if (!loop) {
      out[id] = { ...NO_ITEMS, text: "not entered yet" };
      continue;
    }
    const now = currentItem(loop);
    const stopped = loop.skipped.length;
    const done = (loop.exhausted ? loop.total : loop.index) - loop.skipped.filter((index) => index < loop.index).length;
    out[id] = {
      cells: groupItems(loop, itemStates(state, loop)),
      text: now ? `item ${loop.index + 1} of ${loop.total} “${oneLine(now.label, 60)}”` : `all ${loop.total} items`,
      note: `${done} done${loop.sentBack && state.turnsFrom <= 1 ? ` · ${loop.sentBack} sent back` : ""}${stopped ? ` · ${stopped} stopped` : ""}`,
      current: now?.key ?? null,
      locked: item ? (loop.labels[itemIndex(item)] ?? null) : null,
    };
  }
  return out;
}
