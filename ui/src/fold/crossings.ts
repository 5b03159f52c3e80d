// What went over a line, and what became of each payload. Pure.
import { field } from "../api/events";
import type { EventLine } from "../api/generated";

/** Types of the events that tell of payloads. */
export const PAYLOAD_EVENTS =
  "handoff.sent,payload.delivered,payload.consumed,payload.superseded,payload.dropped,payload.deduplicated,payload.filtered,turn.started,item.skipped";

export type Fate = "waits" | "consumed" | "superseded" | "dropped" | "deduplicated" | "filtered" | "skipped";

export interface Crossing {
  /** The event that sent it. */
  seq: number;
  payloadId: string;
  to: string;
  /** The turn that sent it. */
  turn: number | null;
  item: string | null;
  preview: string;
  fate: Fate;
  /** The turn that took it, or the event that ended it. */
  by: number | null;
  /** Why it was dropped. */
  reason: string | null;
}

/** Events up to one; what lies before those that are held is not told. */
export function crossings(events: readonly EventLine[], edge: string, upto: number): Crossing[] {
  const found = new Map<string, Crossing>();
  const items = new Map<number, string | null>();
  const end = (id: string, fate: Fate, by: number, reason: string | null = null) => {
    const one = found.get(id);
    if (one && one.fate === "waits") found.set(id, { ...one, fate, by, reason });
  };
  for (const event of events) {
    const { type, seq, data } = event;
    if (seq > upto) break;
    if (type === "turn.started") {
      items.set(seq, data.item ?? null);
      for (const id of data.consumed ?? []) {
        const one = found.get(id);
        if (one?.fate === "consumed" && one.by === null) found.set(id, { ...one, by: seq });
      }
    } else if (type === "handoff.sent" && data.edgeId === edge)
      found.set(data.payloadId, {
        seq,
        payloadId: data.payloadId,
        to: data.to,
        turn: data.turn ?? null,
        item: items.get(data.turn ?? 0) ?? null,
        preview: data.preview ?? "",
        fate: "waits",
        by: null,
        reason: null,
      });
    else if (type === "payload.consumed") {
      const one = found.get(data.payloadId);
      if (one?.fate === "waits") found.set(one.payloadId, { ...one, fate: "consumed" });
    } else if (type === "item.skipped") for (const id of data.dropped ?? []) end(id, "skipped", seq);
    else if (/^payload\.(superseded|dropped|deduplicated|filtered)$/.test(type))
      end(field(event, "payloadId") ?? "", type.slice("payload.".length) as Fate, seq, field(event, "reason") ?? null);
  }
  return [...found.values()];
}
