// A link to one turn: /casts/ID/sockets/SOCKET/items/ITEM/turns/VISIT, where the later parts may be left out.
import type { CastState } from "../fold";

export interface TurnLink {
  socket: string;
  item: string | null;
  visit: number | null;
}

/** Reads what stands behind the cast's id in an address. */
export function turnLink(parts: string[]): TurnLink | null {
  const found = new Map<string, string>();
  for (let index = 0; index + 1 < parts.length; index += 2) found.set(parts[index] ?? "", parts[index + 1] ?? "");
  const socket = found.get("sockets");
  if (!socket) return null;
  const visit = Number(found.get("turns"));
  return { socket, item: found.get("items") ?? null, visit: Number.isInteger(visit) && visit > 0 ? visit : null };
}

export function turnPath(castId: string, turn: { socket: string; item: string | null; visit: number }): string {
  const parts = ["casts", castId, "sockets", turn.socket];
  if (turn.item) parts.push("items", turn.item);
  parts.push("turns", String(turn.visit));
  return `/${parts.map(encodeURIComponent).join("/")}`;
}

/** What to look at: the last attempt of that visit, if the cast has it. */
export function resolved(
  state: CastState,
  link: TurnLink,
): { socket: string; item: string | null; turn: number | null } {
  const turn = state.turns.findLast(
    (one) =>
      one.socket === link.socket &&
      (link.item === null || one.item === link.item) &&
      (link.visit === null || one.visit === link.visit),
  );
  return { socket: link.socket, item: link.item, turn: link.visit !== null ? (turn?.seq ?? null) : null };
}
