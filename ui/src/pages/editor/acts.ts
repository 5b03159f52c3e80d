// What a person does in the editor, in words that undo can repeat. Keys, canvas, outline and inspector all come here.
import type { Condition, Json } from "../../api/generated";
import {
  addAfter,
  addSocket,
  at,
  connect,
  copied,
  deleteSockets,
  disconnect,
  edgeById,
  exitOf,
  type Fragment,
  forgetSpots,
  innermost,
  insertOnEdge,
  insertOnExit,
  likelyCondition,
  moveEdge,
  nextSocketId,
  paste,
  readFragment,
  readIn,
  removeExit,
  renameSocket,
  type Selected,
  type Spot,
  setEdge,
  setExit,
  setSpots,
  type Template,
  ungroup,
  type Writer,
} from "../../document";
import type { Where } from "./state";
import type { EditorStore } from "./store";

const name = (store: EditorStore) => store.state.subject.name;

export function add(store: EditorStore, materia: string, where: Where): string | null {
  const loadout = name(store);
  const id = store.edit(`add ${materia}`, (writer) => {
    if (where.edge) return insert(writer, loadout, where.edge, materia);
    if (where.from) {
      const made = addSocket(writer, loadout, materia);
      connect(writer, loadout, where.from, made, likelyCondition(readIn(writer, loadout), where.from));
      return made;
    }
    return where.after ? addAfter(writer, loadout, where.after, materia) : addSocket(writer, loadout, materia);
  });
  if (id) store.select([{ kind: "socket", id }]);
  return id;
}

function insert(writer: Writer, loadout: string, edgeId: string, materia: string): string | null {
  const now = readIn(writer, loadout);
  const found = edgeById(now, edgeId);
  if (found) return insertOnEdge(writer, loadout, found.socket.id, found.edge.index, materia);
  return insertOnExit(writer, loadout, edgeId, () => {
    const id = nextSocketId(now.sockets.map((socket) => socket.id));
    writer.set(at(loadout, "sockets", id), { materia });
    return id;
  });
}

export function addTemplate(store: EditorStore, template: Template): void {
  const fragment = readFragment(JSON.stringify(template.loadout));
  if (typeof fragment !== "string") pasteFragment(store, fragment, `add ${template.name}`);
}

function pasteFragment(store: EditorStore, fragment: Fragment, label: string): void {
  const ids = store.edit(label, (writer) => paste(writer, name(store), fragment, store.params));
  if (ids) store.select(ids.map((id) => ({ kind: "socket", id })));
}

export function pasteText(store: EditorStore, text: string): void {
  const fragment = readFragment(text);
  if (typeof fragment === "string") store.say(fragment);
  else pasteFragment(store, fragment, `paste ${Object.keys(fragment.sockets).length} sockets`);
}

/** The selection as text; a selected loop stands for its members. */
export function copyText(store: EditorStore): string | null {
  const { loadout } = store.state;
  const ids = chosenSockets(store);
  return loadout && ids.length > 0 ? copied(loadout, ids) : null;
}

export function chosenSockets(store: EditorStore): string[] {
  const { loadout, selection } = store.state;
  const ids = selection.flatMap((one) =>
    one.kind === "socket"
      ? [one.id]
      : one.kind === "loop"
        ? (loadout?.loops.find((loop) => loop.id === one.id)?.sockets ?? [])
        : [],
  );
  return [...new Set(ids)];
}

export function link(store: EditorStore, from: string, to: string, when?: Condition): void {
  const loadout = store.state.loadout;
  if (!loadout) return;
  const condition = when ?? likelyCondition(loadout, from);
  store.edit(`connect ${from} to ${to}`, (writer) => connect(writer, name(store), from, to, condition));
  const made = store.state.loadout?.sockets.find((socket) => socket.id === from)?.edges.at(-1);
  if (made) store.select([{ kind: "edge", id: made.id }]);
}

export function removeSelected(store: EditorStore): void {
  const { selection, loadout } = store.state;
  if (!loadout || selection.length === 0) return;
  const ids = selection.flatMap((one) => (one.kind === "socket" ? [one.id] : []));
  const label =
    selection.length > 1
      ? `delete ${selection.length} things`
      : `delete ${"id" in (selection[0] ?? {}) ? (selection[0] as { id: string }).id : "it"}`;
  const done = store.edit(label, (writer) => {
    for (const one of selection) {
      if (one.kind === "loop") ungroup(writer, name(store), one.id);
      if (one.kind === "edge") removeEdge(writer, name(store), one.id);
    }
    deleteSockets(writer, name(store), ids, store.params);
    return true;
  });
  if (done) store.say(`Done: ${label}.`, true);
}

export function removeEdge(writer: Writer, loadout: string, id: string): void {
  const now = readIn(writer, loadout);
  const found = edgeById(now, id);
  if (found) disconnect(writer, loadout, found.socket.id, found.edge.index);
  else if (exitOf(now, id)) removeExit(writer, loadout, id);
}

