// What can be done to sockets and their edges. Each act changes the text through a `Writer`.
import type { Condition, Json } from "../api/generated";
import { innermost, type Loadout, loadoutOf, nextSocketId, object, type Spot, strings, text } from "./loadout";
import type { Path, Writer } from "./writer";

export const at = (loadout: string, ...rest: Path): Path => ["loadouts", loadout, ...rest];

export function readIn(writer: Writer, loadout: string): Loadout {
  return loadoutOf(loadout, object(writer.value(at(loadout))));
}

/** What a field of a materia's `params` says about sockets (G10): names of params that hold ids of sockets. */
export type SocketParams = (materia: string) => string[];

export function addSocket(writer: Writer, loadout: string, materia: string): string {
  const before = readIn(writer, loadout);
  const id = nextSocketId(before.sockets.map((socket) => socket.id));
  writer.set(at(loadout, "sockets", id), { materia });
  if (!before.entry) writer.set(at(loadout, "entry"), id, true);
  return id;
}

/** Adds a socket behind another: what followed that one without a condition now follows the new one. */
export function addAfter(writer: Writer, loadout: string, after: string, materia: string): string {
  const now = readIn(writer, loadout);
  const socket = now.sockets.find((one) => one.id === after);
  if (!socket) return addSocket(writer, loadout, materia);
  const open = socket.edges.find((edge) => edge.when === "always" && !edge.raw.where);
  if (open) return insertOnEdge(writer, loadout, after, open.index, materia);
  const id = addSocket(writer, loadout, materia);
  connect(writer, loadout, after, id, "always");
  return id;
}

/** Puts a socket between two: the condition stays on the first half (B3). */
export function insertOnEdge(writer: Writer, loadout: string, from: string, index: number, materia: string): string {
  const before = readIn(writer, loadout);
  const to = text(writer.value(at(loadout, "sockets", from, "edges", index, "to")));
  const id = nextSocketId(before.sockets.map((socket) => socket.id));
  writer.set(at(loadout, "sockets", id), { materia, edges: [{ when: "always", to }] });
  writer.set(at(loadout, "sockets", from, "edges", index, "to"), id);
  for (const loop of before.loops) {
    const place = loop.sockets.indexOf(from);
    if (place >= 0 && loop.sockets.includes(to)) writer.insert(at(loadout, "loops", loop.id, "sockets"), place + 1, id);
  }
  return id;
}

export function connect(writer: Writer, loadout: string, from: string, to: string, when: Condition): void {
  const path = at(loadout, "sockets", from, "edges");
  writer.insert(path, writer.size(path), { when, to });
}

/** The condition that a further edge most likely is meant to have. */
export function likelyCondition(loadout: Loadout, from: string): Condition {
  const taken = new Set(loadout.sockets.find((one) => one.id === from)?.edges.map((edge) => edge.when) ?? []);
  if (taken.has("satisfied") && !taken.has("not_satisfied")) return "not_satisfied";
  if (taken.has("not_satisfied") && !taken.has("satisfied") && !taken.has("always")) return "satisfied";
  return "always";
}

export function disconnect(writer: Writer, loadout: string, from: string, index: number): void {
  const path = at(loadout, "sockets", from, "edges");
  if (writer.size(path) <= 1) writer.remove(path);
  else writer.remove([...path, index]);
}

export function setEdge(
  writer: Writer,
  loadout: string,
  from: string,
  index: number,
  field: string,
  value: Json | undefined,
): void {
  writer.put(at(loadout, "sockets", from, "edges", index, field), value);
}

export function moveEdge(writer: Writer, loadout: string, from: string, index: number, to: number): void {
  writer.move(at(loadout, "sockets", from, "edges"), index, to);
}

/** Every place of a loadout that names a socket, as paths below the loadout. */
export function references(loadout: Loadout, id: string, params: SocketParams): Path[] {
  const found: Path[] = [];
  const note = (value: Json | undefined, ...path: Path) => {
    if (value === id) found.push(path);
  };
  note(loadout.raw.entry, "entry");
  for (const socket of loadout.sockets) {
    const below: Path = ["sockets", socket.id];
    socket.edges.forEach((edge) => {
      note(edge.raw.to, ...below, "edges", edge.index, "to");
    });
    note(object(socket.raw.onFailure).to, ...below, "onFailure", "to");
    strings(socket.raw.dependsOn).forEach((one, index) => {
      note(one, ...below, "dependsOn", index);
    });
    for (const name of params(socket.materia)) {
      const value = object(socket.raw.params)[name];
      note(value, ...below, "params", name);
      if (Array.isArray(value))
        value.forEach((one, index) => {
          note(one, ...below, "params", name, index);
        });
    }
  }
  for (const loop of loadout.loops) {
    const below: Path = ["loops", loop.id];
    const members = Array.isArray(loop.raw.sockets) ? loop.raw.sockets : [];
    members.forEach((one, index) => {
      note(one, ...below, "sockets", index);
    });
    note(object(loop.raw.consumes).from, ...below, "consumes", "from");
    for (const exit of loop.exits) {
      const path: Path = exit.at === "short" ? [...below, "exit"] : [...below, "exits", exit.at];
      note(exit.from, ...path, "from");
      if (exit.at === "short") note(object(loop.raw.exit).to, ...path, "to");
      else note(exit.to, ...path, "targetSocketId");
    }
  }
  return found;
}

