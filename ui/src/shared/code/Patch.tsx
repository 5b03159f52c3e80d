// A patch of git in the page's text editor: the lines of both sides, and the words that changed in them.
import { unifiedMergeView } from "@codemirror/merge";
import { lineNumbers } from "@codemirror/view";
import type { DiffRow } from "../diff";
import { Code } from "./Code";

export function Patch({ rows }: { rows: DiffRow[] }) {
  const text = (side: DiffRow[]) => side.map((row) => row.text).join("\n");
  const now = rows.filter((row) => row.kind !== "del");
  const [original, after] = [text(rows.filter((row) => row.kind !== "add")), text(now)];
  const extensions = [
    lineNumbers({ formatNumber: (line) => String(now[line - 1]?.line ?? "") }),
    unifiedMergeView({ original, mergeControls: false }),
  ];
  return (
    <Code key={original + after} language="text" readOnly label="Difference" text={after} extensions={extensions} />
  );
}
