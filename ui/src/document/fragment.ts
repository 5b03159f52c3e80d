// Copying a part of a loadout as JSON, and pasting it: ids are given anew, and nothing leads to where nothing is.
import { isEnd } from "../api/ends";
import type { Json } from "../api/generated";
import { type JsonObject, type Loadout, loadoutOf, nextSocketId, object, strings } from "./loadout";
import { freeLoopId } from "./loops";
import { at, readIn, references, type SocketParams } from "./sockets";
import { parse, Writer } from "./writer";

const MARK = "materiaFragment";
const MOST_CHARS = 1_000_000;
const MOST_SOCKETS = 500;

export interface Fragment {
  sockets: JsonObject;
  loops: JsonObject;
}

/** The sockets, the edges among them, and the loops that lie whole in the selection. */
export function copied(loadout: Loadout, ids: string[]): string {
  const inside = new Set(ids);
  const sockets: JsonObject = {};
  for (const socket of loadout.sockets) if (inside.has(socket.id)) sockets[socket.id] = socket.raw;
  const loops: JsonObject = {};
  for (const loop of loadout.loops)
    if (loop.sockets.length > 0 && loop.sockets.every((id) => inside.has(id))) loops[loop.id] = loop.raw;
  return `${JSON.stringify({ [MARK]: 1, sockets, loops }, null, 2)}\n`;
}

/** Reads a fragment, or says in one sentence why the text is none. */
export function readFragment(text: string): Fragment | string {
  if (text.length > MOST_CHARS) return "The pasted text is too large to be part of a loadout.";
  const { root, errors } = parse(text);
  if (!root || errors.length > 0) return "The pasted text is not valid JSON.";
  const value = new Writer(text).value([]) ?? null;
  if (value === null || typeof value !== "object" || Array.isArray(value))
    return "The pasted text is not part of a loadout: it is not a JSON object.";
  const sockets = object(value.sockets);
  const names = Object.keys(sockets);
  if (names.length === 0) return "The pasted text has no `sockets`.";
  if (names.length > MOST_SOCKETS)
    return `The pasted text has ${names.length} sockets; at most ${MOST_SOCKETS} can be pasted.`;
  const odd = names.find((name) => typeof object(sockets[name]).materia !== "string");
  if (odd !== undefined) return `The socket ${odd} of the pasted text names no materia.`;
  const loops = object(value.loops);
  const bad = Object.keys(loops).find((name) => strings(object(loops[name]).sockets).length === 0);
  if (bad !== undefined) return `The loop ${bad} of the pasted text has no sockets.`;
  return { sockets, loops };
}

/** Pastes a fragment. Answers with the ids of the new sockets. */
export function paste(writer: Writer, loadout: string, fragment: Fragment, params: SocketParams): string[] {
  const before = readIn(writer, loadout);
  const renamed = new Map<string, string>();
  const taken = before.sockets.map((socket) => socket.id);
  for (const id of Object.keys(fragment.sockets)) {
    const next = nextSocketId([...taken, ...renamed.values()]);
    renamed.set(id, next);
  }
  const here = new Set(taken);
  /** The new name of a socket of the fragment, the same name where the loadout has it, or nothing. */
  const target = (id: string) => renamed.get(id) ?? (isEnd(id) || here.has(id) ? id : null);
  const made = new Writer(
    JSON.stringify({ loadouts: { pasted: { sockets: fragment.sockets, loops: fragment.loops } } }),
  );
  cleanEdges(made, (id) => renamed.has(id) || isEnd(id));
  cleanLoops(made, (id) => renamed.has(id), target);
  const result = object(made.value(at("pasted")));
  const members = new Set(Object.values(object(result.loops)).flatMap((loop) => strings(object(loop).sockets)));
  for (const [id, next] of renamed) {
    const socket = { ...object(object(result.sockets)[id]) };
    // Only a member of a loop moves one on.
    if (!members.has(id)) delete socket.advance;
    writer.set(at(loadout, "sockets", next), renamedIn(id, socket, renamed, params));
  }
  for (const [id, value] of Object.entries(object(result.loops))) {
    const loop = { ...object(value) };
    const free = freeLoopId(readIn(writer, loadout), id);
    writer.set(at(loadout, "loops", free), renamedLoop(loop, target));
  }
  if (!before.entry) {
    const first = [...renamed.values()][0];
    if (first) writer.set(at(loadout, "entry"), first, true);
  }
  return [...renamed.values()];
}

/** Edges that leave the fragment are left out. */
function cleanEdges(writer: Writer, known: (id: string) => boolean): void {
  for (const socket of readIn(writer, "pasted").sockets) {
    const below = at("pasted", "sockets", socket.id);
    for (const edge of socket.edges.toReversed()) if (!known(edge.to)) writer.remove([...below, "edges", edge.index]);
    if (socket.onFailure && !known(socket.onFailure.to)) writer.remove([...below, "onFailure"]);
    strings(socket.raw.dependsOn)
      .map((id, index) => ({ id, index }))
      .toReversed()
      .forEach(({ id, index }) => {
        if (!known(id)) writer.remove([...below, "dependsOn", index]);
      });
  }
}

function cleanLoops(writer: Writer, inside: (id: string) => boolean, target: (id: string) => string | null): void {
  for (const loop of readIn(writer, "pasted").loops) {
    const below = at("pasted", "loops", loop.id);
    if (!loop.sockets.every(inside)) {
      writer.remove(below);
      continue;
    }
    for (const exit of loop.exits.toReversed()) {
      const path = exit.at === "short" ? [...below, "exit"] : [...below, "exits", exit.at];
      if (!inside(exit.from)) writer.remove(path);
      // A loop keeps its way out; where that leads to nothing here, it leads to the end.
      else if (!target(exit.to)) writer.set([...path, exit.at === "short" ? "to" : "targetSocketId"], "end");
    }
    if (loop.consumes && !target(loop.consumes)) writer.remove([...below, "consumes"]);
  }
}

function renamedIn(id: string, socket: JsonObject, renamed: Map<string, string>, params: SocketParams): JsonObject {
  const one = new Writer(JSON.stringify({ loadouts: { pasted: { sockets: { [id]: socket } } } }));
  const view = loadoutOf("pasted", object(one.value(at("pasted"))));
  for (const [old, next] of renamed)
    for (const path of references(view, old, params)) one.set(at("pasted", ...path), next);
  const made = { ...object(one.value(at("pasted", "sockets", id))) };
  if (Array.isArray(made.edges)) made.edges = made.edges.map(withoutId);
  return made;
}

/** Ids of edges are unique in a loadout: a copy has none of its own. */
function withoutId(edge: Json): Json {
  const { id: _, ...rest } = object(edge);
  return rest;
}

function renamedLoop(loop: JsonObject, target: (id: string) => string | null): JsonObject {
  const name = (value: Json | undefined) => target(String(value)) ?? "end";
  const made: JsonObject = { ...loop, sockets: strings(loop.sockets).map(name) };
  if (loop.consumes) made.consumes = { ...object(loop.consumes), from: name(object(loop.consumes).from) };
  if (Array.isArray(loop.exits))
    made.exits = loop.exits.map((value) => {
      const exit = object(value);
      const from = name(exit.from);
      const id = String(exit.id).replace(String(exit.from), from);
      return { ...exit, id, from, targetSocketId: name(exit.targetSocketId) };
    });
  if (loop.exit) {
    const exit = object(loop.exit);
    made.exit = { ...exit, from: name(exit.from), ...(exit.to ? { to: name(exit.to) } : {}) };
  }
  return made;
}
