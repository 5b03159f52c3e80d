// Questions to the state: where a socket stands, what is said of a cast in one sentence.
import type { Node as PlanNode, SocketState } from "../api/generated";
import { count } from "../shared/format";
import { oneLine } from "../shared/text";
import { itemIndex, itemKey } from "./fold";
import type { CastState, LoopState, Turn } from "./state";

export function lastTurn(state: CastState, socket: string): Turn | undefined {
  return state.turns.findLast((turn) => turn.socket === socket);
}

export function isOpen(state: CastState, socket: string): boolean {
  return (state.open[socket] ?? []).length > 0;
}

/** How many inputs the next turn of a socket would take, by the rule of the server. */
export function waitsAt(state: CastState, socket: string): number {
  const inputs = (state.waits[socket] ?? []).filter(({ edge }) => !edge || !state.quiet[edge]);
  if (state.plan?.nodes[socket]?.consume !== "one") return inputs.length;
  const ticks = inputs.filter((input) => input.tick).length;
  return ticks + (inputs.length > ticks ? 1 : 0);
}

/** Whether the cast waits for a person about this socket. */
function asksAt(state: CastState, socket: string): boolean {
  return (
    state.status === "waiting" &&
    state.waiting?.node === socket &&
    !["run_for", "interactive"].includes(state.waiting.reason)
  );
}

/** Where a socket stands, by the rule of the server. */
export function socketState(state: CastState, socket: string): SocketState {
  const open = isOpen(state, socket);
  const question = state.questions[socket];
  if (state.status === "failed" && state.error?.socket === socket) return "failed";
  if (state.status === "aborted" && open) return "aborted";
  if (asksAt(state, socket) && state.waiting?.reason === "stall") return "stalled";
  if ((question && !question.denied) || state.talking[socket]) return "needs_you";
  if (open) return "running";
  if (waitsAt(state, socket) > 0) return "queued";
  return (state.completed[socket] ?? 0) > 0 ? "done" : "idle";
}

/** The same for a reader: what the cast waits for stands out, what is over asks nothing, a loop's members rest. */
export function shownState(state: CastState, socket: string): SocketState {
  const where = socketState(state, socket);
  const over = state.status === "completed" || state.status === "failed" || state.status === "aborted";
  if (asksAt(state, socket) && where !== "stalled") return "needs_you";
  if (over && (where === "needs_you" || where === "queued"))
    return (state.completed[socket] ?? 0) > 0 ? "done" : "idle";
  if (where === "running" && state.status === "failed") return "aborted";
  const last = lastTurn(state, socket);
  if (where === "done" && (last?.outcome === "failed" || last?.outcome === "rejected")) return "failed";
  return where === "done" && inLiveLoop(state, socket) ? "idle" : where;
}

/** Inside a loop that goes on, a socket that has run is merely at rest. */
function inLiveLoop(state: CastState, socket: string): boolean {
  if (state.status === "completed") return false;
  const around = state.plan?.nodes[socket]?.loops ?? [];
  return around.some((id) => state.loops[id] && !state.loops[id].exhausted);
}

export function currentItem(loop: LoopState | undefined): { key: string; label: string } | null {
  if (!loop || loop.exhausted || loop.index >= loop.total) return null;
  return { key: itemKey(loop.index), label: loop.labels[loop.index] ?? "" };
}

/** The loop around a socket that has an item under way: the innermost one, else any. */
export function openLoop(state: CastState, socket: string): LoopState | null {
  const around = [...(state.plan?.nodes[socket]?.loops ?? [])].reverse();
  const goesOn = (id: string) => currentItem(state.loops[id]) !== null;
  const id = around.find(goesOn) ?? Object.keys(state.loops).find(goesOn);
  return id ? (state.loops[id] ?? null) : null;
}

/** The title of a work item, else its key. */
export function itemTitle(state: CastState, key: string): string {
  const turn = state.turns.findLast((one) => one.item === key && one.itemLabel);
  if (turn?.itemLabel) return turn.itemLabel;
  const index = itemIndex(key);
  return Object.values(state.loops).find((loop) => loop.labels[index])?.labels[index] ?? key;
}

/** The same with the key behind it, for lists. */
export function titled(state: CastState, key: string): string {
  const title = oneLine(itemTitle(state, key), 60);
  return title === key ? key : `${title} (${key})`;
}

/** Where the items of a loop stand, by their place: there may be thousands. */
export function itemStates(state: CastState, loop: LoopState): (index: number) => SocketState {
  const now = itemStateNow(state, loop);
  const skipped = new Set(loop.skipped);
  return (index) => {
    if (skipped.has(index)) return "aborted";
    if (loop.exhausted || index < loop.index) return "done";
    return index === loop.index ? now : "idle";
  };
}

function itemStateNow(state: CastState, loop: LoopState): SocketState {
  const members = state.plan?.loops?.[loop.id]?.members ?? [];
  if (state.status === "failed") return "failed";
  if (state.status === "aborted") return "aborted";
  const states = members.map((socket) => shownState(state, socket));
  for (const wanted of ["stalled", "needs_you", "running", "queued"] as const)
    if (states.includes(wanted)) return wanted;
  return state.status === "waiting" ? "queued" : "running";
}

