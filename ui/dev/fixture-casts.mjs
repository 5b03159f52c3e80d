// The recorded casts as the fixture server shows them: moved to today, cut, and played on where they are live.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const here = dirname(fileURLToPath(import.meta.url));
const cache = join(here, "../.cache");
await build({
  root: join(here, ".."),
  configFile: false,
  logLevel: "silent",
  build: {
    outDir: cache,
    emptyOutDir: false,
    minify: false,
    lib: { entry: join(here, "../src/fold/index.ts"), formats: ["es"], fileName: "fold" },
  },
});
export const page = await import(join(cache, "fold.js"));

const NEWEST = Date.parse("2026-11-15T13:07:00Z");
const SIMULATED = Date.parse("2000-01-01T00:00:00Z");

/** The colours of shipped materia; the casts were recorded before plans told them. */
const COLORS = { "Auto-Plan": "#3f7ad8", Build: "#2f9e5b", "Auto-Eval": "#d0982f" };

export function loadCasts(now = Date.now()) {
  const casts = new Map();
  for (const name of readdirSync(join(here, "fixtures")).filter((file) => /^\d/.test(file))) {
    const recorded = JSON.parse(readFileSync(join(here, "fixtures", name), "utf8"));
    const shift = Date.parse(recorded.start) - SIMULATED + (now - NEWEST);
    for (const event of recorded.events) {
      event.ts += shift * 1000;
      event.wallTime = new Date(Date.parse(event.wallTime) + shift).toISOString();
    }
    for (const node of [...Object.values(recorded.events[0].data.plan.nodes), ...recorded.graph.sockets])
      if (COLORS[node.materia]) node.color ??= COLORS[node.materia];
    casts.set(recorded.id, { ...recorded, all: recorded.events, state: null, news: [] });
  }
  return casts;
}

/** Cuts a cast at an event, as if it were under way; its newest event happened just now. */
export function cut(cast, seq, now = Date.now()) {
  const last = cast.all[seq - 1];
  const shift = now - 18000 - Date.parse(last.wallTime);
  for (const event of cast.all) {
    event.ts += shift * 1000;
    event.wallTime = new Date(Date.parse(event.wallTime) + shift).toISOString();
  }
  cast.events = cast.all.slice(0, seq);
  cast.state = null;
  cast.live = true;
}

export function stateOf(cast, at) {
  if (at) return page.fold(page.emptyState(cast.id), cast.events.slice(0, at));
  cast.state = page.fold(cast.state ?? page.emptyState(cast.id), cast.events);
  return cast.state;
}

export function summary(cast) {
  const state = stateOf(cast);
  const outer = Object.values(state.loops)[0];
  return {
    castId: cast.id,
    status: state.status,
    loadout: state.loadout,
    request: state.request,
    startedAt: state.startedAt,
    fromCastId: state.fork?.castId ?? state.fromCastId,
    project: "p1",
    driven: Boolean(cast.live) && state.status === "running",
    lastSeq: state.seq,
    updatedAt: state.wall,
    ...(state.waiting ? { waiting: state.waiting } : {}),
    ...(state.error ? { error: state.error } : {}),
    usage: state.usage,
    ...(outer ? { items: { done: Math.min(outer.index, outer.total), total: outer.total } } : {}),
  };
}

