// One materia: its prompt and tools, or its command; and a try of a saved utility, after consent.
import { useMemo } from "react";
import type { ConfigFile } from "../../api/generated";
import { freeName, object } from "../../document";
import { NotOpened } from "../../shared/Boundary";
import { later } from "../../shared/later";
import { Empty } from "../../shared/parts";
import { Link, navigate, searchNow } from "../../shared/router";
import { useKeydown } from "../../shared/useKeydown";
import { Found } from "../editor/fields";
import { projectFile } from "../editor/opening";
import { Problems, ProblemsTitle } from "../editor/Problems";
import { Review } from "../editor/Review";
import { SaveBar, saveReason } from "../editor/SaveBar";
import { readText } from "../editor/state";
import { type EditorStore, useCheck, useEditor } from "../editor/store";
import { useOpened } from "../editor/useOpened";
import { MateriaForm } from "./MateriaForm";
import css from "./materia.module.css";
import { TryIt } from "./TryIt";

const MergeView = later(async () => (await import("../editor/MergeView")).MergeView);

function begin(store: EditorStore, exists: boolean): void {
  if (exists) return;
  const { subject, materia } = store.state;
  const copied = materia.get(searchNow().get("from") ?? "")?.value;
  store.edit(`new materia ${subject.name}`, (writer) =>
    writer.set(["materia", subject.name], copied ?? { prompt: "" }),
  );
}

export function MateriaEditor({ name }: { name: string }) {
  const { store, error } = useOpened("materia", name, begin);
  if (error) return <NotOpened title={name} error={error} to="/materia" all="All materia" />;
  return store ? <Opened store={store} /> : <Empty>Opening.</Empty>;
}

function Opened({ store }: { store: EditorStore }) {
  const { subject, sheet, conflict } = useEditor(store, "subject", "sheet", "conflict");
  const { name } = subject;
  useCheck(store);
  useKeydown((event) => {
    if (!(event.ctrlKey || event.metaKey)) return;
    if (event.key === "s") {
      event.preventDefault();
      const { text, base } = store.state;
      if (text !== base && !saveReason(store.state)) store.patch({ sheet: { kind: "review" } });
    }
    const field = (event.target as HTMLElement).closest("input, textarea");
    if (event.key.toLowerCase() === "z" && !field) event.shiftKey ? store.redo() : store.undo();
  });
  const copy = () =>
    navigate(`/materia/${encodeURIComponent(nameOfCopy(store, name))}?begin=1&from=${encodeURIComponent(name)}`);
  return (
    <div className={css.materiaEditor} data-testid="materia-editor">
      <SaveBar store={store} onCopy={copy} />
      <Fields store={store} name={name} />
      <section className={css.beside} aria-label="Problems">
        <ProblemsTitle store={store} />
        <Problems store={store} />
        <Uses store={store} name={name} />
      </section>
      {sheet?.kind === "review" ? <Review store={store} onClose={() => store.patch({ sheet: null })} /> : null}
      {conflict ? <MergeView store={store} conflict={conflict} key={conflict.mark} /> : null}
    </div>
  );
}

function Fields({ store, name }: { store: EditorStore; name: string }) {
  const parts = ["value", "findings", "readOnly", "project", "text", "base"] as const;
  const { value, findings, readOnly, project, text, base } = useEditor(store, ...parts);
  const raw = object(object(object(value).materia)[name]);
  const kind = raw.type === "utility" ? "utility" : "agent";
  return (
    <div className={css.forms} role="region" aria-label={`Fields of ${name}`} tabIndex={0}>
      <h2 className="sr">Fields</h2>
      <MateriaForm store={store} raw={raw} kind={kind} readOnly={readOnly} />
      <Found findings={findings.filter((finding) => finding.pointer?.startsWith(`/materia/${name}`))} />
      {kind === "utility" ? <TryIt project={project} materia={name} saved={text === base} /> : null}
    </div>
  );
}

function Uses({ store, name }: { store: EditorStore; name: string }) {
  const { files } = useEditor(store, "files");
  const uses = useMemo(() => usesOf(files, name), [files, name]);
  return (
    <>
      <h2 className="sm strong">
        Used in <span className="faint">{uses.length === 0 ? "no loadout" : ""}</span>
      </h2>
      <ul className={css.uses}>
        {uses.map((use) => (
          <li key={`${use.loadout} ${use.socket}`}>
            <Link to={`/loadouts/${encodeURIComponent(use.loadout)}?sel=socket:${encodeURIComponent(use.socket)}`}>
              {use.loadout}
            </Link>{" "}
            <span className="mono faint">{use.socket}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The sockets that name it, in every loadout. */
function usesOf(files: ConfigFile[], name: string): { loadout: string; socket: string }[] {
  const found = new Map<string, { loadout: string; socket: string }>();
  for (const file of files)
    for (const [loadout, value] of Object.entries(object(object(readText(file.text).value).loadouts)))
      for (const [socket, one] of Object.entries(object(object(value).sockets)))
        if (object(one).materia === name) found.set(`${loadout} ${socket}`, { loadout, socket });
  return [...found.values()];
}

function nameOfCopy(store: EditorStore, from: string): string {
  const taken = [...store.state.materia.keys()];
  return projectFile(store.state.files).file ? freeName(`My-${from}`, taken) : from;
}