export function rename(store: EditorStore, id: string, to: string): void {
  store.edit(`rename ${id} to ${to}`, (writer) => renameSocket(writer, name(store), id, to, store.params));
  store.select([{ kind: "socket", id: to }]);
}

export function setSocket(
  store: EditorStore,
  id: string,
  field: string[],
  value: Json | undefined,
  mark?: string,
): void {
  const path = at(name(store), "sockets", id, ...field);
  store.edit(`${field.join(" ")} of ${id}`, (writer) => putClean(writer, path, value, 4), mark);
}

export function setLoadout(store: EditorStore, field: string[], value: Json | undefined, mark?: string): void {
  store.edit(field.join(" "), (writer) => putClean(writer, at(name(store), ...field), value, 2), mark);
}

/** Sets a field, or takes it away together with objects that are empty without it. */
export function putClean(writer: Writer, path: (string | number)[], value: Json | undefined, keep: number): void {
  writer.put(path, value);
  if (value !== undefined) return;
  for (let above = path.slice(0, -1); above.length > keep; above = above.slice(0, -1))
    if (writer.has(above) && writer.keys(above).length === 0 && writer.size(above) === 0) writer.remove(above);
}

export function changeEdge(
  store: EditorStore,
  id: string,
  path: string[],
  value: Json | undefined,
  mark?: string,
): void {
  const { loadout } = store.state;
  if (!loadout) return;
  const [field = "", ...more] = path;
  const found = edgeById(loadout, id);
  if (found) {
    const { socket, edge } = found;
    const place = at(name(store), "sockets", socket.id, "edges", edge.index);
    store.edit(
      `${path.join(" ")} of the edge to ${edge.to}`,
      (writer) =>
        more.length > 0
          ? putClean(writer, [...place, ...path], value, place.length)
          : setEdge(writer, name(store), socket.id, edge.index, field, value),
      mark,
    );
    // An edge without a name of its own is called by its ends.
    const now = store.state.loadout?.sockets.find((socket) => socket.id === found.socket.id)?.edges[found.edge.index];
    if (now && now.id !== id) store.select([{ kind: "edge", id: now.id }]);
    return;
  }
  const exit = field === "when" ? { condition: value as Condition } : { [field]: value as string };
  if (exitOf(loadout, id)) store.edit("change the exit", (writer) => setExit(writer, name(store), id, exit));
}

export function orderEdge(store: EditorStore, socket: string, index: number, to: number): void {
  const edge = store.state.loadout?.sockets.find((one) => one.id === socket)?.edges[index];
  const count = store.state.loadout?.sockets.find((one) => one.id === socket)?.edges.length ?? 0;
  if (!edge || to < 0 || to >= count) return;
  const chosen = store.state.selection.some((one) => one.kind === "edge");
  store.edit(`put edge ${index + 1} in place ${to + 1}`, (writer) => moveEdge(writer, name(store), socket, index, to));
  const now = store.state.loadout?.sockets.find((one) => one.id === socket)?.edges[to];
  if (chosen && now) store.select([{ kind: "edge", id: now.id }]);
}

export function place(store: EditorStore, spots: Record<string, Spot>): void {
  store.edit(
    Object.keys(spots).length === 1 ? `move ${Object.keys(spots)[0]}` : `move ${Object.keys(spots).length} sockets`,
    (writer) => setSpots(writer, name(store), spots),
    `move ${Object.keys(spots).join(" ")}`,
  );
}

export function layOut(store: EditorStore): void {
  if (Object.keys(store.state.loadout?.layout ?? {}).length === 0) {
    store.say("Everything is laid out.");
    return;
  }
  store.edit("lay out", (writer) => forgetSpots(writer, name(store)));
}

export function breakLoop(store: EditorStore): void {
  const { selection, loadout } = store.state;
  const first = selection[0];
  if (!first || !loadout) return;
  const loop =
    first.kind === "loop" ? first.id : first.kind === "socket" ? innermost(loadout, first.id)?.id : undefined;
  if (!loop) {
    store.say("Select a loop, or a socket in one.");
    return;
  }
  store.edit(`ungroup ${loop}`, (writer) => ungroup(writer, name(store), loop));
}

/** The thing to go on with when something is deselected: an edge's socket, a socket's loop. */
export function above(store: EditorStore): Selected[] {
  const { selection, loadout } = store.state;
  const first = selection[0];
  if (!first || !loadout || selection.length > 1) return [];
  if (first.kind === "edge") {
    const found = edgeById(loadout, first.id);
    if (found) return [{ kind: "socket", id: found.socket.id }];
    const exit = exitOf(loadout, first.id);
    return exit ? [{ kind: "loop", id: exit.loop.id }] : [];
  }
  return [];
}
