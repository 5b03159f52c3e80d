// A loadout as the document says it: read leniently, since a document under way has faults.
import { isEnd } from "../api/ends";
import type { Condition, Json } from "../api/generated";

export type JsonObject = { [key: string]: Json };

export interface EdgeDoc {
  id: string;
  index: number;
  when: Condition;
  to: string;
  raw: JsonObject;
}
export interface SocketDoc {
  id: string;
  materia: string;
  edges: EdgeDoc[];
  onFailure: { to: string; maxTraversals: number | null } | null;
  raw: JsonObject;
}
export interface ExitDoc {
  id: string;
  from: string;
  condition: Condition;
  to: string;
  /** Its place in `exits`, or `short` for the short form `exit`. */
  at: number | "short";
}
export interface LoopDoc {
  id: string;
  sockets: string[];
  consumes: string | null;
  exits: ExitDoc[];
  raw: JsonObject;
}
export interface Spot {
  x: number;
  y: number;
}
export interface Loadout {
  name: string;
  entry: string | null;
  description: string;
  sockets: SocketDoc[];
  loops: LoopDoc[];
  layout: Record<string, Spot>;
  raw: JsonObject;
}

export const object = (value: Json | undefined): JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
const list = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);
export const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");
export const strings = (value: Json | undefined): string[] =>
  list(value).filter((one): one is string => typeof one === "string");
export const condition = (value: Json | undefined): Condition =>
  value === "satisfied" || value === "not_satisfied" ? value : "always";

/** The loadout of a name in a document, or nothing where the document has none. */
export function readLoadout(document: Json | undefined, name: string): Loadout | null {
  const loadouts = object(object(document).loadouts);
  if (!Object.hasOwn(loadouts, name)) return null;
  return loadoutOf(name, object(loadouts[name]));
}

export function loadoutOf(name: string, raw: JsonObject): Loadout {
  const unnamed = new Map<string, number>();
  const sockets = Object.entries(object(raw.sockets)).map(([id, value]) => {
    const socket = object(value);
    const failure = object(socket.onFailure);
    return {
      id,
      materia: text(socket.materia),
      edges: list(socket.edges).map((one, index) => edgeOf(id, object(one), index, unnamed)),
      onFailure: failure.to
        ? {
            to: text(failure.to),
            maxTraversals: typeof failure.maxTraversals === "number" ? failure.maxTraversals : null,
          }
        : null,
      raw: socket,
    };
  });
  const loops = Object.entries(object(raw.loops)).map(([id, value]) => loopOf(id, object(value)));
  const layout: Record<string, Spot> = {};
  for (const [id, value] of Object.entries(object(object(raw.layout).sockets))) {
    const { x, y } = object(value);
    if (typeof x === "number" && typeof y === "number") layout[id] = { x, y };
  }
  return { name, entry: text(raw.entry) || null, description: text(raw.description), sockets, loops, layout, raw };
}

/** Edges without an id are called `FROM->TO`, further ones with `#2`, `#3`, as the program calls them. */
function edgeOf(from: string, raw: JsonObject, index: number, unnamed: Map<string, number>): EdgeDoc {
  const to = text(raw.to);
  let id = text(raw.id);
  if (!id) {
    const base = `${from}->${to}`;
    const count = (unnamed.get(base) ?? 0) + 1;
    unnamed.set(base, count);
    id = count === 1 ? base : `${base}#${count}`;
  }
  return { id, index, when: condition(raw.when), to, raw };
}

function loopOf(id: string, raw: JsonObject): LoopDoc {
  const exits: ExitDoc[] = list(raw.exits).map((value, at) => {
    const one = object(value);
    return {
      id: text(one.id),
      from: text(one.from),
      condition: condition(one.condition),
      to: text(one.targetSocketId),
      at,
    };
  });
  const short = object(raw.exit);
  if (short.from) {
    const when = condition(short.when);
    exits.push({
      id: `exit:${text(short.from)}:${when}`,
      from: text(short.from),
      condition: when,
      to: text(short.to) || "end",
      at: "short",
    });
  }
  return { id, sockets: strings(raw.sockets), consumes: text(object(raw.consumes).from) || null, exits, raw };
}

export const exitEdgeId = (loop: string, exit: string): string => `loop-exit:${loop}:${exit}`;

/** The loop and exit that a derived edge stands for. */
export function exitOf(loadout: Loadout, edgeId: string): { loop: LoopDoc; exit: ExitDoc } | null {
  for (const loop of loadout.loops)
    for (const exit of loop.exits) if (exitEdgeId(loop.id, exit.id) === edgeId) return { loop, exit };
  return null;
}

export function edgeById(loadout: Loadout, id: string): { socket: SocketDoc; edge: EdgeDoc } | null {
  for (const socket of loadout.sockets) for (const edge of socket.edges) if (edge.id === id) return { socket, edge };
  return null;
}

/** The name, or the first of its numbered forms that nothing has yet. */
export function freeName(wanted: string, taken: readonly string[], sign = "-"): string {
  let name = wanted;
  for (let number = 2; taken.includes(name); number += 1) name = `${wanted}${sign}${number}`;
  return name;
}

export function nextSocketId(ids: Iterable<string>): string {
  let most = 0;
  for (const id of ids) {
    const number = /^Socket-(\d{1,9})$/.exec(id)?.[1];
    if (number) most = Math.max(most, Number(number));
  }
  return `Socket-${most + 1}`;
}

/** The smallest loop around a socket. */
export function innermost(loadout: Loadout, socket: string): LoopDoc | null {
  const around = loadout.loops.filter((loop) => loop.sockets.includes(socket));
  return around.sort((a, b) => a.sockets.length - b.sockets.length)[0] ?? null;
}

/** Whether a name can be that of a socket, a loop or an exit. */
export const goodId = (id: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(id) && !isEnd(id);