export function node(state: CastState, socket: string): PlanNode | undefined {
  return state.plan?.nodes[socket];
}

/** The name that people gave, else the id; on one line, without what only a terminal understands. */
export function nameOf(state: CastState, socket: string): string {
  return oneLine(state.plan?.nodes[socket]?.materia ?? socket, 80);
}

/** Where a cast stands, as one of the eight states. */
export function castState(state: {
  status: string;
  verdict?: boolean | null;
  waiting?: { reason: string } | null;
  driven?: boolean;
}): {
  state: SocketState;
  word: string;
} {
  switch (state.status) {
    case "completed":
      return { state: "done", word: state.verdict === false ? "Completed, not satisfied" : "Done" };
    case "failed":
      return { state: "failed", word: "Failed" };
    case "aborted":
      return { state: "aborted", word: "Aborted" };
    case "waiting":
      if (state.waiting?.reason === "stall") return { state: "stalled", word: "Stalled" };
      if (state.waiting?.reason === "interactive" || state.waiting?.reason === "run_for")
        return { state: "idle", word: "Paused" };
      return { state: "needs_you", word: "Needs you" };
    default:
      return state.driven === false ? { state: "queued", word: "Idle" } : { state: "running", word: "Running" };
  }
}

/** Says in words what is going on. */
export function sentence(state: CastState): string {
  if (state.status === "waiting" && state.waiting) return waitingSentence(state);
  if (state.status === "failed" && state.error) return `${state.error.code}: ${unquoted(state.error.message)}`;
  if (state.status === "aborted") return state.abortReason ?? "A person aborted the cast.";
  if (state.status === "completed")
    return `${counted(state.usage.turns, "turn")}, nothing is left to do${state.verdict === false ? ", and the last verdict is false" : ""}.`;
  const open = state.turns.filter((turn) => turn.outcome === "running");
  const turn = open.at(-1);
  const done = progress(state);
  if (!turn && state.publishing) return "Every turn has ended; its branch is being published.";
  if (!turn) return `Between turns. ${done}`.trim();
  const who = nameOf(state, turn.socket);
  const more = open.length > 1 ? ` ${open.length - 1} more running.` : "";
  const cause = sentBackBy(state, turn);
  const again = cause ? ` again: ${nameOf(state, cause.socket)} sent it back with a reason` : "";
  const item = turn.item
    ? ` does “${oneLine(itemTitle(state, turn.item), 60)}”${again}`
    : again
      ? ` runs${again}`
      : " is running";
  return `${who}${item}.${more} ${done}`.trim();
}

function waitingSentence(state: CastState): string {
  const { reason, node: socket, message } = state.waiting ?? { reason: "", node: null, message: "" };
  const who = socket ? nameOf(state, socket) : "";
  const asked = socket ? state.questions[socket] : undefined;
  if (reason === "approval" && asked?.denied)
    return `${who} was refused${asked.reason ? `: ${oneLine(asked.reason, 120)}` : ""}. It waits until a person approves it.`;
  if (reason === "approval") return `${who} asks before it runs.`;
  if (reason === "multi_turn") return `${who} has answered and waits for you.`;
  // The folder and the commands stand where it is answered.
  if (reason === "workspace" && message.startsWith("somebody changed"))
    return "The files of the workspace changed since the last turn: go on with them, or put them back.";
  return `${unquoted(message)}.`.replace(/\.\.$/, ".");
}

/** Names stand in backquotes in the program's sentences; where they are not set apart, they go without. */
function unquoted(text: string): string {
  return text.replaceAll("`", "");
}

function progress(state: CastState): string {
  const outer = Object.values(state.loops)[0];
  if (!outer) return "";
  return `${Math.min(outer.index, outer.total)} of ${counted(outer.total, "item")} done.`;
}

/** The turn that was not content and so led to this one. */
export function sentBackBy(state: CastState, turn: Turn): Turn | undefined {
  for (const id of turn.consumed) {
    const edge = state.payloadEdge[id];
    const from = edge ? edgeSource(state, edge) : undefined;
    if (!from) continue;
    const source = state.turns.findLast((other) => other.socket === from && other.seq < turn.seq);
    if (source?.satisfied === false) return source;
  }
  return undefined;
}

export function edgeSource(state: CastState, edgeId: string): string | undefined {
  for (const [id, plan] of Object.entries(state.plan?.nodes ?? {}))
    if (plan.edges?.some((edge) => edge.id === edgeId) || plan.onFailure?.id === edgeId) return id;
  for (const loop of Object.values(state.plan?.loops ?? {}))
    for (const exit of loop.exits ?? []) if (exit.edgeId === edgeId) return exit.from;
  return undefined;
}

/** Edges that delivered what turns under way have taken. */
export function litEdges(state: CastState): Set<string> {
  const lit = new Set<string>();
  for (const turn of state.turns)
    if (turn.outcome === "running")
      for (const id of turn.consumed) {
        const edge = state.payloadEdge[id];
        if (edge) lit.add(edge);
      }
  return lit;
}

export function counted(many: number, word: string): string {
  return `${count(many)} ${word}${many === 1 ? "" : "s"}`;
}
