// What the page knows of a cast: one value, made from the journal's events and from nothing else.
import type {
  Budget,
  CastStatus,
  GlobalMode,
  Json,
  OpenQuestion,
  Outcome,
  Pace,
  Plan,
  RunFailed,
  RunWaiting,
  UsageTotals,
} from "../api/generated";

export interface Turn {
  seq: number;
  endSeq?: number;
  socket: string;
  visit: number;
  attempt: number;
  item: string | null;
  itemLabel: string | null;
  outcome: Outcome;
  satisfied: boolean | null;
  /** Why it was not content, or failed. */
  reason: string | null;
  /** Logical microseconds. */
  start: number;
  end?: number;
  durationMs?: number;
  tokens: number;
  cost: number | null;
  consumed: string[];
  /** The first line that it put out. */
  preview: string | null;
  session: string | null;
}

export interface LoopState {
  id: string;
  entry: number;
  index: number;
  total: number;
  exhausted: boolean;
  labels: string[];
  sentBack: number;
  /** Items that a person ended before they were done. */
  skipped: number[];
}
/** An input that waits at a socket. */
export interface Waiting {
  id: string;
  /** The edge that keeps it until a turn takes it (`latest`, `debounce`); otherwise it has left its edge. */
  edge?: string;
  /** The reason why a scheduled socket runs; it is taken beside other inputs. */
  tick?: boolean;
}
export interface EdgeState {
  taken: number;
  /** Whether it was taken before, too, an unknown number of times. */
  partial: boolean;
  /** How often it was taken for the item it is about now. */
  forItem: number;
  item: string | null;
  lastSeq: number;
}
export type MarkKind = "back" | "failed" | "asked" | "paused" | "said" | "resumed" | "published";
export interface Mark {
  seq: number;
  kind: MarkKind;
  text: string;
}
export interface Chapter {
  from: number;
  label: string;
}

export interface CastState {
  castId: string;
  seq: number;
  /** Logical time of the first and the newest event, in microseconds. */
  startTs: number;
  ts: number;
  status: CastStatus;
  request: string;
  loadout: string;
  planHash: string | null;
  plan: Plan | null;
  pace: Pace;
  globalMode: GlobalMode;
  budget: Budget;
  waiting: RunWaiting | null;
  error: RunFailed | null;
  abortReason: string | null;
  fromCastId: string | null;
  fork: { castId: string; seq: number } | null;
  /** Whether it works in a copy of the repository. */
  own: boolean;
  /** Whether its branch is being published: no turn is left, and it is not complete yet. */
  publishing: boolean;
  /** The verdict so far (D65): that of the last turn that had one, or of all branches that ended with one. */
  verdict: boolean | null;
  /** Sockets at which a branch ended, where some socket takes every matching edge. */
  ends: Record<string, { verdict: boolean; byEdge: boolean }>;
  variables: Record<string, Json>;
  /** The event that last changed each variable. */
  changedAt: Record<string, number>;
  usage: UsageTotals;
  turns: Turn[];
  /** Turns before this event are not in `turns`: the cast was taken up in the middle. */
  turnsFrom: number;
  visits: Record<string, number>;
  completed: Record<string, number>;
  /** Multi-turn sockets that have answered and wait to be told more, or to be finished. */
  talking: Record<string, true>;
  open: Record<string, number[]>;
  waits: Record<string, Waiting[]>;
  /** Edges in their quiet period: what waits on them is not taken yet. */
  quiet: Record<string, true>;
  /** The newest tick of each scheduled socket. */
  ticks: Record<string, string>;
  edges: Record<string, EdgeState>;
  payloadEdge: Record<string, string>;
  loops: Record<string, LoopState>;
  titles: Record<string, string[]>;
  questions: Record<string, OpenQuestion & { seq: number }>;
  messages: { seq: number; socket: string; text: string; ts: number }[];
  marks: Mark[];
  chapters: Chapter[];
  /** The edge that was taken last. */
  lastEdge: string | null;
}

export function emptyState(castId: string): CastState {
  return {
    castId,
    seq: 0,
    startTs: 0,
    ts: 0,
    status: "running",
    request: "",
    loadout: "",
    planHash: null,
    plan: null,
    pace: "AUTO",
    globalMode: "IMPLEMENTATION",
    budget: {},
    waiting: null,
    error: null,
    abortReason: null,
    fromCastId: null,
    fork: null,
    own: false,
    publishing: false,
    verdict: null,
    ends: {},
    variables: {},
    changedAt: {},
    usage: { turns: 0, tokens: 0, cost: null },
    turns: [],
    turnsFrom: 1,
    visits: {},
    completed: {},
    talking: {},
    open: {},
    waits: {},
    quiet: {},
    ticks: {},
    edges: {},
    payloadEdge: {},
    loops: {},
    titles: {},
    questions: {},
    messages: [],
    marks: [],
    chapters: [],
    lastEdge: null,
  };
}
