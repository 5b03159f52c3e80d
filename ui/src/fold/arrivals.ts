// Over which lines a turn got what it took: who sent it, on which condition, and the how-manieth time. Pure.
import { field } from "../api/events";
import type { Condition, EventLine, Plan } from "../api/generated";
import type { Turn } from "./state";

export interface Arrival {
  /** The event that sent it. */
  seq: number;
  edge: string;
  from: string;
  when: Condition | "failure" | "exit";
  /** How often the line had been taken then: for the item, if there is one, else at all. */
  taken: number;
  limit: number | null;
  item: string | null;
}

function lineOf(plan: Plan, id: string): { from: string; when: Arrival["when"]; limit: number | null } | null {
  for (const [from, node] of Object.entries(plan.nodes)) {
    const edge = node.edges?.find((one) => one.id === id);
    if (edge) return { from, when: edge.when, limit: edge.maxTraversals ?? null };
    if (node.onFailure?.id === id) return { from, when: "failure", limit: node.onFailure.maxTraversals ?? null };
  }
  for (const loop of Object.values(plan.loops ?? {}))
    for (const exit of loop.exits ?? []) if (exit.edgeId === id) return { from: exit.from, when: "exit", limit: null };
  return null;
}

/** `events` are those that are held; what lies before them is not told. */
export function arrivals(events: readonly EventLine[], plan: Plan | null, turn: Turn): Arrival[] {
  if (!plan) return [];
  const taken = new Set(turn.consumed);
  const items = new Map<number, string | null>();
  const counts = new Map<string, number>();
  const out: Arrival[] = [];
  for (const event of events) {
    if (event.seq >= turn.seq) break;
    if (event.type === "turn.started") items.set(event.seq, event.data.item ?? null);
    const item = items.get(field(event, "turn") ?? 0) ?? null;
    if (event.type === "route.selected" && event.data.edgeId) {
      const key = `${event.data.edgeId} ${item ?? ""}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    if (event.type !== "handoff.sent" || !taken.has(event.data.payloadId)) continue;
    const line = lineOf(plan, event.data.edgeId);
    if (!line) continue;
    out.push({
      seq: event.seq,
      edge: event.data.edgeId,
      ...line,
      taken: counts.get(`${event.data.edgeId} ${item ?? ""}`) ?? 0,
      item,
    });
  }
  return out;
}