export function renameSocket(writer: Writer, loadout: string, id: string, to: string, params: SocketParams): void {
  for (const path of references(readIn(writer, loadout), id, params)) writer.set(at(loadout, ...path), to);
  if (writer.has(at(loadout, "layout", "sockets", id))) writer.rename(at(loadout, "layout", "sockets", id), to);
  writer.rename(at(loadout, "sockets", id), to);
}

/** Takes sockets away with everything that names them; loops without members go, with their exits. */
export function deleteSockets(writer: Writer, loadout: string, ids: string[], params: SocketParams): void {
  for (const id of ids) deleteSocket(writer, loadout, id, params);
}

function deleteSocket(writer: Writer, loadout: string, id: string, params: SocketParams): void {
  const before = readIn(writer, loadout);
  const gone = before.sockets.find((socket) => socket.id === id);
  if (!gone) return;
  for (const loop of before.loops) {
    if (loop.sockets.every((one) => one === id)) ungroup(writer, loadout, loop.id);
    else cleanLoop(writer, loadout, loop.id, id);
  }
  const drop = new Set<string>();
  // From the end, so that places of lists stay right.
  for (const path of references(readIn(writer, loadout), id, params).toReversed()) {
    if (path[0] === "loops" || path[0] === "entry") continue;
    const shorter = path.at(-1) === "to" ? path.slice(0, -1) : path;
    const key = JSON.stringify(shorter);
    if (drop.has(key)) continue;
    drop.add(key);
    writer.remove(at(loadout, ...shorter));
    const list = at(loadout, ...shorter.slice(0, -1));
    const emptied = typeof shorter.at(-1) === "number" && writer.size(list) === 0;
    if (emptied && writer.has(list)) writer.remove(list);
  }
  writer.remove(at(loadout, "layout", "sockets", id));
  cleanLayout(writer, loadout);
  writer.remove(at(loadout, "sockets", id));
  if (before.entry !== id) return;
  const left = readIn(writer, loadout).sockets.map((socket) => socket.id);
  const next = gone.edges.map((edge) => edge.to).find((to) => left.includes(to)) ?? left[0];
  writer.put(at(loadout, "entry"), next);
}

function cleanLoop(writer: Writer, loadout: string, loop: string, id: string): void {
  const path = at(loadout, "loops", loop);
  const now = readIn(writer, loadout).loops.find((one) => one.id === loop);
  if (!now) return;
  const exits = now.exits.filter((exit) => exit.from === id || exit.to === id);
  for (const exit of exits.toReversed())
    writer.remove(exit.at === "short" ? [...path, "exit"] : [...path, "exits", exit.at]);
  if (writer.has([...path, "exits"]) && writer.size([...path, "exits"]) === 0) writer.remove([...path, "exits"]);
  if (now.consumes === id) writer.remove([...path, "consumes"]);
  const members = writer.value([...path, "sockets"]);
  if (Array.isArray(members))
    for (let index = members.length - 1; index >= 0; index -= 1)
      if (members[index] === id) writer.remove([...path, "sockets", index]);
}

/** Takes a loop away: its exits are inside it, and members of no other loop no longer move a cursor. */
export function ungroup(writer: Writer, loadout: string, loop: string): void {
  const members = readIn(writer, loadout).loops.find((one) => one.id === loop)?.sockets ?? [];
  const loops = at(loadout, "loops");
  writer.remove([...loops, loop]);
  if (writer.keys(loops).length === 0) writer.remove(loops);
  const left = readIn(writer, loadout);
  for (const id of members) if (!innermost(left, id)) writer.remove(at(loadout, "sockets", id, "advance"));
}

export function setSpots(writer: Writer, loadout: string, spots: Record<string, Spot>): void {
  for (const [id, { x, y }] of Object.entries(spots))
    writer.set(at(loadout, "layout", "sockets", id), { x: Math.round(x), y: Math.round(y) });
}

/** Everything is placed by the page again. */
export function forgetSpots(writer: Writer, loadout: string): void {
  writer.remove(at(loadout, "layout", "sockets"));
  cleanLayout(writer, loadout);
}

function cleanLayout(writer: Writer, loadout: string): void {
  const layout = at(loadout, "layout");
  if (writer.has([...layout, "sockets"]) && writer.keys([...layout, "sockets"]).length === 0)
    writer.remove([...layout, "sockets"]);
  if (writer.has(layout) && writer.keys(layout).length === 0) writer.remove(layout);
}
