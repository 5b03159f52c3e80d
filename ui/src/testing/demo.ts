// The cast `demo` as a server has it: its view, its events, its turns.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { field } from "../api/events";
import type { CastSummary, CastView, EventLine, Grid, ProjectItem, TurnView } from "../api/generated";
import { fold } from "../fold/fold";
import { emptyState } from "../fold/state";
import { CastStore } from "../shared/cast-store";
import { keyOf } from "../shared/live";
import { type Asked, serve } from "./served";

const file = join(import.meta.dirname, "demo.json");
export const demo = JSON.parse(readFileSync(file, "utf8")) as {
  report: CastView;
  graph: Grid;
  events: EventLine[];
};

export const project: ProjectItem = { id: "p", dir: "/home/ada/greet", name: "greet" };
/** A cast as the list has it. */
export const summary = (castId: string, request: string, part: Partial<CastSummary> = {}): CastSummary => ({
  castId,
  request,
  status: "completed",
  loadout: "Demo",
  project: "p",
  driven: false,
  lastSeq: 9,
  startedAt: "2026-11-15T11:00:00Z",
  updatedAt: "2026-11-15T11:05:00Z",
  usage: { turns: 3, tokens: 1200 },
  ...part,
});

/** The list of casts, as the stream has told it. */
export const listed = (...casts: CastSummary[]) => new Map(casts.map((cast) => [keyOf(cast), cast]));

export const stateAt = (seq: number) => fold(emptyState("demo"), demo.events.slice(0, seq));

/** The view of the cast as of an event. */
export function viewAt(seq: number, more: Partial<CastView> = {}): CastView {
  const state = stateAt(seq);
  const { status, usage, plan } = state;
  const [created] = demo.events;
  if (!plan || created?.type !== "run.created") throw new Error("the cast has no plan");
  return {
    ...demo.report,
    ...{
      castId: "demo",
      status,
      usage,
      plan,
      planHash: created.data.planHash,
      graph: demo.graph,
      lastSeq: seq,
      at: seq,
    },
    project: "p",
    driven: status === "running",
    pace: state.pace,
    globalMode: state.globalMode,
    budget: {},
    sockets: [],
    edges: [],
    loops: [],
    next: [],
    waiting: state.waiting,
    ...more,
  };
}

/** A turn as the server shows it. */
export function turnView(seq: number): TurnView {
  const begun = demo.events[seq - 1];
  const ended = demo.events.find((event) => field(event, "turn") === seq && field(event, "output") !== undefined);
  if (begun?.type !== "turn.started") throw new Error(`event ${seq} begins no turn`);
  const { visit, attempt, item = null, itemLabel = null, prompt = null, input = null, layers = [] } = begun.data;
  return {
    seq,
    endSeq: ended?.seq ?? null,
    socket: begun.nodeId ?? "",
    materia: "",
    visit,
    attempt,
    item,
    itemLabel,
    outcome: ended ? "completed" : "running",
    startedAt: begun.wallTime,
    prompt,
    layers,
    input,
    output: field(ended, "output") ?? null,
    parsed: null,
    consumed: begun.data.consumed,
    artifacts: [],
  };
}

/** A server that has the demo up to an event; and whatever else it is told to answer. */
export function serveDemo(seq: number, more: Record<string, unknown> = {}): Asked[] {
  const turns = demo.events.slice(0, seq).filter((event) => event.type === "turn.started");
  const eventsOf = ({ search }: Asked) => {
    const [from, to] = [Number(search.get("from") ?? 1), Number(search.get("to") ?? seq)];
    const words = search.get("text") ?? "";
    const items = demo.events
      .slice(0, seq)
      .filter((event) => event.seq >= from && event.seq <= to && JSON.stringify(event).includes(words));
    return { items, next: null };
  };
  return serve({
    "/projects": { items: [project] },
    "/inbox": { items: [] },
    "/casts/demo": ({ search }: Asked) => viewAt(Number(search.get("at") ?? seq)),
    "/casts/demo/events": eventsOf,
    ...Object.fromEntries(turns.map((turn) => [`/casts/demo/turns/${turn.seq}`, turnView(turn.seq)])),
    ...more,
  });
}

/** The store of the demo as it is served, as a cast page has it. */
export async function loadedStore(): Promise<CastStore> {
  const store = new CastStore("demo", "p");
  await store.load();
  return store;
}
