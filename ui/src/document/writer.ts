// Changes a configuration as text: only the ranges that a change is about are touched, so that comments, trailing
// commas, unknown fields and the spelling of everything else stay byte for byte.
import { createScanner, getNodeValue, type Node, type ParseError, parseTree } from "jsonc-parser";
import type { Json } from "../api/generated";
import { reflowed, type Style, styleOf, WIDTH, written } from "./style";

export type Path = (string | number)[];
/** One range that was replaced: enough to do it again and to take it back. */
export interface Splice {
  at: number;
  del: string;
  ins: string;
}

export function parse(text: string): { root: Node | null; errors: ParseError[] } {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true }) ?? null;
  return { root, errors };
}

/** The value of an object's field; of two fields of one name the last counts, as for the program. */
function propertyOf(node: Node, key: string): Node | null {
  return node.children?.findLast((one) => one.children?.[0]?.value === key) ?? null;
}
export function find(root: Node | null, path: Path): Node | null {
  let node = root;
  for (const part of path) {
    if (!node) return null;
    if (typeof part === "number") node = node.type === "array" ? (node.children?.[part] ?? null) : null;
    else node = node.type === "object" ? (propertyOf(node, part)?.children?.[1] ?? null) : null;
  }
  return node;
}

/** `SyntaxKind.CommaToken`; the enum itself is declared in a way that single files cannot read. */
const COMMA = 5;

const end = (node: Node) => node.offset + node.length;

export class Writer {
  text: string;
  readonly splices: Splice[] = [];
  private tree: Node | null = null;
  private parsed: string | null = null;
  private readonly style: Style;

  constructor(text: string) {
    this.text = text;
    this.style = styleOf(text);
  }

  root(): Node | null {
    if (this.parsed !== this.text) {
      this.tree = parse(this.text).root;
      this.parsed = this.text;
    }
    return this.tree;
  }
  value(path: Path): Json | undefined {
    const node = find(this.root(), path);
    return node ? (getNodeValue(node) as Json) : undefined;
  }
  has(path: Path): boolean {
    return find(this.root(), path) !== null;
  }
  keys(path: Path): string[] {
    const node = find(this.root(), path);
    return node?.type === "object" ? (node.children ?? []).map((one) => String(one.children?.[0]?.value)) : [];
  }
  size(path: Path): number {
    const node = find(this.root(), path);
    return node?.type === "array" ? (node.children?.length ?? 0) : 0;
  }
  raw(path: Path): string | null {
    const node = find(this.root(), path);
    return node ? this.text.slice(node.offset, end(node)) : null;
  }

  splice(at: number, length: number, ins: string): void {
    const del = this.text.slice(at, at + length);
    if (del === ins) return;
    this.splices.push({ at, del, ins });
    this.text = this.text.slice(0, at) + ins + this.text.slice(at + length);
  }

  /** Sets a value, making what is around it where that is missing. `first` puts a new field at the top. */
  set(path: Path, value: Json, first = false): void {
    if (!this.root()) this.splice(0, this.text.length, `{${this.style.eol}}${this.style.eol}`);
    const present = find(this.root(), path);
    if (present) {
      const indent = this.indentAt(present.offset);
      this.splice(present.offset, present.length, written(value, indent, this.columnOf(present.offset), this.style));
      return;
    }
    const key = path.at(-1);
    const above = path.slice(0, -1);
    const container = find(this.root(), above);
    if (typeof key === "number") {
      if (container?.type === "array") this.insert(above, key, value);
      else this.set(above, [value]);
    } else if (key !== undefined && container?.type === "object")
      this.addChild(above, first ? 0 : (container.children?.length ?? 0), value, key);
    else if (key !== undefined) this.set(above, { [key]: value }, first);
  }

  insert(path: Path, index: number, value: Json): void {
    const container = find(this.root(), path);
    if (container?.type === "array") this.addChild(path, Math.min(index, container.children?.length ?? 0), value, null);
    else this.set(path, [value]);
  }

  /** Sets a value, or takes the field away where there is none. */
  put(path: Path, value: Json | undefined): void {
    if (value === undefined) this.remove(path);
    else this.set(path, value);
  }

  rename(path: Path, key: string): void {
    const container = find(this.root(), path.slice(0, -1));
    const name = container && propertyOf(container, String(path.at(-1)))?.children?.[0];
    if (name) this.splice(name.offset, name.length, JSON.stringify(key));
  }

