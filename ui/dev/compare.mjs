// Two recorded casts side by side, in the shape of the server's answer.
import { stateOf } from "./fixture-casts.mjs";

const given = (cast, turn) => JSON.stringify(cast.events[turn.seq - 1]?.data.prompt ?? null);
const output = (cast, turn) => cast.events[(turn.endSeq ?? 0) - 1]?.data.output ?? "";
const led = (cast, turn) =>
  cast.events
    .filter((event) => event.type === "route.selected" && event.data.turn === turn.seq)
    .map((event) => event.data.to ?? "end");

function side(cast, turn) {
  return {
    seq: turn.seq,
    outcome: turn.outcome,
    ...(turn.satisfied === null ? {} : { satisfied: turn.satisfied }),
    to: led(cast, turn),
    ...(turn.cost === null ? {} : { cost: turn.cost }),
    ...(turn.tokens ? { tokens: turn.tokens } : {}),
    ...(turn.durationMs === undefined ? {} : { durationMs: turn.durationMs }),
  };
}

export function compare(a, b) {
  const [one, other] = [stateOf(a), stateOf(b)];
  const forkedAt =
    other.fork?.castId === one.castId ? other.fork.seq : one.fork?.castId === other.castId ? one.fork.seq : null;
  const after = (state) => state.turns.filter((turn) => turn.seq > (forkedAt ?? 0));
  const rest = after(other);
  const attempts = new Map();
  const attempt = (turn) => {
    const key = `${turn.socket} ${turn.item}`;
    attempts.set(key, (attempts.get(key) ?? 0) + 1);
    return attempts.get(key);
  };
  const row = (x, y) => {
    const turn = x ?? y;
    const differs = [];
    if (x && y) {
      if (x.outcome !== y.outcome || x.satisfied !== y.satisfied) differs.push("outcome");
      if (given(a, x) !== given(b, y)) differs.push("prompt");
      if (output(a, x) !== output(b, y)) differs.push("output");
      if (String(led(a, x)) !== String(led(b, y))) differs.push("route");
      if (x.cost !== y.cost || x.tokens !== y.tokens) differs.push("cost");
    }
    return {
      socket: turn.socket,
      materia: one.plan.nodes[turn.socket]?.materia ?? turn.socket,
      ...(turn.item ? { item: turn.item } : {}),
      attempt: attempt(turn),
      verdict: !y ? "only_a" : !x ? "only_b" : differs.length > 0 ? "differs" : "same",
      ...(differs.length > 0 ? { differs } : {}),
      ...(x ? { a: side(a, x) } : {}),
      ...(y ? { b: side(b, y) } : {}),
    };
  };
  const rows = after(one).map((x) => {
    const place = rest.findIndex((y) => y.socket === x.socket && y.item === x.item);
    return row(x, place < 0 ? null : rest.splice(place, 1)[0]);
  });
  for (const y of rest) rows.push(row(null, y));
  const edges = [...new Set([...Object.keys(one.edges), ...Object.keys(other.edges)])];
  const taken = (state, edge) => state.edges[edge]?.taken ?? 0;
  const names = [...new Set([...Object.keys(one.variables), ...Object.keys(other.variables)])];
  const head = (state) => ({
    castId: state.castId,
    loadout: state.loadout,
    request: state.request,
    status: state.status,
    ...(state.fork ? { forkedFrom: state.fork.castId } : {}),
    usage: state.usage,
  });
  return {
    a: head(one),
    b: head(other),
    ...(forkedAt ? { forkedAt } : {}),
    rows,
    routes: edges
      .map((edge) => ({ edge, a: taken(one, edge), b: taken(other, edge) }))
      .filter((route) => route.a !== route.b),
    variables: names
      .filter((name) => JSON.stringify(one.variables[name]) !== JSON.stringify(other.variables[name]))
      .map((path) => ({ path, a: one.variables[path], b: other.variables[path] })),
    totals: {},
  };
}
