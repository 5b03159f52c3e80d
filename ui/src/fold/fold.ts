// The fold: events in, state out. Pure; the same events give the same state, wherever it begins.
import type { EventOf } from "../api/events";
import type { EventLine, Json, TurnCompleted } from "../api/generated";
import type { CastState, LoopState, Turn, Waiting } from "./state";

/** Applies events to a copy. Events that the state has seen already are passed over. */
export function fold(before: CastState, events: readonly EventLine[]): CastState {
  const state = copy(before);
  for (const event of events) if (event.seq > state.seq) apply(state, event);
  return state;
}

function copy(state: CastState): CastState {
  return {
    ...state,
    turns: [...state.turns],
    visits: { ...state.visits },
    completed: { ...state.completed },
    ends: { ...state.ends },
    talking: { ...state.talking },
    open: { ...state.open },
    waits: { ...state.waits },
    quiet: { ...state.quiet },
    ticks: { ...state.ticks },
    edges: { ...state.edges },
    payloadEdge: { ...state.payloadEdge },
    loops: { ...state.loops },
    titles: { ...state.titles },
    questions: { ...state.questions },
    variables: { ...state.variables },
    changedAt: { ...state.changedAt },
    messages: [...state.messages],
    marks: [...state.marks],
    chapters: [...state.chapters],
  };
}

function apply(state: CastState, event: EventLine): void {
  state.seq = event.seq;
  state.ts = event.ts;
  // Each kind has a change of its own kind of event, which the compiler cannot follow through the index.
  const change = changes[event.type] as Change<EventLine> | undefined;
  change?.(state, event, event.nodeId ?? "");
}

/** Whether some socket takes every edge that matches: then each branch has an end of its own. */
const branches = (state: CastState): boolean =>
  Object.values(state.plan?.nodes ?? {}).some((node) => node.routing === "all");

function judge(state: CastState, node: string, verdict: boolean | null): void {
  delete state.ends[node];
  if (verdict === null) return;
  if (branches(state)) state.ends[node] = { verdict, byEdge: false };
  weigh(state, verdict);
}

function leave(state: CastState, node: string, to: string): void {
  const ended = state.ends[node];
  if (!ended) return;
  if (to === "end") state.ends[node] = { ...ended, byEdge: true };
  else if (!ended.byEdge) delete state.ends[node];
  weigh(state, ended.verdict);
}

function weigh(state: CastState, last: boolean): void {
  const ends = Object.values(state.ends);
  state.verdict = ends.length > 0 ? ends.every((one) => one.verdict) : last;
}

type Change<E extends EventLine> = (state: CastState, event: E, node: string) => void;

