// Random edits of a loadout, from a seed: what the tests try, here and in the browser.
import type { Condition } from "../src/api/generated";
import { copied, paste, readFragment } from "../src/document/fragment";
import { exitEdgeId, type Loadout } from "../src/document/loadout";
import { addExit, freeLoopId, inOrder, loopFault, makeLoop, removeExit, setExit } from "../src/document/loops";
import {
  addAfter,
  addSocket,
  at,
  connect,
  deleteSockets,
  disconnect,
  forgetSpots,
  insertOnEdge,
  moveEdge,
  readIn,
  renameSocket,
  setEdge,
  setSpots,
  ungroup,
} from "../src/document/sockets";
import type { Writer } from "../src/document/writer";

export function randomFrom(seed: number): () => number {
  let state = (seed * 2654435761 + 12345) >>> 0;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) >>> 0;
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39) >>> 0;
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 4294967296;
  };
}

type Edit = [string, (writer: Writer, loadout: string, now: Loadout, any: () => number) => void];
const none = () => [];
const pick = <T>(list: T[], any: () => number): T | undefined => list[Math.floor(any() * list.length)];
const conditions: Condition[] = ["always", "satisfied", "not_satisfied"];

const edits: Edit[] = [
  ["add", (w, l) => void addSocket(w, l, "Build")],
  ["add after", (w, l, now, any) => void addAfter(w, l, pick(now.sockets, any)?.id ?? "", "Narrate")],
  [
    "insert",
    (w, l, now, any) => {
      const socket = pick(
        now.sockets.filter((one) => one.edges.length > 0),
        any,
      );
      const edge = pick(socket?.edges ?? [], any);
      if (socket && edge) insertOnEdge(w, l, socket.id, edge.index, "Auto-Eval");
    },
  ],
  [
    "connect",
    (w, l, now, any) => {
      const [from, to] = [pick(now.sockets, any), pick([...now.sockets.map((one) => one.id), "end"], any)];
      if (from && to) connect(w, l, from.id, to, pick(conditions, any) ?? "always");
    },
  ],
  [
    "disconnect",
    (w, l, now, any) => {
      const socket = pick(now.sockets, any);
      const edge = pick(socket?.edges ?? [], any);
      if (socket && edge) disconnect(w, l, socket.id, edge.index);
    },
  ],
  [
    "rename",
    (w, l, now, any) => {
      const socket = pick(now.sockets, any);
      if (socket) renameSocket(w, l, socket.id, `renamed-${Math.floor(any() * 1e9)}`, none);
    },
  ],
  [
    "delete",
    (w, l, now, any) => {
      const socket = pick(now.sockets, any);
      if (socket) deleteSockets(w, l, [socket.id], none);
    },
  ],
  [
    "reorder",
    (w, l, now, any) => {
      const socket = pick(
        now.sockets.filter((one) => one.edges.length > 1),
        any,
      );
      if (socket)
        moveEdge(w, l, socket.id, Math.floor(any() * socket.edges.length), Math.floor(any() * socket.edges.length));
    },
  ],
  [
    "edge field",
    (w, l, now, any) => {
      const socket = pick(now.sockets, any);
      const edge = pick(socket?.edges ?? [], any);
      if (socket && edge) setEdge(w, l, socket.id, edge.index, "maxTraversals", any() < 0.3 ? undefined : 2);
    },
  ],
  [
    "socket field",
    (w, l, now, any) => {
      const socket = pick(now.sockets, any);
      if (socket) w.put(at(l, "sockets", socket.id, "parse"), any() < 0.3 ? undefined : "json");
    },
  ],
  [
    "loop",
    (w, l, now, any) => {
      const ids = inOrder(
        now,
        now.sockets.filter(() => any() < 0.4).map((socket) => socket.id),
      );
      if (loopFault(now, ids)) return;
      const last = ids.at(-1) ?? "";
      makeLoop(w, l, {
        id: freeLoopId(now),
        sockets: ids,
        consumes: null,
        advance: "satisfied",
        exits: [{ from: last, condition: "always", to: "end" }],
      });
    },
  ],
  ["ungroup", (w, l, now, any) => ungroup(w, l, pick(now.loops, any)?.id ?? "")],
  [
    "exit",
    (w, l, now, any) => {
      const loop = pick(now.loops, any);
      const exit = pick(loop?.exits ?? [], any);
      if (loop && exit && any() < 0.3) removeExit(w, l, exitEdgeId(loop.id, exit.id));
      else if (loop && exit)
        setExit(w, l, exitEdgeId(loop.id, exit.id), { condition: pick(conditions, any) ?? "always" });
      else if (loop) addExit(w, l, loop.id, loop.sockets[0] ?? "", "end");
    },
  ],
  [
    "move",
    (w, l, now, any) => {
      const socket = pick(now.sockets, any);
      if (socket) setSpots(w, l, { [socket.id]: { x: any() * 900, y: any() * 600 } });
    },
  ],
  ["lay out", (w, l) => forgetSpots(w, l)],
  [
    "paste",
    (w, l, now, any) => {
      const fragment = readFragment(
        copied(
          now,
          now.sockets.filter(() => any() < 0.3).map((socket) => socket.id),
        ),
      );
      if (typeof fragment !== "string") paste(w, l, fragment, none);
    },
  ],
];

export function randomEdit(writer: Writer, loadout: string, any: () => number): string {
  for (let tries = 0; tries < 50; tries += 1) {
    const [label, edit] = pick(edits, any) as Edit;
    const before = writer.splices.length;
    edit(writer, loadout, readIn(writer, loadout), any);
    if (writer.splices.length > before) return label;
  }
  addSocket(writer, loadout, "Build");
  return "add";
}
