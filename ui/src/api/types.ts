// The shapes that the server answers with; `schemas/` holds their descriptions.

export type CastStatus = "running" | "waiting" | "completed" | "failed" | "aborted";
export type SocketState = "idle" | "queued" | "running" | "needs_you" | "done" | "failed" | "stalled" | "aborted";
export type Pace = "AUTO" | "INTERACTIVE";
export type GlobalMode = "PLANNING" | "IMPLEMENTATION";
export type WorkspaceKind = "project" | "own";
export type Condition = "always" | "satisfied" | "not_satisfied";
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Waiting {
  reason: string;
  node?: string | null;
  message: string;
}
export interface Failure {
  code: string;
  message: string;
  socket?: string | null;
  edgeId?: string | null;
}
export interface Usage {
  turns: number;
  tokens: number;
  cost?: number | null;
}
export interface Budget {
  maxTokens?: number | null;
  maxCost?: number | null;
  maxTurns?: number | null;
  warnAtPercent?: number | null;
}
export interface Summary {
  castId: string;
  status: CastStatus;
  loadout: string;
  request: string;
  startedAt?: string | null;
  fromCastId?: string | null;
  verdict?: boolean | null;
  project?: string;
  driven?: boolean;
  lastSeq?: number;
  updatedAt?: string | null;
  waiting?: Waiting | null;
  usage?: Usage;
  items?: { done: number; total: number } | null;
  error?: Failure | null;
}
export interface Page<T> {
  items: T[];
  next?: string | number | null;
}
export interface Project {
  id: string;
  dir: string;
  name: string;
  /** Why its casts cannot be read, where that is so. */
  problem?: string | null;
}
export interface PlanEdge {
  id: string;
  when: Condition;
  to?: string | null;
  maxTraversals?: number | null;
}
export interface PlanNode {
  materia: string;
  behavior:
    | { type: "agent"; prompt: string; model?: string | null; provider?: string | null }
    | { type: "utility"; command: string[]; params?: Record<string, Json> };
  edges?: PlanEdge[];
  onFailure?: PlanEdge | null;
  loops?: string[];
  routing?: "first" | "all";
  generator?: boolean;
  multiTurn?: boolean;
  approval?: string | null;
  timeoutMs?: number | null;
  cwd?: string | null;
  color?: string | null;
}
export interface PlanLoop {
  members: string[];
  consumes?: string | null;
  cursor: string;
  exits?: { id: string; edgeId: string; from: string; condition: Condition; to?: string | null }[];
}
export interface Plan {
  loadout: string;
  entry: string;
  nodes: Record<string, PlanNode>;
  loops?: Record<string, PlanLoop>;
  budget?: Budget;
}
export interface GridEdge {
  id: string;
  when: Condition;
  to: string;
  maxTraversals?: number | null;
  back?: boolean;
}
export interface GridSocket {
  id: string;
  materia: string;
  color?: string | null;
  type: "agent" | "utility";
  edges: GridEdge[];
  onFailure?: { id: string; to: string; maxTraversals?: number | null } | null;
  generator?: boolean;
  multiTurn?: boolean;
  advance?: { when: Condition } | null;
  rank: number;
}
export interface GridLoop {
  sockets: string[];
  cursor: string;
  exits: { id: string; from: string; condition: Condition; to: string }[];
  consumes?: string | null;
}
export interface Grid {
  loadout: string;
  entry: string;
  sockets: GridSocket[];
  ranks: string[][];
  loops?: Record<string, GridLoop>;
}
export interface Visit {
  socket: string;
  visit: number;
  attempt: number;
  item?: string | null;
  itemLabel?: string | null;
  outcome: string;
  materia?: string | null;
  satisfied?: boolean | null;
  reason?: string | null;
  durationMs?: number | null;
  tokens?: number | null;
  cost?: number | null;
}
export interface Question {
  socket: string;
  hash: string;
  denied: boolean;
  reason?: string | null;
}
export interface NextAct {
  do: string;
  node?: string;
  [key: string]: Json | undefined;
}
export interface CastView {
  castId: string;
  status: CastStatus;
  verdict?: boolean | null;
  loadout: string;
  request?: string;
  visits: Visit[];
  state: Record<string, Json>;
  error?: Failure | null;
  waiting?: Waiting | null;
  usage: Usage;
  lastSeq: number;
  lastHash?: string;
  fromCastId?: string | null;
  startedAt?: string | null;
  elapsedMs?: number | null;
  questions?: Question[];
  answer?: { socket: string; visit: number; attempt: number; text: string } | null;
  project?: string;
  driven?: boolean;
  at?: number;
  workspace?: WorkspaceKind;
  pace?: Pace;
  globalMode?: GlobalMode;
  budget?: Budget | null;
  plan: Plan;
  graph: Grid;
  sockets?: {
    socket: string;
    materia: string;
    state: SocketState;
    visits: number;
    completed?: number;
    /** The events at which turns under way began. */
    turns?: number[];
    item?: string | null;
    itemLabel?: string | null;
    waits?: number;
  }[];
  edges?: { id: string; from: string; to: string; taken: number; left?: number | null }[];
  loops?: {
    id: string;
    entry: number;
    index: number;
    total: number;
    items: { key?: string; label?: string | null; title?: string | null; state?: SocketState }[];
  }[];
  next?: NextAct[];
}
export interface JournalEvent {
  seq: number;
  id?: string;
  runId?: string;
  ts: number;
  wallTime: string;
  type: string;
  nodeId?: string | null;
  // Each kind of event has data of its own; the fold reads the fields that it knows.
  // biome-ignore lint/suspicious/noExplicitAny: the data of an event is as varied as its kinds
  data: any;
}
export interface Layer {
  name: string;
  start: number;
  end: number;
  origin?: string | null;
}
export interface TurnView {
  seq: number;
  endSeq?: number | null;
  socket: string;
  materia: string;
  visit: number;
  attempt: number;
  item?: string | null;
  itemLabel?: string | null;
  outcome: string;
  startedAt: string;
  endedAt?: string | null;
  durationMs?: number | null;
  prompt?: string | null;
  layers: Layer[];
  /** In a workspace: whether it changed files. */
  changedFiles?: boolean | null;
  input?: Json;
  output?: string | null;
  parsed?: Json;
  satisfied?: boolean | null;
  reason?: string | null;
  error?: Failure | string | null;
  usage?: { inputTokens?: number | null; outputTokens?: number | null; cost?: number | null } | null;
  provider?: string | null;
  model?: string | null;
  session?: { id: string; resume: boolean } | null;
  consumed: string[];
  artifacts: { path: string; bytes: number }[];
}
export interface WhyCondition {
  name: string;
  holds: boolean;
  text: string;
  events: number[];
  of?: WhyCondition[];
}
export interface Why {
  node: string;
  ran: boolean;
  visits: number;
  sentence: string;
  because: { seq?: number | null; text: string }[];
  runnable: boolean;
  conditions: WhyCondition[];
  suggestion?: { sentence: string; steps: { kind: string; command?: string | null; text: string }[] } | null;
}
export interface CostRow {
  socket?: string;
  materia?: string;
  item?: string | null;
  label?: string | null;
  turns: number;
  tokens: number;
  cost?: number | null;
  durationMs?: number | null;
}
export interface Cost {
  usage: Usage;
  budget?: Budget | null;
  bySocket: CostRow[];
  byItem: CostRow[];
}
export interface InboxItem {
  project?: string;
  castId: string;
  loadout: string;
  request: string;
  reason: string;
  message: string;
  node?: string | null;
  since?: string | null;
  approval?: {
    hash: string;
    /** What would run, in a sentence. */
    runs?: Json;
    /** The same word by word, where it is a program, and the folder that it runs in. */
    argv?: string[] | null;
    cwd?: string | null;
    inputs?: Json;
    writes?: Json;
    routes?: Json;
    /** Whether a shell is among the words. */
    shell?: boolean;
    denied?: { seq: number; at: string; by: string; reason?: string | null } | null;
  } | null;
  said?: string | null;
  next?: NextAct[];
}
/** The input that the next turn of a socket would get. */
export interface Given {
  prompt?: string | null;
  input?: Json;
  payloads: Payload[];
}
/** A payload as a turn gets it. */
export interface Payload {
  payloadId: string;
  kind: string;
  fromNodeId?: string | null;
  edgeId?: string | null;
  message?: string | null;
  structured?: Json;
  artifacts?: Json[];
  status?: Json;
}
export interface TrustItem {
  project: string;
  hash: string;
  loadout?: string | null;
  castId?: string | null;
  runs: string[];
  changed?: string[];
}
export interface NamedItem {
  name: string;
  layer: string;
  file: string;
  active?: boolean;
  description?: string;
}
export interface Workspace {
  castId: string;
  kind: string;
  checkout?: string | null;
  base?: string | null;
  branch?: string | null;
  published?: string | null;
  merged?: boolean;
  commits?: { id: string; subject: string }[];
  files?: WorkspaceFile[];
}
export interface WorkspaceFile {
  path: string;
  added?: number | null;
  removed?: number | null;
}
export interface WorkspaceDiff {
  files: WorkspaceFile[];
  text: string;
  cut: boolean;
}
export interface LoadoutView {
  name: string;
  layer?: string;
  file?: string;
  graph: Grid;
  plan?: Plan;
  findings: Finding[];
  mayWrite: boolean;
  workspace: WorkspaceKind;
  beside: { castId: string; mayWrite: boolean }[];
}
export interface Finding {
  code: string;
  message: string;
  help?: string | null;
  pointer?: string | null;
  file?: string | null;
  line?: number | null;
  severity?: string;
}
export interface AgentReport {
  agents: {
    name: string;
    label: string;
    installed: boolean;
    version?: string | null;
    testedWith?: string | null;
    loggedIn?: boolean | null;
    missing?: string | null;
  }[];
  node?: { version: string } | null;
}
export interface LiveNews {
  socket: string;
  visit?: number;
  kind: string;
  text: string;
}
export interface Problem {
  title: string;
  status: number;
  code: string;
  detail: string;
  findings?: Finding[];
  questions?: TrustItem[];
}
export interface TurnSide {
  seq: number;
  outcome: string;
  satisfied?: boolean | null;
  to?: string[];
  cost?: number | null;
  tokens?: number | null;
  durationMs?: number | null;
}
export interface ComparedTurn {
  socket: string;
  materia: string;
  item?: string | null;
  itemLabel?: string | null;
  attempt: number;
  verdict: "same" | "differs" | "only_a" | "only_b";
  differs?: ("prompt" | "output" | "outcome" | "route" | "cost")[];
  a?: TurnSide | null;
  b?: TurnSide | null;
  /** Texts that differ, without the ids, folders and times that differ in any two casts. */
  prompt?: { a: string; b: string } | null;
  output?: { a: string; b: string } | null;
}
export interface Compared {
  castId: string;
  forkedFrom?: string | null;
}
/** What `materia compare A B --json` prints, as far as the page reads it. */
export interface Comparison {
  a: Compared;
  b: Compared;
  forkedAt?: number | null;
  rows: ComparedTurn[];
  routes: { edge: string; a: number; b: number }[];
  variables: { path: string; a?: Json; b?: Json }[];
}