export function view(cast, at) {
  const state = stateOf(cast, at);
  const visits = state.turns.map((turn) => ({
    socket: turn.socket,
    visit: turn.visit,
    attempt: turn.attempt,
    item: turn.item,
    itemLabel: turn.itemLabel,
    outcome: turn.outcome,
    satisfied: turn.satisfied,
    reason: turn.reason,
    durationMs: turn.durationMs,
  }));
  return {
    ...summary(cast),
    status: state.status,
    waiting: state.waiting ?? undefined,
    error: state.error ?? undefined,
    usage: state.usage,
    visits,
    state: state.variables,
    runDir: "/home/ada/src/greet/.materia",
    lastSeq: cast.events.length,
    lastHash: "",
    elapsedMs: Math.round((state.ts - state.startTs) / 1000),
    questions: Object.values(state.questions),
    at: state.seq,
    pace: state.pace,
    globalMode: state.globalMode,
    budget: state.budget,
    plan: state.plan,
    graph: cast.graph,
    sockets: Object.keys(state.plan.nodes).map((id) => ({
      socket: id,
      materia: state.plan.nodes[id].materia,
      state: page.socketState(state, id),
      visits: state.visits[id] ?? 0,
      completed: state.completed[id] ?? 0,
      turns: state.open[id] ?? [],
      waits: (state.waits[id] ?? []).length,
    })),
    edges: Object.entries(state.edges).map(([id, edge]) => ({
      id,
      from: page.edgeSource(state, id),
      to: "",
      taken: edge.taken,
    })),
    loops: Object.values(state.loops).map((loop) => ({
      id: loop.id,
      entry: loop.entry,
      index: loop.index,
      total: loop.total,
      items: page.loopItems(state, loop),
    })),
    next: nextOf(state),
  };
}

function nextOf(state) {
  const node = state.waiting?.node ?? undefined;
  switch (state.waiting?.reason) {
    case "approval":
      return [
        { do: "approve", node, hash: state.questions[node]?.hash },
        { do: "deny", node, hash: state.questions[node]?.hash },
      ];
    case "multi_turn":
      return [{ do: "say" }, { do: "continue", node }];
    case "stall":
      return [{ do: "say" }, { do: "resume" }, { do: "abort" }];
    case "budget":
      return [{ do: "budget", budget: { maxTurns: state.usage.turns * 2 } }, { do: "abort" }];
    default:
      return state.status === "failed" ? [{ do: state.error?.code === "edge_exhausted" ? "revive" : "recast" }] : [];
  }
}

export function turn(cast, seq) {
  const state = stateOf(cast);
  const one = state.turns.find((other) => other.seq === seq);
  if (!one) return null;
  const begun = cast.events[seq - 1].data;
  const end = one.endSeq ? cast.events[one.endSeq - 1] : null;
  return {
    seq,
    endSeq: one.endSeq,
    socket: one.socket,
    materia: state.plan.nodes[one.socket].materia,
    visit: one.visit,
    attempt: one.attempt,
    item: one.item,
    itemLabel: one.itemLabel,
    outcome: one.outcome,
    startedAt: cast.events[seq - 1].wallTime,
    endedAt: end?.wallTime,
    durationMs: one.durationMs,
    prompt: begun.prompt,
    layers: begun.layers ?? [],
    input: begun.input,
    output: end?.data.output,
    parsed: end ? page.objectOf(end.data) : undefined,
    satisfied: one.satisfied,
    reason: one.reason,
    usage: end?.data.usage,
    provider: begun.provider,
    model: begun.model,
    session: begun.session,
    consumed: one.consumed,
    artifacts: (end?.data.artifacts ?? []).map((file) => ({ path: file.name, bytes: file.content.length })),
  };
}

export function files(cast) {
  return cast.events.flatMap((event) => event.data.artifacts ?? []).filter((file) => file.content !== undefined);
}

export function cost(cast) {
  const state = stateOf(cast);
  const rows = (key) => {
    const found = new Map();
    for (const one of state.turns) {
      const name = key(one);
      const row = found.get(name) ?? { turns: 0, tokens: 0, cost: null, durationMs: 0 };
      row.turns += 1;
      row.tokens += one.tokens;
      if (one.cost !== null) row.cost = (row.cost ?? 0) + one.cost;
      row.durationMs += one.durationMs ?? 0;
      found.set(name, row);
    }
    return [...found];
  };
  return {
    usage: state.usage,
    budget: state.budget,
    bySocket: rows((one) => one.socket).map(([socket, row]) => ({
      socket,
      materia: state.plan.nodes[socket].materia,
      ...row,
    })),
    byItem: rows((one) => one.item).map(([item, row]) => ({
      item,
      label: state.turns.find((one) => one.item === item)?.itemLabel,
      ...row,
    })),
  };
}
