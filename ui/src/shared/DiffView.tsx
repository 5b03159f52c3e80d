import { Patch } from "./code";
import { unifiedRows } from "./diff";
import css from "./diff.module.css";
import { later } from "./later";
import { plain } from "./text";

/** A unified diff with numbers and what was changed; anything else as text. */
export function DiffView({ text }: { text: string }) {
  const shown = plain(text);
  const rows = unifiedRows(shown.replaceAll("\r", "␍"));
  if (!rows) return <pre>{shown}</pre>;
  return (
    <div className={css.diff} data-testid="diff">
      <Patch rows={rows} />
    </div>
  );
}

export const WordDiff = later(async () => (await import("./WordDiff")).WordDiff);
