// Differences between two texts, by word or by line. Loaded when two texts are compared.
import { diff } from "@codemirror/merge";

export interface DiffPart {
  kind: "same" | "add" | "del";
  text: string;
}

/** Differences over words with their spaces. */
export function diffWords(a: string, b: string): DiffPart[] {
  return diffList(a.match(/\s+|[^\s]+/g) ?? [], b.match(/\s+|[^\s]+/g) ?? []);
}

export function diffLines(a: string, b: string): DiffPart[] {
  const lines = (text: string) => text.split(/(?<=\n)/);
  return diffList(lines(a), lines(b));
}

/** Letters that stand for pieces: all but the halves of surrogate pairs. */
const LETTERS = 0xf800;

/** The library compares letters, so each piece is one letter. */
function diffList(a: string[], b: string[]): DiffPart[] {
  const known = new Map<string, string>();
  const letters = (list: string[]) =>
    list
      .map((piece) => {
        const next = known.size < 0xd800 ? known.size : known.size + 0x800;
        const letter = known.get(piece) ?? String.fromCharCode(next);
        known.set(piece, letter);
        return letter;
      })
      .join("");
  const [x, y] = [letters(a), letters(b)];
  const changes =
    known.size > LETTERS ? [{ fromA: 0, toA: a.length, fromB: 0, toB: b.length }] : diff(x, y, { scanLimit: 2000 });
  const out: DiffPart[] = [];
  const put = (kind: DiffPart["kind"], list: string[]) => {
    if (list.length > 0) out.push({ kind, text: list.join("") });
  };
  let at = 0;
  for (const { fromA, toA, fromB, toB } of changes) {
    put("same", a.slice(at, fromA));
    put("del", a.slice(fromA, toA));
    put("add", b.slice(fromB, toB));
    at = toA;
  }
  put("same", a.slice(at));
  return out;
}