const changes: { [T in EventLine["type"]]?: Change<EventOf<T>> } = {
  "run.created": (state, { data, ts }) => {
    const { plan } = data;
    state.startTs = ts;
    state.status = "running";
    state.request = data.request ?? "";
    state.loadout = plan.loadout;
    state.plan = plan;
    state.planHash = data.planHash ?? null;
    state.pace = data.pace;
    state.globalMode = data.globalMode;
    state.budget = plan.budget ?? {};
    state.fromCastId = data.fromCastId ?? null;
    state.fork = data.fork ? { castId: data.fork.castId, seq: data.fork.seq } : null;
    state.own = Boolean(data.workspace);
    state.variables = { ...(data.state ?? {}) };
    state.chapters.push({ from: 1, label: plan.nodes[plan.entry]?.materia ?? "Start" });
  },
  "run.resumed": (state, event) => {
    state.status = "running";
    state.waiting = null;
    state.error = null;
    state.marks.push({ seq: event.seq, kind: "resumed", text: "carried on" });
  },
  "run.waiting": (state, event) => {
    state.status = "waiting";
    state.publishing = false;
    state.waiting = event.data;
    state.marks.push({ seq: event.seq, kind: "paused", text: String(event.data.message) });
  },
  "run.completed": (state) => {
    state.status = "completed";
    state.waiting = null;
  },
  "run.failed": (state, event) => {
    state.status = "failed";
    state.waiting = null;
    state.error = event.data;
    state.marks.push({ seq: event.seq, kind: "failed", text: String(event.data.message) });
  },
  "run.aborted": (state, event) => {
    state.status = "aborted";
    state.waiting = null;
    state.abortReason = event.data.reason ?? null;
  },
  "workspace.publishing": (state) => {
    state.publishing = true;
  },
  "workspace.published": (state, event) => {
    state.publishing = false;
    state.marks.push({ seq: event.seq, kind: "published", text: `published ${event.data.branch}` });
  },
  "turn.started": started,
  "turn.completed": (state, event, node) => {
    const { satisfied, output } = event.data;
    const reason = satisfied === false ? contextOf(event.data) : null;
    ended(state, event, node, "completed", reason, satisfied ?? null, glance(event.data) ?? output);
    noteTitles(state, node, event.data.workItems);
    state.completed[node] = (state.completed[node] ?? 0) + 1;
    judge(state, node, satisfied ?? null);
    if (state.plan?.nodes[node]?.multiTurn) state.talking[node] = true;
  },
  "turn.failed": (state, event, node) => {
    const outcome = event.data.code === "contract_error" ? "rejected" : "failed";
    ended(state, event, node, outcome, event.data.message ?? null, null, event.data.output);
    state.marks.push({ seq: event.seq, kind: "failed", text: `${node}: ${event.data.message}` });
  },
  "turn.interrupted": (state, event, node) => {
    ended(state, event, node, "interrupted", null, null, null);
  },
  "route.selected": (state, event, node) => {
    leave(state, node, event.data.to);
    const id: string | null = event.data.edgeId ?? null;
    if (!id) return;
    const edge = state.edges[id];
    const item = state.turns.findLast((turn) => turn.seq === event.data.turn)?.item ?? null;
    const forItem = edge && edge.item === item ? edge.forItem + 1 : 1;
    const partial = edge?.partial ?? state.turnsFrom > 1;
    state.edges[id] = { taken: (edge?.taken ?? 0) + 1, partial, forItem, item, lastSeq: event.seq };
    state.lastEdge = id;
  },
  "handoff.sent": (state, { data }, node) => {
    const { payloadId: id, edgeId: edge, to } = data;
    state.payloadEdge[id] = edge;
    const from = state.plan?.nodes[node];
    const { delivery } = [...(from?.edges ?? []), from?.onFailure].find((one) => one?.id === edge) ?? {};
    if (delivery?.mode === "latest" || delivery?.mode === "debounce") wait(state, to, { id, edge });
  },
  "payload.delivered": (state, { data }, node) => {
    const id = data.payloadId;
    if (state.waits[node]?.some((input) => input.id === id && input.edge)) gone(state, node, id);
    wait(state, node, { id, ...(state.ticks[node] === id ? { tick: true } : {}) });
  },
  "payload.consumed": (state, event, node) => gone(state, node, event.data.payloadId),
  "payload.superseded": (state, event, node) => gone(state, node, event.data.payloadId),
  "payload.dropped": refused,
  "payload.deduplicated": refused,
  "payload.filtered": refused,
  "timer.set": (state, { data }) => {
    if (data.timer.kind === "debounce") state.quiet[data.timer.edgeId] = true;
  },
  "timer.fired": (state, { data }, node) => {
    if (data.timer.kind === "debounce") delete state.quiet[data.timer.edgeId];
    if (data.timer.kind === "tick" && data.payloadId) state.ticks[node] = data.payloadId;
  },
  "state.patched": (state, event) => {
    for (const [name, value] of Object.entries(event.data.merged ?? {})) set(state, name, value as Json, event.seq);
    for (const [path, value] of Object.entries(event.data.assigned ?? {}))
      assign(state, path, value as Json, event.seq);
    noteTitles(state, event.nodeId ?? "", event.data.assigned?.workItems);
  },
  "loop.entered": (state, event) => {
    const id: string = event.data.loop;
    const consumes = state.plan?.loops?.[id]?.consumes;
    const given = (event.data.items as Json[] | null | undefined)?.map(titleOf);
    const labels = given ?? (consumes ? (state.titles[consumes] ?? []) : []);
    const total: number = event.data.count ?? labels.length;
    state.loops[id] = {
      id,
      entry: event.data.entry,
      index: 0,
      total,
      exhausted: false,
      labels,
      sentBack: 0,
      skipped: [],
    };
    state.chapters.push({ from: event.seq, label: itemName(labels, 0) });
  },
  "cursor.advanced": (state, event) => {
    const id: string | null = event.data.loop ?? null;
    const before = id ? state.loops[id] : undefined;
    if (!id || !before) return;
    const index: number = event.data.index;
    state.loops[id] = { ...before, index, total: event.data.count ?? before.total, exhausted: event.data.exhausted };
    if (!event.data.exhausted) state.chapters.push({ from: event.seq, label: itemName(before.labels, index) });
  },
  "item.skipped": (state, event) => {
    const loop = state.loops[event.data.loop];
    if (!loop) return;
    const index: number = event.data.index ?? loop.index;
    state.loops[loop.id] = { ...loop, skipped: [...loop.skipped, index] };
    const dropped = new Set<string>(event.data.dropped ?? []);
    for (const [node, inputs] of Object.entries(state.waits)) {
      const left = inputs.filter(({ id }) => !dropped.has(id));
      if (left.length < inputs.length) state.waits[node] = left;
    }
    const why = event.data.reason ? `: ${event.data.reason}` : "";
    state.marks.push({ seq: event.seq, kind: "paused", text: `a person stopped ${itemKey(index)}${why}` });
  },
  "loop.exhausted": (state, event) => {
    const before = state.loops[event.data.loop];
    if (before) state.loops[before.id] = { ...before, exhausted: true };
  },
  "follow_up.captured": (state, event, node) => {
    const loop = innermost(state, node);
    if (loop) state.loops[loop.id] = { ...loop, sentBack: loop.sentBack + 1 };
    state.marks.push({ seq: event.seq, kind: "back", text: `sent back: ${event.data.reason}` });
  },
  "approval.requested": (state, event, node) => {
    state.questions[node] = { socket: node, hash: event.data.hash, denied: false, seq: event.seq };
    state.marks.push({ seq: event.seq, kind: "asked", text: `${node} asks` });
  },
  "approval.given": (state, _event, node) => {
    delete state.questions[node];
  },
  "approval.denied": (state, event, node) => {
    const { hash, reason, route } = event.data;
    if (route) delete state.questions[node];
    else state.questions[node] = { socket: node, hash, denied: true, reason: reason ?? null, seq: event.seq };
  },
  "budget.changed": (state, event) => {
    if (event.data.budget) state.budget = { ...state.budget, ...event.data.budget };
  },
  "mode.changed": (state, event) => {
    const value: string = event.data.value;
    if (value === "AUTO" || value === "INTERACTIVE") state.pace = value;
    else if (value === "PLANNING" || value === "IMPLEMENTATION") state.globalMode = value;
    if (value === "INTERACTIVE")
      state.marks.push({ seq: event.seq, kind: "paused", text: `pace: ${event.data.reason}` });
  },
  "message.received": (state, event, node) => {
    state.messages.push({ seq: event.seq, socket: node, text: event.data.text, ts: event.ts });
    state.marks.push({ seq: event.seq, kind: "said", text: `told ${node}: ${event.data.text}` });
  },
  "socket.finished": (state, _event, node) => {
    delete state.talking[node];
  },
};

