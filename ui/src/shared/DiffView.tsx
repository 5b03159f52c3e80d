import { unifiedRows } from "./diff";
import css from "./diff.module.css";
import { later } from "./later";
import { plain } from "./text";

/** A unified diff as rows with numbers; anything else as text. */
export function DiffView({ text }: { text: string }) {
  const rows = unifiedRows(plain(text));
  if (!rows) return <pre>{plain(text)}</pre>;
  return (
    <div className={css.diff} data-testid="diff">
      {rows.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows of a text have no other name
        <div key={index} className={row.kind === "head" ? "hunk" : row.kind}>
          <i>{row.line ?? ""}</i>
          <i>{row.kind === "add" ? "+" : row.kind === "del" ? "−" : ""}</i>
          <span>{row.text}</span>
        </div>
      ))}
    </div>
  );
}

export const WordDiff = later(async () => (await import("./WordDiff")).WordDiff);
