// How a graph is divided before it is laid out: rows of connected sockets, and loops as rows of their own.
import type { Grid, GridSocket } from "../api/generated";

export type LineKind = "always" | "satisfied" | "not_satisfied" | "failure" | "exit";

export interface Line {
  id: string;
  from: string;
  /** A socket, or `end`. */
  to: string;
  kind: LineKind;
  /** Its place among the ways out, from 1; 0 where there is one way only. */
  order: number;
  max: number | null;
  back: boolean;
  /** The loop that it leaves, where it is an exit. */
  loop?: string;
  /** Whether it carries the items of a loop. */
  feed?: boolean;
  /** Whether it leads to the next item of a loop. */
  next?: boolean;
}

export type Row = { kind: "sockets"; sockets: string[]; rank: number } | { kind: "loop"; loop: string; rank: number };

export function linesOf(grid: Grid): Line[] {
  const lines: Line[] = [];
  const loops = Object.entries(grid.loops ?? {});
  for (const socket of grid.sockets) {
    const many = socket.edges.length > 1;
    socket.edges.forEach((edge, index) => {
      const fed = loops.some(
        ([, loop]) =>
          loop.consumes === socket.id && loop.sockets.includes(edge.to) && !loop.sockets.includes(socket.id),
      );
      lines.push({
        id: edge.id,
        from: socket.id,
        to: edge.to,
        kind: edge.when,
        order: many ? index + 1 : 0,
        max: edge.maxTraversals ?? null,
        back: edge.back ?? false,
        ...(fed ? { feed: true } : {}),
        ...(socket.advance && edge.back && edge.when === "always" ? { next: true } : {}),
      });
    });
    if (socket.onFailure) {
      const { id, to, maxTraversals } = socket.onFailure;
      lines.push({ id, from: socket.id, to, kind: "failure", order: 0, max: maxTraversals ?? null, back: false });
    }
  }
  for (const [loop, { exits, sockets }] of loops) {
    const exit = (id: string, from: string, to: string) =>
      lines.push({ id: `loop-exit:${loop}:${id}`, from, to, kind: "exit", order: 0, max: null, back: false, loop });
    for (const { id, from, to } of exits) exit(id, from, to);
    const last = sockets.at(-1);
    // A loop without exits ends the cast, or its branch, when no item is left.
    if (exits.length === 0 && last) exit("", last, "end");
  }
  return lines;
}

/** The ring at which a line ends: that of its loop, else the first of that kind. */
export function ringOf<Ring extends { id: string }>(ends: readonly Ring[], line: Line): Ring | undefined {
  const own = ends.find((end) => end.id === `${line.to}:${line.loop ?? ""}`);
  return own ?? ends.find((end) => end.id.startsWith(`${line.to}:`));
}

/** The loop right around each loop, if there is one. */
export function parents(grid: Grid): Record<string, string | null> {
  const loops = Object.entries(grid.loops ?? {});
  const out: Record<string, string | null> = {};
  for (const [id, loop] of loops) {
    const around = loops
      .filter(
        ([other, { sockets }]) =>
          other !== id && sockets.length > loop.sockets.length && loop.sockets.every((s) => sockets.includes(s)),
      )
      .sort((a, b) => a[1].sockets.length - b[1].sockets.length);
    out[id] = around[0]?.[0] ?? null;
  }
  return out;
}

/** The innermost loop around a socket. */
export function loopOf(grid: Grid, socket: string): string | null {
  const around = Object.entries(grid.loops ?? {})
    .filter(([, loop]) => loop.sockets.includes(socket))
    .sort((a, b) => a[1].sockets.length - b[1].sockets.length);
  return around[0]?.[0] ?? null;
}

/** The rows inside a loop, or of the whole graph, from the top. */
export function rowsIn(grid: Grid, inside: string | null, lines: Line[]): Row[] {
  const byId = new Map<string, GridSocket>(grid.sockets.map((socket) => [socket.id, socket]));
  const rank = (id: string) => byId.get(id)?.rank ?? 0;
  const direct = grid.sockets.map((socket) => socket.id).filter((id) => loopOf(grid, id) === inside);
  const rows: Row[] = [];
  for (const sockets of connected(direct, lines))
    rows.push({ kind: "sockets", sockets, rank: Math.min(...sockets.map(rank)) });
  for (const [loop, around] of Object.entries(parents(grid)))
    if (around === inside) {
      const members = grid.loops?.[loop]?.sockets ?? [];
      rows.push({ kind: "loop", loop, rank: Math.min(...members.map(rank)) });
    }
  return rows.sort((a, b) => a.rank - b.rank);
}

function connected(ids: string[], lines: Line[]): string[][] {
  const group = new Map(ids.map((id) => [id, id]));
  const root = (id: string): string => {
    const up = group.get(id) ?? id;
    return up === id ? id : root(up);
  };
  for (const line of lines)
    if (line.kind !== "exit" && group.has(line.from) && group.has(line.to)) group.set(root(line.to), root(line.from));
  const out = new Map<string, string[]>();
  for (const id of ids) out.set(root(id), [...(out.get(root(id)) ?? []), id]);
  return [...out.values()];
}
