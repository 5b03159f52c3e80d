// The files that a turn left, and what is in them.
import { segment } from "../../../api/client";
import type { TurnView } from "../../../api/generated";
import { useText } from "../../../shared/ask";
import { Button } from "../../../shared/Button";
import { DiffView } from "../../../shared/DiffView";
import { bytes } from "../../../shared/format";
import { ErrorBox, Foreign, Reading, Sub } from "../../../shared/parts";
import { Changes } from "../Changes";
import type { PanelProps } from "../props";
import css from "../style.module.css";

type FilesProps = Pick<PanelProps, "store" | "search" | "change"> & { full: TurnView | null };

export function FilesTab({ full, store, search, change }: FilesProps) {
  const files = full?.artifacts ?? [];
  const chosen = files.find((file) => file.path === search.get("file"));
  // What the turn made comes before what is kept about it.
  const made = files.find((file) => !/\.(meta|input|output)\.json$|\.prompt\.txt$/.test(file.path));
  const name = (chosen ?? made ?? files[0])?.path ?? null;
  const text = useText(name ? `/casts/${segment(store.id)}/files/${name.split("/").map(segment).join("/")}` : null, {
    project: store.project,
  });
  const changes = full?.changedFiles ? (
    <>
      <Sub>Changes in the workspace</Sub>
      <Changes castId={store.id} project={store.project} turn={full.seq} />
    </>
  ) : null;
  if (files.length === 0)
    return changes ?? <p className="dim">{full ? "This turn left no files." : "No turn has ended here yet."}</p>;
  return (
    <>
      {changes}
      {changes ? <Sub>Files that the turn left</Sub> : null}
      <ul className={css.files}>
        {files.map((file) => (
          <li key={file.path}>
            <Button look="quiet small" aria-pressed={file.path === name} onClick={() => change({ file: file.path })}>
              <Foreign as="span" className="mono cut" text={file.path} />
              <span className="faint">{bytes(file.bytes)}</span>
            </Button>
          </li>
        ))}
      </ul>
      {text.error ? (
        <ErrorBox error={text.error} />
      ) : text.data !== undefined ? (
        <DiffView text={text.data} />
      ) : (
        <Reading />
      )}
    </>
  );
}
