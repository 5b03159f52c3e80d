// A state taken up in the middle: from what the server says of a cast as of an event.
import { field } from "../api/events";
import type { CastView, EventLine } from "../api/generated";
import { titleOf, UNKNOWN } from "./fold";
import { type CastState, emptyState, type LoopState } from "./state";

/** Events that the view does not tell: which items of the present entry of each loop a person stopped. */
export const BESIDE_VIEW = "loop.entered,item.skipped";

export function fromView(view: CastView, beside: readonly EventLine[] = []): CastState {
  const seq = view.at ?? view.lastSeq;
  const state = emptyState(view.castId);
  const startTs = view.startedAt ? Date.parse(view.startedAt) * 1000 : 0;
  const loops: Record<string, LoopState> = {};
  for (const loop of view.loops ?? [])
    loops[loop.id] = {
      id: loop.id,
      entry: loop.entry,
      index: loop.index,
      total: loop.total,
      exhausted: loop.index >= loop.total,
      labels: loop.items.map(titleOf),
      sentBack: 0,
      skipped: skippedIn(beside, loop.id),
    };
  for (const socket of view.sockets ?? []) {
    state.visits[socket.socket] = socket.visits;
    state.completed[socket.socket] = socket.completed ?? 0;
    if (socket.turns && socket.turns.length > 0) state.open[socket.socket] = [...socket.turns];
    const asks = view.questions?.some((question) => question.socket === socket.socket && !question.denied);
    if (socket.state === "needs_you" && !asks) state.talking[socket.socket] = true;
    if (socket.waits) state.waits[socket.socket] = Array.from({ length: socket.waits }, () => ({ id: UNKNOWN }));
  }
  for (const edge of view.edges ?? [])
    state.edges[edge.id] = { taken: edge.taken, partial: false, forItem: 0, item: null, lastSeq: 0 };
  for (const question of view.questions ?? []) state.questions[question.socket] = { ...question, seq: seq };
  return {
    ...state,
    seq,
    startTs,
    ts: startTs + (view.elapsedMs ?? 0) * 1000,
    status: view.status,
    request: view.request ?? "",
    loadout: view.loadout,
    plan: view.plan,
    pace: view.pace ?? "AUTO",
    globalMode: view.globalMode ?? "IMPLEMENTATION",
    budget: view.budget ?? {},
    waiting: view.waiting ?? null,
    error: view.error ?? null,
    fromCastId: view.fromCastId ?? null,
    own: view.workspace === "own",
    verdict: view.verdict ?? view.visits.findLast((visit) => typeof visit.satisfied === "boolean")?.satisfied ?? null,
    variables: view.state,
    usage: view.usage,
    loops,
    turnsFrom: seq + 1,
  };
}

function skippedIn(events: readonly EventLine[], loop: string): number[] {
  let skipped: number[] = [];
  for (const event of events) {
    if (field(event, "loop") !== loop) continue;
    if (event.type === "loop.entered") skipped = [];
    else if (event.type === "item.skipped") skipped.push(event.data.index);
  }
  return skipped;
}
