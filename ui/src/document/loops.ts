// Loops and their exits. An exit is drawn as an edge; that edge is worked out and never written (G19).
import type { Condition, Json } from "../api/generated";
import { exitOf, freeName, type Loadout, type LoopDoc } from "./loadout";
import { at, readIn } from "./sockets";
import type { Writer } from "./writer";

export interface NewLoop {
  id: string;
  sockets: string[];
  consumes: string | null;
  /** When the last member moves on to the next item. */
  advance: Condition;
  exits: { from: string; condition: Condition; to: string }[];
}

/** Why these sockets cannot become a loop, or nothing where they can. */
export function loopFault(loadout: Loadout, ids: string[]): string | null {
  const known = ids.filter((id) => loadout.sockets.some((socket) => socket.id === id));
  if (known.length === 0) return "Select the sockets that run for each item.";
  for (const loop of loadout.loops) {
    const shared = loop.sockets.filter((id) => known.includes(id));
    if (shared.length === 0) continue;
    const inside = known.every((id) => loop.sockets.includes(id));
    const around = loop.sockets.every((id) => known.includes(id));
    if (inside && around) return `These sockets already form the loop ${loop.id}.`;
    if (!inside && !around)
      return `${shared[0]} is in the loop ${loop.id}, and others are not: one loop must lie in the other.`;
  }
  return null;
}

export const freeLoopId = (loadout: Loadout, wanted = "workItemIteration"): string =>
  freeName(
    wanted,
    loadout.loops.map((loop) => loop.id),
  );

export const freeExitId = (loop: LoopDoc | null, from: string, condition: Condition): string =>
  freeName(`exit:${from}:${condition}`, loop?.exits.map((exit) => exit.id) ?? [], ":");

/** Members in the order in which they stand in the document. */
export function inOrder(loadout: Loadout, ids: string[]): string[] {
  return loadout.sockets.map((socket) => socket.id).filter((id) => ids.includes(id));
}

/** Makes a loop: its last member moves it on, and leads back to the first. */
export function makeLoop(writer: Writer, loadout: string, made: NewLoop): void {
  const before = readIn(writer, loadout);
  const exits: Json[] = [];
  for (const { from, condition, to } of made.exits)
    exits.push({ id: `exit:${from}:${condition}`, from, condition, targetSocketId: to });
  writer.set(at(loadout, "loops", made.id), {
    sockets: made.sockets,
    ...(made.consumes ? { consumes: { from: made.consumes, output: "workItems" } } : {}),
    ...(exits.length > 0 ? { exits } : {}),
  });
  const [first, last] = [made.sockets[0], made.exits[0]?.from ?? made.sockets.at(-1)];
  const moves = made.sockets.some((id) => writer.has(at(loadout, "sockets", id, "advance")));
  if (!first || !last || moves) return;
  writer.set(at(loadout, "sockets", last, "advance"), { cursor: "workItemIndex", when: made.advance });
  const edges = before.sockets.find((socket) => socket.id === last)?.edges ?? [];
  const open = edges.find((edge) => edge.when === "always" && !edge.raw.where);
  const back = { when: "always", to: first };
  if (!open) writer.insert(at(loadout, "sockets", last, "edges"), edges.length, back);
  else if (!made.sockets.includes(open.to)) writer.set(at(loadout, "sockets", last, "edges", open.index, "to"), first);
}

export function renameLoop(writer: Writer, loadout: string, loop: string, to: string): void {
  writer.rename(at(loadout, "loops", loop), to);
}

export function setMembers(writer: Writer, loadout: string, loop: string, ids: string[]): void {
  const now = readIn(writer, loadout).loops.find((one) => one.id === loop);
  if (!now) return;
  for (const id of ids)
    if (!now.sockets.includes(id)) writer.insert(at(loadout, "loops", loop, "sockets"), Number.MAX_SAFE_INTEGER, id);
  now.sockets
    .map((id, index) => ({ id, index }))
    .filter(({ id }) => !ids.includes(id))
    .toReversed()
    .forEach(({ index }) => {
      writer.remove(at(loadout, "loops", loop, "sockets", index));
    });
}

export function setConsumes(writer: Writer, loadout: string, loop: string, from: string | null): void {
  const path = at(loadout, "loops", loop, "consumes");
  if (!from) writer.remove(path);
  else if (writer.has([...path, "from"])) writer.set([...path, "from"], from);
  else writer.set(path, { from, output: "workItems" });
}

export function addExit(writer: Writer, loadout: string, loop: string, from: string, to: string): void {
  const now = readIn(writer, loadout).loops.find((one) => one.id === loop) ?? null;
  const path = at(loadout, "loops", loop, "exits");
  const taken = new Set(now?.exits.filter((exit) => exit.from === from).map((exit) => exit.condition));
  const condition = (["always", "satisfied", "not_satisfied"] as const).find((one) => !taken.has(one)) ?? "always";
  const exit = { id: freeExitId(now, from, condition), from, condition, targetSocketId: to };
  writer.insert(path, writer.size(path), exit);
}

/** Changes an exit through the edge that stands for it: `loops.<id>.exits` changes and nothing else. */
export function setExit(
  writer: Writer,
  loadout: string,
  edgeId: string,
  change: { condition?: Condition; to?: string; from?: string },
): void {
  const found = exitOf(readIn(writer, loadout), edgeId);
  if (!found) return;
  const short = found.exit.at === "short";
  const path = at(loadout, "loops", found.loop.id, ...(short ? ["exit"] : ["exits", found.exit.at]));
  if (change.condition !== undefined) writer.set([...path, short ? "when" : "condition"], change.condition);
  if (change.to !== undefined) writer.set([...path, short ? "to" : "targetSocketId"], change.to);
  if (change.from !== undefined) writer.set([...path, "from"], change.from);
}

export function removeExit(writer: Writer, loadout: string, edgeId: string): void {
  const found = exitOf(readIn(writer, loadout), edgeId);
  if (!found) return;
  const loop = at(loadout, "loops", found.loop.id);
  if (found.exit.at === "short") writer.remove([...loop, "exit"]);
  else if (writer.size([...loop, "exits"]) <= 1) writer.remove([...loop, "exits"]);
  else writer.remove([...loop, "exits", found.exit.at]);
}

/** Puts a socket behind the exit of a loop: the exit leads to it, and it leads to where the exit led. */
export function insertOnExit(writer: Writer, loadout: string, edgeId: string, add: () => string): string | null {
  const found = exitOf(readIn(writer, loadout), edgeId);
  if (!found) return null;
  const id = add();
  writer.set(at(loadout, "sockets", id, "edges"), [{ when: "always", to: found.exit.to }]);
  setExit(writer, loadout, edgeId, { to: id });
  return id;
}
