// The graph of a loadout under way, in the shape that is drawn. The program's own words about it come with a check;
// this one is there at once, and also where the document has faults.
import { isEnd } from "../api/ends";
import type { Grid, GridSocket, MateriaKind } from "../api/generated";
import { type JsonObject, type Loadout, object } from "./loadout";

export interface MateriaInfo {
  name: string;
  layer: string;
  file: string;
  kind: MateriaKind;
  generator: boolean;
  group: string;
  color: string;
  label: string;
  description: string;
  parse: string;
  multiTurn: boolean;
  value: JsonObject;
}

export function materiaInfo(name: string, layer: string, file: string, value: JsonObject): MateriaInfo {
  const word = (field: string) => (typeof value[field] === "string" ? (value[field] as string) : "");
  return {
    name,
    layer,
    file,
    kind: value.type === "utility" ? "utility" : "agent",
    generator: value.generator === true,
    group: word("group"),
    color: word("color"),
    label: word("label"),
    description: word("description"),
    parse: word("parse") || (value.generator === true ? "json" : "text"),
    multiTurn: value.multiTurn === true,
    value,
  };
}

export function gridOf(loadout: Loadout, materia: Map<string, MateriaInfo>): Grid {
  const known = new Set(loadout.sockets.map((socket) => socket.id));
  const { rank, back } = ranked(loadout);
  const sockets: GridSocket[] = loadout.sockets.map((socket) => {
    const info = materia.get(socket.materia);
    const advance = object(socket.raw.advance);
    const when = advance.when;
    return {
      id: socket.id,
      materia: socket.materia || socket.id,
      type: info?.kind ?? "agent",
      generator: info?.generator ?? false,
      rank: rank.get(socket.id) ?? 0,
      edges: socket.edges
        .filter((edge) => isEnd(edge.to) || known.has(edge.to))
        .map((edge) => ({
          id: edge.id,
          when: edge.when,
          to: edge.to,
          maxTraversals: typeof edge.raw.maxTraversals === "number" ? edge.raw.maxTraversals : null,
          ...(back.has(edge.id) ? { back: true } : {}),
        })),
      onFailure:
        socket.onFailure && (isEnd(socket.onFailure.to) || known.has(socket.onFailure.to))
          ? { id: `onFailure:${socket.id}`, to: socket.onFailure.to, maxTraversals: socket.onFailure.maxTraversals }
          : null,
      advance:
        Object.keys(advance).length > 0
          ? { when: when === "satisfied" || when === "not_satisfied" ? when : "always" }
          : null,
    };
  });
  const loops: NonNullable<Grid["loops"]> = {};
  for (const loop of loadout.loops) {
    const members = loop.sockets.filter((id) => known.has(id));
    if (members.length === 0) continue;
    loops[loop.id] = {
      sockets: members,
      cursor: "",
      consumes: loop.consumes,
      exits: loop.exits
        .filter((exit) => known.has(exit.from) && (isEnd(exit.to) || known.has(exit.to)))
        .map(({ id, from, condition, to }) => ({ id, from, condition, to })),
    };
  }
  return { loadout: loadout.name, entry: loadout.entry ?? "", sockets, ranks: [], loops };
}

/** Which edges lead back, and how far from the entry each socket stands: the program's own rule. */
function ranked(loadout: Loadout): { rank: Map<string, number>; back: Set<string> } {
  const ids = loadout.sockets.map((socket) => socket.id);
  const leaving = new Map<string, { id: string; to: string }[]>(ids.map((id) => [id, []]));
  for (const socket of loadout.sockets) {
    for (const edge of socket.edges)
      if (leaving.has(edge.to)) leaving.get(socket.id)?.push({ id: edge.id, to: edge.to });
    if (socket.onFailure && leaving.has(socket.onFailure.to))
      leaving.get(socket.id)?.push({ id: `onFailure:${socket.id}`, to: socket.onFailure.to });
  }
  for (const loop of loadout.loops)
    for (const exit of loop.exits)
      if (leaving.has(exit.to)) leaving.get(exit.from)?.push({ id: `loop-exit:${loop.id}:${exit.id}`, to: exit.to });
  const seen = new Map<string, "way" | "settled">();
  const back = new Set<string>();
  const settled: string[] = [];
  for (const start of [...(loadout.entry && leaving.has(loadout.entry) ? [loadout.entry] : []), ...ids]) {
    if (seen.has(start)) continue;
    seen.set(start, "way");
    const way = [{ id: start, next: 0 }];
    for (let top = way.at(-1); top; top = way.at(-1)) {
      const edge = leaving.get(top.id)?.[top.next];
      if (!edge) {
        seen.set(top.id, "settled");
        settled.push(top.id);
        way.pop();
        continue;
      }
      top.next += 1;
      const state = seen.get(edge.to);
      if (!state) {
        seen.set(edge.to, "way");
        way.push({ id: edge.to, next: 0 });
      } else if (state === "way") back.add(edge.id);
    }
  }
  const rank = new Map<string, number>(ids.map((id) => [id, 0]));
  for (const id of settled.toReversed())
    for (const edge of leaving.get(id) ?? [])
      if (!back.has(edge.id)) rank.set(edge.to, Math.max(rank.get(edge.to) ?? 0, (rank.get(id) ?? 0) + 1));
  return { rank, back };
}
