// How a value is written into a configuration: on one line where it fits, otherwise a line for each part.
import type { Node } from "jsonc-parser";
import type { Json } from "../api/generated";

/** Lines do not become longer than this if they can be broken. */
export const WIDTH = 118;

export interface Style {
  /** One step of indentation. */
  unit: string;
  eol: string;
}

export function styleOf(text: string): Style {
  const indented = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
  return { unit: indented.startsWith("\t") ? "\t" : indented, eol: text.includes("\r\n") ? "\r\n" : "\n" };
}

/** The value on one line, with spaces as people write them. */
export function inline(value: Json): string {
  if (Array.isArray(value)) return value.length === 0 ? "[]" : `[${value.map(inline).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    const parts = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${inline(one)}`);
    return parts.length === 0 ? "{}" : `{ ${parts.join(", ")} }`;
  }
  return JSON.stringify(value);
}

/** The value at a place: `column` is where it begins, `indent` that of its line. */
export function written(value: Json, indent: string, column: number, style: Style): string {
  const short = inline(value);
  if (column + short.length <= WIDTH || value === null || typeof value !== "object") return short;
  const inner = indent + style.unit;
  const parts = Array.isArray(value)
    ? value.map((one) => inner + written(one, inner, inner.length, style))
    : Object.entries(value).map(([key, one]) => {
        const name = `${inner}${JSON.stringify(key)}: `;
        return name + written(one, inner, name.length, style);
      });
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return `${open}${style.eol}${parts.join(`,${style.eol}`)}${style.eol}${indent}${close}`;
}

/** A part of a text written anew with other breaks only: every name, number and string stays as it was spelt. */
export function reflowed(text: string, node: Node, indent: string, column: number, style: Style, open = false): string {
  const raw = (one: Node) => text.slice(one.offset, one.offset + one.length);
  const flat = (one: Node): string => {
    const parts = one.children ?? [];
    if (one.type === "property") return `${raw(parts[0] as Node)}: ${parts[1] ? flat(parts[1]) : ""}`;
    if (one.type === "array") return parts.length === 0 ? "[]" : `[${parts.map(flat).join(", ")}]`;
    if (one.type === "object") return parts.length === 0 ? "{}" : `{ ${parts.map(flat).join(", ")} }`;
    return raw(one);
  };
  const short = flat(node);
  if ((!open && column + short.length <= WIDTH) || (node.type !== "object" && node.type !== "array")) return short;
  const inner = indent + style.unit;
  const parts = (node.children ?? []).map((child) => {
    const name = child.type === "property" ? `${raw(child.children?.[0] as Node)}: ` : "";
    const value = child.type === "property" ? (child.children?.[1] as Node) : child;
    return inner + name + reflowed(text, value, inner, inner.length + name.length, style);
  });
  const [begin, end] = node.type === "array" ? ["[", "]"] : ["{", "}"];
  return `${begin}${style.eol}${parts.join(`,${style.eol}`)}${style.eol}${indent}${end}`;
}
