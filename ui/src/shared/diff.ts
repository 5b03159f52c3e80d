// A unified diff as rows, and file by file.
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
