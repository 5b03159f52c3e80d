// Answers what the page asks, from the one cast that the file holds. It asks nobody.

import type { Local, Query } from "../api/client";
import { field } from "../api/events";
import type { CastView, Cost, EventLine, EventsPage, TurnView, Why } from "../api/generated";

export interface Exported {
  version: 1;
  cast: CastView;
  events: EventLine[];
  turns: Record<string, TurnView>;
  cost: Cost;
  whys: Record<string, Why>;
  files: { path: string; bytes: number; text?: string | null }[];
  stateHash: string;
  /** Which materia wrote it, and when. */
  writtenBy?: string;
  writtenAt?: string;
  /** The archive that it was made from; `fault` is the first thing in it that does not verify. */
  archive?: { file: string; redacted: boolean; fault?: string };
}

/** Reads what stands in the file; says in words what is wrong with it. */
export function readExported(text: string): Exported {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("The cast in this file cannot be read: the file is damaged or was cut off.");
  }
  const one = value as Partial<Exported> | null;
  if (typeof one !== "object" || one === null || one.version !== 1)
    throw new Error("This file was written by another version of materia. Export the cast again.");
  if (!one.cast || !Array.isArray(one.events)) throw new Error("There is no cast in this file. Export it again.");
  return {
    version: 1,
    cast: one.cast,
    events: one.events,
    turns: one.turns ?? {},
    cost: one.cost ?? { usage: one.cast.usage, budget: {}, bySocket: [], byItem: [] },
    whys: one.whys ?? {},
    files: one.files ?? [],
    stateHash: one.stateHash ?? "",
    ...(one.writtenBy ? { writtenBy: one.writtenBy } : {}),
    ...(one.writtenAt ? { writtenAt: one.writtenAt } : {}),
    ...(one.archive ? { archive: one.archive } : {}),
  };
}

export function sourceOf(file: Exported): Local {
  const end = file.events.at(-1)?.seq ?? 0;
  return {
    get(path, query) {
      const [, , , kind, name, last] = path.split("/").map(decodeURIComponent);
      if (kind === undefined) return file.cast;
      if (kind === "events") return eventsOf(file, query);
      if (kind === "cost") return file.cost;
      if (kind === "turns" && name) return known(file.turns[name], `The file does not hold the turn of event ${name}.`);
      if (kind === "nodes" && name && last === "why") {
        if (query.at && Number(query.at) !== end)
          throw new Error(`The file explains sockets as of its last event, ${end}: look there, at the newest turn.`);
        return known(file.whys[name], "The file does not say why for this socket.");
      }
      throw new Error("An exported file holds one cast and nothing else.");
    },
    text(path) {
      const name = path.split("/").slice(4).map(decodeURIComponent).join("/");
      const found = known(
        file.files.find((one) => one.path === name),
        "The file that was exported does not hold this one.",
      );
      return known(found.text, `Its ${found.bytes.toLocaleString("en")} bytes were not taken along.`);
    },
  };
}

function known<T>(value: T | null | undefined, otherwise: string): T {
  if (value === null || value === undefined) throw new Error(otherwise);
  return value;
}

/** The same filters as the server's. */
function eventsOf(file: Exported, query: Query): EventsPage {
  const from = Number(query.from ?? 0);
  const to = Number(query.to ?? Number.MAX_SAFE_INTEGER);
  const limit = Number(query.limit ?? 1000);
  const kinds = query.type ? String(query.type).split(",") : [];
  const words = query.text ? String(query.text).toLowerCase() : "";
  const items = new Map<number, unknown>();
  if (query.item)
    for (const event of file.events) if (event.type === "turn.started") items.set(event.seq, event.data.item);
  const found: EventLine[] = [];
  for (const event of file.events) {
    if (event.seq < from || event.seq > to) continue;
    if (kinds.length > 0 && !kinds.some((kind) => event.type === kind || event.type.startsWith(`${kind}.`))) continue;
    if (query.node && event.nodeId !== query.node) continue;
    if (query.item && (field(event, "item") ?? items.get(field(event, "turn") ?? 0)) !== query.item) continue;
    if (words && !JSON.stringify(event).toLowerCase().includes(words)) continue;
    found.push(event);
  }
  if (query.order === "desc") found.reverse();
  const rest = found[limit];
  return { items: found.slice(0, limit), next: rest ? rest.seq : null };
}
