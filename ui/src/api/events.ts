// Events by their kind, and fields that only some kinds have.
import type { EventLine } from "./generated";

export type EventOf<T extends EventLine["type"]> = Extract<EventLine, { type: T }>;

type Data = EventLine["data"];
/** The names of the fields of all kinds; a kind without fields is an open record, which would allow every name. */
type Names<D> = D extends unknown ? (string extends keyof D ? never : keyof D) : never;
type Values<D, K extends PropertyKey> = D extends unknown
  ? string extends keyof D
    ? never
    : K extends keyof D
      ? D[K]
      : never
  : never;

/** A field of the data, where this kind of event has it. */
export function field<K extends Names<Data>>(event: EventLine | undefined, name: K): Values<Data, K> | undefined {
  return event && name in event.data ? (event.data as Record<K, Values<Data, K>>)[name] : undefined;
}