  remove(path: Path): void {
    const container = find(this.root(), path.slice(0, -1));
    const last = path.at(-1);
    if (!container || last === undefined) return;
    const children = container.children ?? [];
    const child = typeof last === "number" ? children[last] : propertyOf(container, last);
    if (!child) return;
    const index = children.indexOf(child);
    const before = children[index - 1];
    const after = children[index + 1];
    if (this.onOwnLines(container, index)) {
      const start = this.leadStart(container, index);
      const stop = this.lineEnd(this.tailEnd(container, index));
      const trailing = this.commaAfter(end(child), end(container) - 1) !== null;
      const comma = before ? this.commaAfter(end(before), child.offset) : null;
      this.splice(start, stop - start, "");
      if (!after && !trailing && comma !== null) this.splice(comma, 1, "");
    } else if (after) this.splice(child.offset, after.offset - child.offset, "");
    else if (before) this.splice(end(before), end(child) - end(before), "");
    else {
      const comma = this.commaAfter(end(child), end(container) - 1);
      this.splice(child.offset, (comma === null ? end(child) : comma + 1) - child.offset, "");
    }
    this.closeEmpty(path.slice(0, -1));
  }

  /** Moves an entry of a list, together with the comments above and behind it. */
  move(path: Path, from: number, to: number): void {
    const list = find(this.root(), path);
    const children = list?.type === "array" ? (list.children ?? []) : [];
    if (!list || from === to || !children[from] || !children[to]) return;
    const order = children.map((_, index) => index);
    order.splice(to, 0, ...order.splice(from, 1));
    const raw = (node: Node) => this.text.slice(node.offset, end(node));
    if (!children.every((_, index) => this.onOwnLines(list, index))) {
      let out = "";
      children.forEach((child, place) => {
        const before = children[place - 1];
        if (before) out += this.text.slice(end(before), child.offset);
        out += raw(children[order[place] ?? 0] as Node);
      });
      const [first, last] = [children[0] as Node, children.at(-1) as Node];
      this.splice(first.offset, end(last) - first.offset, out);
      return;
    }
    const pieces = children.map((child, index) => {
      const start = this.leadStart(list, index);
      const comma = this.commaAfter(end(child), children[index + 1]?.offset ?? end(list) - 1);
      const tail = this.tailEnd(list, index);
      return {
        start,
        stop: tail,
        lead: this.text.slice(start, child.offset),
        body: raw(child),
        comma: comma !== null,
        tail: comma === null ? this.text.slice(end(child), tail) : this.text.slice(comma + 1, tail),
      };
    });
    let out = "";
    pieces.forEach((piece, place) => {
      const before = pieces[place - 1];
      if (before) out += this.text.slice(before.stop, piece.start);
      const moved = pieces[order[place] ?? 0] as (typeof pieces)[number];
      out += moved.lead + moved.body + (piece.comma ? "," : "") + moved.tail;
    });
    const [first, last] = [pieces[0], pieces.at(-1)];
    if (first && last) this.splice(first.start, last.stop - first.start, out);
  }

  private addChild(path: Path, index: number, value: Json, key: string | null): void {
    const { eol, unit } = this.style;
    const container = find(this.root(), path);
    if (!container) return;
    const children = container.children ?? [];
    const name = key === null ? "" : `${JSON.stringify(key)}: `;
    const child = (indent: string, column: number) => name + written(value, indent, column + name.length, this.style);
    const [open, close] = [container.offset, end(container) - 1];
    const base = this.indentAt(open);
    const whole = value !== null && typeof value === "object" && key !== null && !Array.isArray(value);
    if (children.length === 0) {
      const inside = this.text.slice(open + 1, close);
      const short = child(base, this.columnOf(open) + 2);
      const gap = container.type === "array" ? "" : " ";
      const fits = !short.includes("\n") && this.columnOf(open) + short.length < WIDTH;
      // Objects of objects have a line for each entry; the document itself always has.
      if (inside.trim() === "" && path.length > 0 && fits && !whole)
        this.splice(open + 1, close - open - 1, `${gap}${short}${gap}`);
      else {
        const inner = base + unit;
        const kept = inside.trimEnd();
        const text = `${kept}${eol}${inner}${child(inner, inner.length)}${eol}${base}`;
        this.splice(open + 1, close - open - 1, text);
      }
      return;
    }
    const many = this.lineStart(children[0]?.offset ?? open) !== this.lineStart(open);
    const next = children[index];
    const last = children.at(-1) as Node;
    if (many && next && this.onOwnLines(container, index)) {
      const indent = this.indentAt(next.offset);
      this.splice(this.leadStart(container, index), 0, `${indent}${child(indent, indent.length)},${eol}`);
    } else if (next) {
      this.splice(next.offset, 0, `${child(base, this.columnOf(next.offset))}, `);
      this.breakLine(path);
    } else {
      const comma = this.commaAfter(end(last), close);
      if (many) {
        const indent = this.indentAt(last.offset);
        const at = this.tailEnd(container, children.length - 1);
        this.splice(at, 0, `${eol}${indent}${child(indent, indent.length)}${comma === null ? "" : ","}`);
        if (comma === null) this.splice(end(last), 0, ",");
      } else {
        const at = comma === null ? end(last) : comma + 1;
        const text = child(base, this.columnOf(at) + 2);
        this.splice(at, 0, comma === null ? `, ${text}` : ` ${text},`);
        this.breakLine(path);
      }
    }
  }

