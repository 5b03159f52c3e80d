// One line about an event, for tables.
import type { EventOf } from "../api/events";
import type { EventLine } from "../api/generated";
import { oneLine } from "./text";

const words: { [T in EventLine["type"]]?: (data: EventOf<T>["data"]) => string } = {
  "run.created": (d) => `begins: ${d.request}`,
  "run.resumed": () => "carried on",
  "run.waiting": (d) => `waits: ${d.message}`,
  "run.completed": () => "done",
  "run.failed": (d) => `failed: ${d.code}, ${d.message}`,
  "run.aborted": (d) => `ended: ${d.reason}`,
  "turn.started": (d) =>
    `started (visit ${d.visit}${d.attempt > 1 ? `, attempt ${d.attempt}` : ""}${d.item ? `, ${d.item} ${d.itemLabel ?? ""}` : ""})`,
  "turn.completed": (d) =>
    `completed${d.satisfied === undefined || d.satisfied === null ? "" : `, satisfied: ${d.satisfied}`}: ${d.output}`,
  "turn.failed": (d) => `failed: ${d.code}, ${d.message}`,
  "turn.interrupted": (d) => `interrupted: ${d.reason}`,
  "route.selected": (d) => (d.edgeId ? `takes ${d.edgeId} to ${d.to}` : `goes to ${d.to}`),
  "handoff.sent": (d) => `sends to ${d.to}: ${d.preview}`,
  "payload.delivered": (d) => (d.edgeId ? `gets a payload over ${d.edgeId}` : "gets the request"),
  "payload.consumed": (d) => `takes payload ${String(d.payloadId).slice(0, 8)}`,
  "payload.superseded": (d) => `payload ${String(d.payloadId).slice(0, 8)} gives way to a newer one`,
  "payload.dropped": (d) => `payload ${String(d.payloadId).slice(0, 8)} is dropped: ${d.reason}`,
  "state.patched": (d) => `sets ${[...Object.keys(d.merged ?? {}), ...Object.keys(d.assigned ?? {})].join(", ")}`,
  "cursor.advanced": (d) =>
    d.exhausted
      ? `${d.loop ?? d.cursor}: no item is left`
      : `${d.loop ?? d.cursor}: on to item ${d.index + 1} of ${d.count}`,
  "loop.entered": (d) =>
    `loop ${d.loop} begins${d.count === null || d.count === undefined ? "" : ` with ${d.count} items`}`,
  "loop.exhausted": (d) => `loop ${d.loop} is done, to ${d.to}`,
  "follow_up.captured": (d) => `sends ${d.item ?? "it"} back to ${d.target}: ${d.reason}`,
  "approval.requested": (d) => `asks before it runs (${String(d.hash).slice(0, 8)})`,
  "approval.given": (d) => `approved (${String(d.hash).slice(0, 8)})`,
  "approval.denied": (d) => `denied${d.reason ? `: ${d.reason}` : ""}`,
  "mode.changed": (d) => `${d.value}: ${d.reason}`,
  "budget.changed": (d) => `budget: ${JSON.stringify(d.budget ?? d.nodeBudgets)}`,
  "budget.warned": (d) => `${d.spent} of ${d.limit} ${d.bound} are spent`,
  "message.received": (d) => `is told: ${d.text}`,
  "workspace.publishing": () => "its branch is being published",
  "workspace.published": (d) => `${d.branch} is at ${String(d.commit).slice(0, 12)}${d.kept ? `; ${d.kept}` : ""}`,
  "node.blocked": (d) => `blocked: ${d.reason}`,
};

export function eventWords(event: EventLine): string {
  const say = words[event.type] as ((data: EventLine["data"]) => string) | undefined;
  return oneLine(say ? say(event.data) : JSON.stringify(event.data), 240);
}
