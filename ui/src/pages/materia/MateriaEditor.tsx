// One materia: its prompt and tools, or its command; and a try of a saved utility, after consent.
import { useMemo, useState } from "react";
import type { ConfigFile } from "../../api/generated";
import { freeName, object } from "../../document";
import { NotOpened } from "../../shared/Boundary";
import { later } from "../../shared/later";
import { Empty } from "../../shared/parts";
import { Link, navigate, searchNow } from "../../shared/router";
import { useKeydown } from "../../shared/useKeydown";
import { Found } from "../editor/fields";
import { projectFile } from "../editor/opening";
import { Problems, summary } from "../editor/Problems";
import { Review } from "../editor/Review";
import { SaveBar, saveReason } from "../editor/SaveBar";
import { readText } from "../editor/state";
import { type EditorStore, useCheck, useEditor } from "../editor/store";
import { useOpened } from "../editor/useOpened";
import { findingsOf } from "../editor/views";
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
  const state = useEditor(store);
  useCheck(store);
  const [review, setReview] = useState(false);
  const findings = useMemo(() => findingsOf(state), [state]);
  const name = state.subject.name;
  const raw = object(object(object(state.value).materia)[name]);
  const uses = useMemo(() => usesOf(state.files, name), [state.files, name]);
  const own = findings.filter((finding) => finding.pointer?.startsWith(`/materia/${name}`));
  useKeydown((event) => {
    if (!(event.ctrlKey || event.metaKey)) return;
    if (event.key === "s") {
      event.preventDefault();
      if (store.state.text !== store.state.base && !saveReason(store.state, findingsOf(store.state))) setReview(true);
    }
    const text = (event.target as HTMLElement).closest("input, textarea");
    if (event.key.toLowerCase() === "z" && !text) event.shiftKey ? store.redo() : store.undo();
  });
  const copy = () =>
    navigate(`/materia/${encodeURIComponent(nameOfCopy(store, name))}?begin=1&from=${encodeURIComponent(name)}`);
  const kind = raw.type === "utility" ? "utility" : "agent";
  return (
    <div className={css.materiaEditor} data-testid="materia-editor">
      <SaveBar store={store} state={state} findings={findings} onReview={() => setReview(true)} onCopy={copy} />
      <div className={css.forms} role="region" aria-label={`Fields of ${name}`} tabIndex={0}>
        <h2 className="sr">Fields</h2>
        <MateriaForm store={store} raw={raw} kind={kind} readOnly={state.readOnly} />
        <Found findings={own} />
        {kind === "utility" ? <TryIt project={state.project} materia={name} saved={state.text === state.base} /> : null}
      </div>
      <section className={css.beside} aria-label="Problems">
        <h2 className="sm strong">
          Problems <span className="faint">{summary(findings)}</span>
        </h2>
        <Problems store={store} state={state} findings={findings} />
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
      </section>
      {review ? <Review store={store} state={state} onClose={() => setReview(false)} /> : null}
      {state.conflict ? <MergeView store={store} conflict={state.conflict} key={state.conflict.mark} /> : null}
    </div>
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
