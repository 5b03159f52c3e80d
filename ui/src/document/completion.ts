// What may stand at a place of a configuration: names of fields and words from its schema, and names of its own things.
import { getLocation } from "jsonc-parser";
import schemaFile from "../../../schemas/config.schema.json";
import type { Json } from "../api/generated";
import { type Loadout, object, strings } from "./loadout";

interface Schema {
  description?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  const?: Json;
  $ref?: string;
  $defs?: Record<string, Schema>;
  required?: string[];
}
const schema = schemaFile as unknown as Schema;

export interface Proposal {
  label: string;
  detail: string;
  /** What is written, from `from` to `to`. */
  insert: string;
  from: number;
  to: number;
}
/** Names that the document and the server know. */
export interface Names {
  loadout: Loadout | null;
  materia: string[];
}

/** A schema and everything that it may be instead. */
function variants(one: Schema | undefined): Schema[] {
  if (!one) return [];
  if (one.$ref) {
    const target = schema.$defs?.[one.$ref.replace("#/$defs/", "")];
    return variants(target);
  }
  return [one, ...(one.anyOf ?? []).flatMap(variants), ...(one.oneOf ?? []).flatMap(variants)];
}

function below(list: Schema[], part: string | number): Schema[] {
  return list.flatMap((one) => {
    if (typeof part === "number" || (one.items && part === "0")) return variants(one.items);
    const own = one.properties?.[part];
    if (own) return variants(own);
    return typeof one.additionalProperties === "object" ? variants(one.additionalProperties) : [];
  });
}

export function schemasAt(path: (string | number)[]): Schema[] {
  return path.reduce((list, part) => below(list, part), variants(schema));
}

export function describe(path: (string | number)[]): string {
  return schemasAt(path).find((one) => one.description)?.description ?? "";
}

/** How a field is filled in. */
export interface Field {
  kind: "choice" | "yesno" | "number" | "text" | "names" | "pairs" | "object" | "any";
  /** Words that stand for themselves. */
  words: string[];
  about: string;
}

export const fieldNames = (path: string[]): string[] => [
  ...new Set(schemasAt(path).flatMap((one) => Object.keys(one.properties ?? {}))),
];

export function fieldAt(path: string[]): Field {
  const all = schemasAt(path);
  const kinds = new Set(all.flatMap((one) => one.type ?? []));
  const words = all.flatMap((one) => (typeof one.const === "string" ? [one.const] : []));
  const own = below(schemasAt(path.slice(0, -1)), path.at(-1) ?? "")[0]?.description;
  const about = (own ?? describe(path)).replaceAll("`", "").replaceAll("\n", " ");
  const kind = kinds.has("array")
    ? "names"
    : words.length > 0
      ? "choice"
      : kinds.has("object")
        ? all.some((one) => one.properties)
          ? "object"
          : "pairs"
        : kinds.has("integer") || kinds.has("number")
          ? "number"
          : kinds.has("boolean")
            ? "yesno"
            : kinds.has("string")
              ? "text"
              : "any";
  return { kind, words, about };
}

export function proposals(text: string, offset: number, names: Names): Proposal[] {
  const place = getLocation(text, offset);
  const node = place.previousNode;
  const inside = node && offset >= node.offset && offset <= node.offset + node.length;
  const from = inside ? node.offset : offset;
  const to = inside ? node.offset + node.length : offset;
  const typed = inside ? text.slice(from, offset).replace(/^"/, "").toLowerCase() : "";
  const fits = (label: string) => label.toLowerCase().includes(typed);
  if (place.isAtPropertyKey) {
    const around = place.path.slice(0, -1);
    const colon = /^\s*:/.test(text.slice(to));
    const present = new Set<string>();
    return schemasAt(around)
      .flatMap((one) => Object.entries(one.properties ?? {}))
      .filter(([name]) => fits(name) && !present.has(name) && present.add(name))
      .map(([name, field]) => ({
        label: name,
        detail: (field.description ?? variants(field)[0]?.description ?? "").split("\n")[0] ?? "",
        insert: colon ? JSON.stringify(name) : `${JSON.stringify(name)}: ${blank(field)}`,
        from,
        to,
      }));
  }
  const value = (label: Json, detail: string): Proposal => ({
    label: String(label),
    detail,
    insert: JSON.stringify(label),
    from,
    to,
  });
  const words = schemasAt(place.path).flatMap((one) =>
    one.const !== undefined ? [value(one.const, one.description ?? "")] : [],
  );
  if (schemasAt(place.path).some((one) => [one.type].flat().includes("boolean")))
    words.push(value(true, ""), value(false, ""));
  return [...words, ...ownNames(place.path, names).map((name) => value(name, ""))].filter((one) => fits(one.label));
}

/** What a new field begins with. */
function blank(field: Schema): string {
  const kinds = variants(field).flatMap((one) => one.type ?? []);
  if (variants(field).some((one) => one.const !== undefined) || kinds.includes("string")) return '""';
  if (kinds.includes("array")) return "[]";
  if (kinds.includes("object")) return "{}";
  return "";
}

function ownNames(path: (string | number)[], { loadout, materia }: Names): string[] {
  const last = path.at(-1);
  const list = path.at(-2);
  const sockets = loadout?.sockets.map((socket) => socket.id) ?? [];
  if (last === "materia" && path.length === 5) return materia;
  if (last === "to" || last === "targetSocketId") return [...sockets, "end", "fail"];
  if (last === "entry" || last === "from" || list === "sockets" || list === "dependsOn") return sockets;
  if (last === "output") return ["workItems"];
  return [];
}

/** Names of params that hold ids of sockets. */
export const socketParams = (value: Json | undefined): string[] => strings(object(value).socketParams);
