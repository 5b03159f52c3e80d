// A JSON value as text nodes, indented.
import type { Json } from "../api/generated";
import { plain } from "./text";

export function JsonText({ value }: { value: Json | undefined }) {
  return <pre>{value === undefined ? "" : plain(JSON.stringify(value, null, 2))}</pre>;
}