  /** Where a line has become too long, the outermost part that lies on it gets a line for each of its own. */
  private breakLine(path: Path): void {
    for (let depth = 1; depth <= path.length; depth += 1) {
      const node = find(this.root(), path.slice(0, depth));
      if (!node || this.lineStart(node.offset) !== this.lineStart(end(node))) continue;
      if (this.lineEnd(node.offset) - this.lineStart(node.offset) <= WIDTH + 2) return;
      const raw = this.text.slice(node.offset, end(node));
      if (/\/[/*]/.test(raw.replace(/"(?:[^"\\]|\\.)*"/g, ""))) return;
      const indent = this.indentAt(node.offset);
      const text = reflowed(this.text, node, indent, this.columnOf(node.offset), this.style, true);
      this.splice(node.offset, node.length, text);
      return;
    }
  }

  private closeEmpty(path: Path): void {
    const node = find(this.root(), path);
    if (!node || path.length === 0 || (node.children ?? []).length > 0) return;
    if (this.text.slice(node.offset + 1, end(node) - 1).trim() === "")
      this.splice(node.offset + 1, node.length - 2, "");
  }

  private lineStart(at: number): number {
    return this.text.lastIndexOf("\n", at - 1) + 1;
  }
  /** Behind the end of the line. */
  private lineEnd(at: number): number {
    const next = this.text.indexOf("\n", at);
    return next < 0 ? this.text.length : next + 1;
  }
  private columnOf(at: number): number {
    return at - this.lineStart(at);
  }
  private indentAt(at: number): string {
    return /^[ \t]*/.exec(this.text.slice(this.lineStart(at)))?.[0] ?? "";
  }
  private commaAfter(from: number, limit: number): number | null {
    const scanner = createScanner(this.text, true);
    scanner.setPosition(from);
    const kind = scanner.scan();
    const at = scanner.getTokenOffset();
    return kind === COMMA && at < limit ? at : null;
  }
  /** Behind an entry, its comma, and a comment on the same line. */
  private tailEnd(container: Node, index: number): number {
    const child = container.children?.[index] as Node;
    const limit = container.children?.[index + 1]?.offset ?? end(container) - 1;
    const comma = this.commaAfter(end(child), limit);
    let at = comma === null ? end(child) : comma + 1;
    const comment = /^[ \t]*(\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/)/.exec(this.text.slice(at, limit));
    if (comment) at += comment[0].length;
    return at;
  }
  private onOwnLines(container: Node, index: number): boolean {
    const child = container.children?.[index];
    if (!child || this.text.slice(this.lineStart(child.offset), child.offset).trim() !== "") return false;
    const rest = this.text.slice(this.tailEnd(container, index), this.lineEnd(end(child)));
    return rest.trim() === "";
  }
  /** The start of the first line that belongs to an entry: comments right above it are its own. */
  private leadStart(container: Node, index: number): number {
    const child = container.children?.[index] as Node;
    const floor = index > 0 ? this.lineEnd(this.tailEnd(container, index - 1)) : this.lineEnd(container.offset);
    let start = this.lineStart(child.offset);
    let inBlock = false;
    while (start > floor) {
      const above = this.lineStart(start - 1);
      const line = this.text.slice(above, start).trim();
      if (inBlock) inBlock = !line.startsWith("/*");
      else if (line.endsWith("*/")) inBlock = !line.startsWith("/*");
      else if (!line.startsWith("//")) break;
      if (above < floor) break;
      start = above;
    }
    return start;
  }
}
