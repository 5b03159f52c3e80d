// When sockets had something to do and did not do it: inputs that waited, and questions to a person. Pure.
import { field } from "../../../api/events";
import type { EventLine } from "../../../api/generated";

export interface Rest {
  socket: string;
  kind: "queued" | "needs_you";
  /** Milliseconds; it goes on where there is no end. */
  from: number;
  to: number | null;
}

const GONE = new Set([
  "payload.consumed",
  "payload.superseded",
  "payload.dropped",
  "payload.deduplicated",
  "payload.filtered",
]);
const OVER = new Set(["run.completed", "run.failed", "run.aborted"]);
/** What a cast waits for without a person being asked. */
const QUIET = new Set(["interactive", "run_for"]);

/** The rests up to an event, and what is needed to go on from there. */
interface Rested {
  rests: Rest[];
  open: Map<string, Rest>;
  waiting: Map<string, Set<string>>;
  /** The first event that was looked at, and the last. */
  first: number;
  seq: number;
}

/** Goes on from an earlier answer where it can: a cast that runs has a few more events each time. */
export function restsOf(events: readonly EventLine[], upTo: number, held: { before?: Rested } = {}): Rest[] {
  const first = events[0]?.seq ?? 0;
  const { before } = held;
  const told: Rested =
    before && before.first === first && before.seq <= upTo
      ? before
      : { rests: [], open: new Map(), waiting: new Map(), first, seq: first - 1 };
  held.before = told;
  const { rests, open, waiting } = told;
  const begin = (socket: string, kind: Rest["kind"], at: number) => {
    const key = `${kind} ${socket}`;
    if (open.has(key)) return;
    const rest: Rest = { socket, kind, from: at, to: null };
    rests.push(rest);
    open.set(key, rest);
  };
  const end = (socket: string, kind: Rest["kind"], at: number) => {
    const key = `${kind} ${socket}`;
    const rest = open.get(key);
    if (rest) rest.to = at;
    open.delete(key);
  };
  for (const event of events.slice(told.seq + 1 - first)) {
    if (event.seq > upTo) break;
    told.seq = event.seq;
    const at = event.ts / 1000;
    const node = event.nodeId ?? "";
    if (event.type === "payload.delivered") {
      const inputs = waiting.get(node) ?? new Set();
      waiting.set(node, inputs.add(String(event.data.payloadId)));
      begin(node, "queued", at);
    } else if (GONE.has(event.type)) {
      const inputs = waiting.get(node);
      inputs?.delete(String(field(event, "payloadId")));
      if (!inputs?.size) end(node, "queued", at);
    } else if (event.type === "approval.requested") begin(node, "needs_you", at);
    else if (event.type === "run.waiting" && event.data.node && !QUIET.has(event.data.reason))
      begin(event.data.node, "needs_you", at);
    else if (event.type === "turn.started" || event.type === "approval.given" || event.type === "approval.denied")
      end(node, "needs_you", at);
    else if (event.type === "message.received") end(node, "needs_you", at);
    else if (event.type === "run.resumed") {
      for (const rest of [...open.values()]) if (rest.kind === "needs_you") end(rest.socket, rest.kind, at);
    } else if (OVER.has(event.type)) for (const rest of [...open.values()]) end(rest.socket, rest.kind, at);
  }
  return rests.filter((rest) => rest.to === null || rest.to > rest.from);
}