function started(state: CastState, event: EventOf<"turn.started">, node: string): void {
  const { data } = event;
  const turn: Turn = {
    seq: event.seq,
    socket: node,
    visit: data.visit,
    attempt: data.attempt,
    item: data.item ?? null,
    itemLabel: data.itemLabel ?? null,
    outcome: "running",
    satisfied: null,
    reason: null,
    start: event.ts,
    tokens: 0,
    cost: null,
    consumed: data.consumed ?? [],
    preview: null,
    session: data.session?.id ?? null,
  };
  state.turns.push(turn);
  state.visits[node] = Math.max(state.visits[node] ?? 0, data.visit);
  state.open[node] = [...(state.open[node] ?? []), event.seq];
  state.usage = { ...state.usage, turns: state.usage.turns + 1 };
  delete state.questions[node];
  delete state.talking[node];
  nameItem(state, node, turn);
}

/** A loop whose list came from elsewhere learns the names of its items from the turns. */
function nameItem(state: CastState, node: string, turn: Turn): void {
  const loop = innermost(state, node);
  if (!loop || !turn.itemLabel || loop.labels[loop.index]) return;
  const labels = [...loop.labels];
  labels[loop.index] = turn.itemLabel;
  state.loops[loop.id] = { ...loop, labels };
}

function ended(
  state: CastState,
  event: EventOf<"turn.completed" | "turn.failed" | "turn.interrupted">,
  node: string,
  outcome: Turn["outcome"],
  reason: string | null,
  satisfied: boolean | null,
  output: string | null | undefined,
): void {
  const seq = event.data.turn;
  state.open[node] = (state.open[node] ?? []).filter((open) => open !== seq);
  const usage = "usage" in event.data ? event.data.usage : null;
  const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
  const cost: number | null = usage?.cost ?? null;
  const total = cost === null ? (state.usage.cost ?? null) : (state.usage.cost ?? 0) + cost;
  state.usage = { ...state.usage, tokens: state.usage.tokens + tokens, cost: total };
  const place = state.turns.findLastIndex((turn) => turn.seq === seq);
  const turn = state.turns[place];
  if (!turn) return;
  const durationMs = Math.max(0, Math.round((event.ts - turn.start) / 1000));
  state.turns[place] = {
    ...turn,
    endSeq: event.seq,
    outcome,
    reason,
    satisfied,
    end: event.ts,
    durationMs,
    tokens,
    cost,
    preview: firstLine(output),
  };
}

