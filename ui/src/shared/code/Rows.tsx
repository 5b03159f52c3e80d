import type { DiffRow } from "../diff";

/** A patch as rows with numbers and signs. */
export function Rows({ rows }: { rows: DiffRow[] }) {
  return rows.map((row, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: rows of a text have no other name
    <div key={index} className={row.kind === "head" ? "hunk" : row.kind}>
      <i>{row.line ?? ""}</i>
      <i>{row.kind === "add" ? "+" : row.kind === "del" ? "−" : ""}</i>
      <span>{row.text}</span>
    </div>
  ));
}
