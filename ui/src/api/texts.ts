// Long texts of events: the server names them by their hash. Words stand for them until somebody looks.
import { bytes } from "../shared/format";
import { get, getText, isLocal, type Query } from "./client";
import { field } from "./events";
import type { EventLine, EventsPage, Json } from "./generated";

export interface LongText {
  hash: string;
  bytes: number;
}

/** Longer ones are read one at a time, when somebody asks for them. */
const READ_BYTES_MAX = 1 << 20;
const HASH = /^[0-9a-f]{64}$/;
/** The texts behind the words that stand for them. */
const behind = new Map<string, LongText>();

/** The text that these words stand for, if they stand for one. */
export function longText(words: unknown): LongText | null {
  return typeof words === "string" ? (behind.get(words) ?? null) : null;
}

/** An event with words in the place of each text that is named. */
export function withWords(event: EventLine): EventLine {
  const data = worded(event.data as Json);
  return data === event.data ? event : ({ ...event, data } as EventLine);
}

function worded(value: Json): Json {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) {
    const items = value.map(worded);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  const { $blob: hash, bytes: size } = value;
  if (typeof hash === "string" && HASH.test(hash) && typeof size === "number") {
    const words = `A text of ${bytes(size)} (${hash.slice(0, 12)})`;
    behind.set(words, { hash, bytes: size });
    return words;
  }
  let changed = false;
  const fields = Object.entries(value).map(([name, field]): [string, Json] => {
    const after = worded(field);
    // A field that is really called so has one more sign before it.
    const own = /^\$\$+blob$/.test(name) ? name.slice(1) : name;
    changed ||= after !== field || own !== name;
    return [own, after];
  });
  return changed ? Object.fromEntries(fields) : value;
}

const readText = ({ hash }: LongText, project: string | null, signal?: AbortSignal) =>
  getText(`/blobs/${hash}`, { project }, signal);

/** An event with these texts of its data, where they are named and not too long. */
export async function withTexts(event: EventLine, project: string | null, signal?: AbortSignal): Promise<EventLine> {
  let data = event.data;
  for (const name of ["text", "output", "message"] as const) {
    const text = longText(field(event, name));
    if (text && text.bytes <= READ_BYTES_MAX) data = { ...data, [name]: await readText(text, project, signal) };
  }
  return data === event.data ? event : ({ ...event, data } as EventLine);
}

/** A page of events, with words in the place of long texts: what comes from the server may name them instead. */
export async function readEvents(
  cast: string,
  query: Query,
  signal?: AbortSignal,
): Promise<{ items: EventLine[]; next: number | null }> {
  const page = await get<EventsPage>(`/casts/${encodeURIComponent(cast)}/events`, query, signal);
  const items = page.items as unknown as EventLine[];
  // An exported file has its texts where they are.
  return { items: isLocal() ? items : items.map(withWords), next: page.next ?? null };
}