/** The JSON object in an output: the event says where it lies, in bytes. */
export function objectOf(data: Pick<TurnCompleted, "object" | "output" | "whole">): Json | undefined {
  const text = data.whole ?? data.output;
  if (!data.object || typeof text !== "string") return undefined;
  const bytes = new TextEncoder().encode(text);
  try {
    return JSON.parse(new TextDecoder().decode(bytes.slice(data.object[0], data.object[1]))) as Json;
  } catch {
    return undefined;
  }
}

/** What an answer comes to, in a line: its items, what it says, or its verdict. */
function glance(data: TurnCompleted): string | null {
  if (Array.isArray(data.workItems))
    return `${data.workItems.length} work ${data.workItems.length === 1 ? "item" : "items"}`;
  // A command says last what went wrong.
  if (typeof data.context === "string") return lastLine(data.context);
  const context = contextOf(data);
  if (context) return context;
  if (data.object && typeof data.satisfied === "boolean") return data.satisfied ? "satisfied" : "not satisfied";
  return null;
}

function contextOf(data: TurnCompleted): string | null {
  if (typeof data.context === "string") return data.context;
  const object = objectOf(data);
  const context = object && typeof object === "object" && !Array.isArray(object) ? object.context : null;
  return typeof context === "string" ? context : null;
}

function wait(state: CastState, node: string, input: Waiting): void {
  state.waits[node] = [...(state.waits[node] ?? []), input];
}

/** An input of which a state that was taken up in the middle knows no more than that it waits. */
export const UNKNOWN = "?";

/** Takes an input away: the oldest with this id, or the newest. */
function gone(state: CastState, node: string, id: string, newest = false): void {
  const inputs = state.waits[node] ?? [];
  const is = (input: Waiting) => input.id === id;
  const known = newest ? inputs.findLastIndex(is) : inputs.findIndex(is);
  const place = known >= 0 ? known : inputs.findIndex((input) => input.id === UNKNOWN);
  if (place >= 0) state.waits[node] = inputs.toSpliced(place, 1);
}

type Refused = "payload.dropped" | "payload.deduplicated" | "payload.filtered";
/** An input that was not accepted is the newest with its id. */
function refused(state: CastState, event: EventOf<Refused>, node: string): void {
  gone(state, node, event.data.payloadId, true);
}

function set(state: CastState, name: string, value: Json, seq: number): void {
  state.variables = { ...state.variables, [name]: value };
  state.changedAt = { ...state.changedAt, [name]: seq };
}

/** Sets a dotted place of the variables; what stands in the way becomes an object. */
function assign(state: CastState, path: string, value: Json, seq: number): void {
  const [name = "", ...rest] = path.replace(/^state\./, "").split(".");
  set(state, name, put(state.variables[name], rest, value), seq);
}

function put(there: Json | undefined, path: string[], value: Json): Json {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  const base = there && typeof there === "object" && !Array.isArray(there) ? there : {};
  return { ...base, [name]: put(base[name], rest, value) };
}

function noteTitles(state: CastState, node: string, items: unknown): void {
  if (Array.isArray(items)) state.titles[node] = items.map(titleOf);
}

export function titleOf(item: Json): string {
  if (item && typeof item === "object" && !Array.isArray(item) && typeof item.title === "string") return item.title;
  return typeof item === "string" ? item : "";
}

export function itemKey(index: number): string {
  return `WI-${index + 1}`;
}

/** The place of an item in its loop. */
export function itemIndex(key: string): number {
  return Number(key.slice(3)) - 1;
}

function itemName(labels: string[], index: number): string {
  return labels[index] || itemKey(index);
}

function innermost(state: CastState, node: string): LoopState | undefined {
  const around = state.plan?.nodes[node]?.loops ?? [];
  for (const id of [...around].reverse()) {
    const loop = state.loops[id];
    if (loop) return loop;
  }
  return undefined;
}

function lastLine(text: string): string | null {
  return text.split("\n").findLast((line) => line.trim() !== "") ?? null;
}

function firstLine(output: string | null | undefined): string | null {
  const line = output?.split("\n").find((text) => text.trim() !== "");
  return line ? line.slice(0, 300) : null;
}
