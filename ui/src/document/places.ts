// Places in a document: JSON pointers, lines, and the thing of a loadout that a place belongs to.
import type { Json } from "../api/generated";
import { exitEdgeId, type Loadout } from "./loadout";
import { find, type Path, parse } from "./writer";

export type Selected =
  | { kind: "socket"; id: string }
  | { kind: "edge"; id: string }
  | { kind: "loop"; id: string }
  | { kind: "loadout" };

export function pointerParts(pointer: string | null | undefined): string[] {
  if (!pointer) return [];
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** A pointer as a path through a document: which parts are places of lists, the document says. */
export function pointerPath(value: Json | undefined, pointer: string | null | undefined): Path {
  let now: Json | undefined = value;
  return pointerParts(pointer).map((part) => {
    const index = Array.isArray(now) && /^\d+$/.test(part) ? Number(part) : part;
    now = Array.isArray(now)
      ? now[Number(part)]
      : now !== null && typeof now === "object" && now !== undefined
        ? now[part]
        : undefined;
    return index;
  });
}

export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

export function rangeOf(text: string, path: Path): { offset: number; length: number; line: number } | null {
  const node = find(parse(text).root, path);
  return node ? { offset: node.offset, length: node.length, line: lineAt(text, node.offset) } : null;
}

/** What of the loadout a pointer is about, if it is about this loadout. */
export function thingAt(loadout: Loadout, pointer: string | null | undefined): Selected | null {
  const [top, name, field, id, below, index] = pointerParts(pointer);
  if (top !== "loadouts" || name !== loadout.name) return null;
  if (field === "sockets" && id !== undefined) {
    const socket = loadout.sockets.find((one) => one.id === id);
    if (!socket) return { kind: "loadout" };
    const edge = below === "edges" && index !== undefined ? socket.edges[Number(index)] : undefined;
    return edge ? { kind: "edge", id: edge.id } : { kind: "socket", id };
  }
  if (field === "loops" && id !== undefined) {
    const loop = loadout.loops.find((one) => one.id === id);
    if (!loop) return { kind: "loadout" };
    const exit = below === "exits" ? loop.exits.find((one) => one.at === Number(index)) : undefined;
    return exit ? { kind: "edge", id: exitEdgeId(id, exit.id) } : { kind: "loop", id };
  }
  return { kind: "loadout" };
}

/** The path of a thing in the document. */
export function pathOf(loadout: Loadout, selected: Selected): Path {
  const top: Path = ["loadouts", loadout.name];
  if (selected.kind === "socket") return [...top, "sockets", selected.id];
  if (selected.kind === "loop") return [...top, "loops", selected.id];
  if (selected.kind === "edge") {
    for (const socket of loadout.sockets)
      for (const edge of socket.edges)
        if (edge.id === selected.id) return [...top, "sockets", socket.id, "edges", edge.index];
    for (const loop of loadout.loops)
      for (const exit of loop.exits)
        if (exitEdgeId(loop.id, exit.id) === selected.id)
          return [...top, "loops", loop.id, ...(exit.at === "short" ? ["exit"] : ["exits", exit.at])];
  }
  return top;
}
