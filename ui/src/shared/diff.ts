// Differences between two texts, by word or by line; and a unified diff as rows.

export interface DiffPart {
  kind: "same" | "add" | "del";
  text: string;
}

const CELLS_MAX = 4_000_000;

/** The longest common sequence, over words with their spaces. */
export function diffWords(a: string, b: string): DiffPart[] {
  return diffList(a.match(/\s+|[^\s]+/g) ?? [], b.match(/\s+|[^\s]+/g) ?? []);
}

export function diffLines(a: string, b: string): DiffPart[] {
  const lines = (text: string) => text.split(/(?<=\n)/);
  return diffList(lines(a), lines(b));
}

function diffList(a: string[], b: string[]): DiffPart[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail])
    tail += 1;
  const [x, y] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  const out: DiffPart[] = [];
  const put = (kind: DiffPart["kind"], text: string) => {
    const last = out.at(-1);
    if (last?.kind === kind) last.text += text;
    else if (text) out.push({ kind, text });
  };
  put("same", a.slice(0, head).join(""));
  if (x.length * y.length > CELLS_MAX) {
    put("del", x.join(""));
    put("add", y.join(""));
  } else walk(x, y, put);
  put("same", tail > 0 ? a.slice(a.length - tail).join("") : "");
  return out;
}

function walk(x: string[], y: string[], put: (kind: DiffPart["kind"], text: string) => void): void {
  const width = y.length + 1;
  const table = new Uint32Array((x.length + 1) * width);
  for (let i = x.length - 1; i >= 0; i -= 1)
    for (let j = y.length - 1; j >= 0; j -= 1)
      table[i * width + j] =
        x[i] === y[j]
          ? (table[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(table[(i + 1) * width + j] ?? 0, table[i * width + j + 1] ?? 0);
  let [i, j] = [0, 0];
  while (i < x.length || j < y.length) {
    if (i < x.length && j < y.length && x[i] === y[j]) {
      put("same", x[i] ?? "");
      i += 1;
      j += 1;
    } else if (
      i < x.length &&
      (j === y.length || (table[(i + 1) * width + j] ?? 0) >= (table[i * width + j + 1] ?? 0))
    ) {
      put("del", x[i] ?? "");
      i += 1;
    } else {
      put("add", y[j] ?? "");
      j += 1;
    }
  }
}

export interface DiffRow {
  kind: "same" | "add" | "del" | "head";
  line: number | null;
  text: string;
}

const HEAD = /^(diff |index |--- |\+\+\+ |\\ )/;

/** The rows of a unified diff, or nothing where the text is none. */
export function unifiedRows(text: string): DiffRow[] | null {
  if (!/^@@ -\d+/m.test(text)) return null;
  const rows: DiffRow[] = [];
  let [old, now] = [0, 0];
  // Lines of the hunk that are still to come: in it a line that looks like a head is a line.
  let [oldLeft, nowLeft] = [0, 0];
  let inFile = false;
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const inside = oldLeft > 0 || nowLeft > 0;
    const hunk = inside ? null : /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?/.exec(line);
    if (hunk) {
      [old, now] = [Number(hunk[1]), Number(hunk[3])];
      [oldLeft, nowLeft] = [Number(hunk[2] ?? 1), Number(hunk[4] ?? 1)];
      inFile = true;
      rows.push({ kind: "head", line: null, text: line });
    } else if (line.startsWith("\\") || (!inside && (!inFile || HEAD.test(line)))) {
      if (line.startsWith("diff ")) inFile = false;
      rows.push({ kind: "head", line: null, text: line });
    } else if (line.startsWith("+")) {
      rows.push({ kind: "add", line: now++, text: line.slice(1) });
      nowLeft -= 1;
    } else if (line.startsWith("-")) {
      rows.push({ kind: "del", line: old++, text: line.slice(1) });
      oldLeft -= 1;
    } else {
      rows.push({ kind: "same", line: now++, text: line.slice(1) });
      old += 1;
      oldLeft -= 1;
      nowLeft -= 1;
    }
  }
  return rows;
}

/** The text of a unified diff, file by file, without the lines that only name the file. */
export function byFile(text: string): string[] {
  const parts = text.split(/^(?=diff --git )/m).filter((part) => part.startsWith("diff --git "));
  return parts.map((part) => {
    const hunk = part.search(/^@@ /m);
    return hunk >= 0 ? part.slice(hunk) : part.replace(/^(diff|index) .*\n?/gm, "");
  });
}
