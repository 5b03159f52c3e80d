// Files that differ, and the lines of the chosen one.

import { useState } from "react";
import { segment } from "../../api/client";
import type { WorkspaceDiff, WorkspaceFile } from "../../api/generated";
import { useGet } from "../../shared/ask";
import { Button } from "../../shared/Button";
import { DiffView } from "../../shared/DiffView";
import { byFile } from "../../shared/diff";
import { count } from "../../shared/format";
import { ErrorBox, Foreign, Reading } from "../../shared/parts";
import css from "./style.module.css";

/** The most lines of one file that are drawn. */
const LINES_MAX = 2_000;

interface ChangesProps {
  castId: string;
  project: string | null;
  /** The event that began the turn; the whole cast without it. */
  turn?: number;
  /** What the answer depends on besides. */
  depends?: string;
}

export function Changes({ castId, project, turn, depends = "" }: ChangesProps) {
  const [chosen, setChosen] = useState<string | null>(null);
  const diff = useGet<WorkspaceDiff>(`/casts/${segment(castId)}/workspace/diff`, { project, turn }, { since: depends });
  if (diff.error) return <ErrorBox error={diff.error} />;
  if (!diff.data) return <Reading />;
  const { files, text, cut } = diff.data;
  if (files.length === 0) return <p className="dim">No file was changed.</p>;
  const place = Math.max(
    0,
    files.findIndex((file) => file.path === chosen),
  );
  const lines = (byFile(text)[place] ?? "").split("\n");
  const part = lines.slice(0, LINES_MAX).join("\n");
  return (
    <div className={css.changes} data-testid="changes">
      <ul className={css.files}>
        {files.map((file, index) => (
          <li key={file.path}>
            <Button look="quiet small" aria-pressed={index === place} onClick={() => setChosen(file.path)}>
              <Foreign as="span" className="mono cut" text={file.path} />
              <span className="faint nowrap">{linesOf(file)}</span>
            </Button>
          </li>
        ))}
      </ul>
      <div>
        {part.trim() ? (
          <DiffView text={part} />
        ) : (
          <p className="dim">{cut ? "The diff is too long to show this file." : "Its lines are the same."}</p>
        )}
        {lines.length > LINES_MAX ? (
          <p className="dim">{count(lines.length - LINES_MAX)} more lines are not shown.</p>
        ) : null}
      </div>
    </div>
  );
}

function linesOf({ added, removed }: WorkspaceFile): string {
  if (typeof added !== "number" || typeof removed !== "number") return "binary";
  return `+${count(added)} −${count(removed)}`;
}
