// Two people changed one text: what only one of them changed is taken, where both did a person decides.
import { diffLines } from "../shared/differences";

export type MergePart =
  | { kind: "same"; text: string }
  | { kind: "conflict"; base: string; yours: string; theirs: string };

/** The ranges of lines that one text changed against its base. */
function changes(base: string, other: string): { from: number; to: number; text: string }[] {
  const out: { from: number; to: number; text: string }[] = [];
  let line = 0;
  let open: { from: number; to: number; text: string } | null = null;
  const count = (text: string) => text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  for (const part of diffLines(base, other)) {
    if (part.kind === "same") {
      if (open) out.push(open);
      open = null;
      line += count(part.text);
      continue;
    }
    open ??= { from: line, to: line, text: "" };
    if (part.kind === "add") open.text += part.text;
    else {
      line += count(part.text);
      open.to = line;
    }
  }
  if (open) out.push(open);
  return out;
}

export function merge3(base: string, yours: string, theirs: string): MergePart[] {
  const lines = base.split(/(?<=\n)/);
  const mine = changes(base, yours);
  const other = changes(base, theirs);
  const parts: MergePart[] = [];
  const same = (text: string) => {
    const last = parts.at(-1);
    if (!text) return;
    if (last?.kind === "same") last.text += text;
    else parts.push({ kind: "same", text });
  };
  let at = 0;
  while (mine.length > 0 || other.length > 0) {
    const start = Math.min(mine[0]?.from ?? Number.POSITIVE_INFINITY, other[0]?.from ?? Number.POSITIVE_INFINITY);
    same(lines.slice(at, start).join(""));
    let stop = start;
    const [a, b]: [typeof mine, typeof other] = [[], []];
    // Everything that touches the range, from either side, is decided together.
    for (;;) {
      const next = mine[0] && mine[0].from <= stop ? mine : other[0] && other[0].from <= stop ? other : null;
      const one = next?.shift();
      if (!next || !one) break;
      (next === mine ? a : b).push(one);
      stop = Math.max(stop, one.to);
    }
    const result = (list: typeof mine) => {
      let [text, line] = ["", start];
      for (const one of list) {
        text += lines.slice(line, one.from).join("") + one.text;
        line = one.to;
      }
      return text + lines.slice(line, stop).join("");
    };
    const [left, right] = [result(a), result(b)];
    if (b.length === 0 || left === right) same(left);
    else if (a.length === 0) same(right);
    else parts.push({ kind: "conflict", base: lines.slice(start, stop).join(""), yours: left, theirs: right });
    at = stop;
  }
  same(lines.slice(at).join(""));
  return parts;
}

/** The merged text, if nobody has to decide. */
export function cleanMerge(base: string, yours: string, theirs: string): string | null {
  const parts = merge3(base, yours, theirs);
  return parts.every((part) => part.kind === "same") ? resolved(parts, []) : null;
}

/** The merged text with a choice for each conflict. */
export function resolved(parts: MergePart[], choices: ("yours" | "theirs" | "both")[]): string {
  let number = 0;
  return parts
    .map((part) => {
      if (part.kind === "same") return part.text;
      const choice = choices[number++] ?? "yours";
      return choice === "both" ? part.yours + part.theirs : part[choice];
    })
    .join("");
}
