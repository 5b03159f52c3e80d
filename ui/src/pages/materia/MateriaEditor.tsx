// One materia: its prompt and tools, or its command; and a try of a saved utility, after consent.
import { useEffect, useMemo, useState } from "react";
import type { ConfigFile } from "../../api/editor";
import type { Json } from "../../api/types";
import { object, strings } from "../../document";
import { noteRefusal } from "../../shared/live";
import { ErrorBox, Seg } from "../../shared/parts";
import { Link, navigate, searchNow } from "../../shared/router";
import { putClean } from "../editor/acts";
import { Found, NumberField, Pairs, Part, Row, SelectField, TextField } from "../editor/fields";
import { MergeView } from "../editor/MergeView";
import { openSubject, projectFile } from "../editor/opening";
import { Problems, summary } from "../editor/Problems";
import { Review } from "../editor/Review";
import { SaveBar, saveReason } from "../editor/SaveBar";
import { readText } from "../editor/state";
import { EditorStore, useEditor } from "../editor/store";
import { useProject } from "../editor/useProject";
import { findingsOf } from "../editor/views";
import { TryIt } from "./TryIt";

export function MateriaEditor({ name }: { name: string }) {
  const project = useProject();
  const [store, setStore] = useState<EditorStore | null>(null);
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    if (!project) return;
    let made: EditorStore | null = null;
    let left = false;
    openSubject(project, { kind: "materia", name })
      .then(({ state, exists }) => {
        if (left) return;
        const from = searchNow().get("from");
        const fresh = !exists && searchNow().get("begin") !== null;
        if (!exists && !fresh) throw new Error(`There is no materia ${name}.`);
        made = new EditorStore(state);
        if (fresh) {
          const copied = from ? made.state.materia.get(from)?.value : undefined;
          made.edit(`new materia ${name}`, (writer) => writer.set(["materia", name], copied ?? { prompt: "" }));
        }
        setStore(made);
      })
      .catch((reason: Error) => {
        noteRefusal(reason);
        if (!left) setError(reason);
      });
    return () => {
      left = true;
      made?.close();
      setStore(null);
    };
  }, [project, name]);
  if (error)
    return (
      <div className="page">
        <h1>{name}</h1>
        <ErrorBox error={error} />
        <Link to="/materia">All materia</Link>
      </div>
    );
  return store ? <Opened store={store} /> : <p className="empty">Opening.</p>;
}

function Opened({ store }: { store: EditorStore }) {
  const state = useEditor(store);
  const [review, setReview] = useState(false);
  const findings = useMemo(() => findingsOf(state), [state]);
  const name = state.subject.name;
  const raw = object(object(object(state.value).materia)[name]);
  const uses = useMemo(() => usesOf(state.files, name), [state.files, name]);
  const own = findings.filter((finding) => finding.pointer?.startsWith(`/materia/${name}`));
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey)) return;
      if (event.key === "s") {
        event.preventDefault();
        if (store.state.text !== store.state.base && !saveReason(store.state, findingsOf(store.state))) setReview(true);
      }
      const text = (event.target as HTMLElement).closest("input, textarea");
      if (event.key.toLowerCase() === "z" && !text) event.shiftKey ? store.redo() : store.undo();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [store]);
  const copy = () =>
    navigate(`/materia/${encodeURIComponent(freeName(store, name))}?begin=1&from=${encodeURIComponent(name)}`);
  const kind = raw.type === "utility" ? "utility" : "agent";
  return (
    <div className="materia-editor" data-testid="materia-editor">
      <SaveBar store={store} state={state} findings={findings} onReview={() => setReview(true)} onCopy={copy} />
      <div className="forms" role="region" aria-label={`Fields of ${name}`} tabIndex={0}>
        <Form store={store} raw={raw} kind={kind} readOnly={state.readOnly} />
        <Found findings={own} />
        {kind === "utility" ? <TryIt project={state.project} materia={name} saved={state.text === state.base} /> : null}
      </div>
      <section className="beside" aria-label="Problems">
        <h2 className="sm strong">
          Problems <span className="faint">{summary(findings)}</span>
        </h2>
        <Problems store={store} state={state} findings={findings} />
        <h2 className="sm strong">
          Used in <span className="faint">{uses.length === 0 ? "no loadout" : ""}</span>
        </h2>
        <ul className="uses">
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

function freeName(store: EditorStore, from: string): string {
  let name = `My-${from}`;
  for (let number = 2; store.state.materia.has(name); number += 1) name = `My-${from}-${number}`;
  return projectFile(store.state.files).file ? name : from;
}

function Form(props: { store: EditorStore; raw: { [key: string]: Json }; kind: string; readOnly: boolean }) {
  const { store, raw, kind, readOnly: off } = props;
  const name = store.state.subject.name;
  const put = (field: string) => (value: Json | undefined) =>
    store.edit(
      `${field} of ${name}`,
      (writer) => putClean(writer, ["materia", name, field], value, 2),
      `${name} ${field}`,
    );
  const word = (field: string) => (typeof raw[field] === "string" ? (raw[field] as string) : "");
  const tools = raw.tools;
  const asked = typeof raw.prompt === "string" ? raw.prompt : "";
  return (
    <>
      <Part title="Kind">
        <div className="row">
          <Seg
            label="Kind"
            now={kind}
            disabled={off}
            items={[
              { id: "agent", label: "agent" },
              { id: "utility", label: "utility" },
            ]}
            onPick={(value) => put("type")(value === "agent" ? undefined : value)}
          />
          <label className="check flat">
            <input
              type="checkbox"
              checked={raw.generator === true}
              disabled={off}
              onChange={(event) => put("generator")(event.target.checked || undefined)}
            />
            Generator: it makes work items
          </label>
        </div>
      </Part>
      <Part title="For people">
        <Row label="Description">
          <TextField label="Description" disabled={off} value={word("description")} onChange={put("description")} />
        </Row>
        <Row label="Label">
          <TextField label="Label" disabled={off} value={word("label")} placeholder={name} onChange={put("label")} />
        </Row>
        <Row label="Group">
          <TextField label="Group" disabled={off} value={word("group")} onChange={put("group")} />
        </Row>
        <Row label="Colour">
          <span className="row">
            <input
              type="color"
              aria-label="Colour"
              disabled={off}
              value={/^#[0-9a-f]{6}$/i.test(word("color")) ? word("color") : "#808080"}
              onChange={(event) => put("color")(event.target.value)}
            />
            <TextField
              label="Colour as text"
              mono
              disabled={off}
              value={word("color")}
              placeholder="#3f7ad8"
              onChange={put("color")}
            />
          </span>
        </Row>
      </Part>
      {kind === "agent" ? (
        <Part title="What it is asked" hint={typeof raw.prompt === "object" ? "from a file" : ""}>
          {raw.prompt !== undefined && typeof raw.prompt !== "string" ? (
            <pre className="text asked" tabIndex={0}>
              {JSON.stringify(raw.prompt, null, 2)}
            </pre>
          ) : (
            <textarea
              className="field"
              rows={12}
              aria-label="Prompt"
              data-testid="materia-prompt"
              disabled={off}
              value={asked}
              onChange={(event) => put("prompt")(event.target.value)}
            />
          )}
        </Part>
      ) : (
        <Part title="What runs" hint="no shell reads it; a word a line">
          {raw.script ? (
            <pre className="text asked" tabIndex={0}>
              {JSON.stringify(raw.script, null, 2)}
            </pre>
          ) : (
            <textarea
              className="field mono"
              rows={4}
              aria-label="Command, a word a line"
              data-testid="materia-command"
              disabled={off}
              value={strings(raw.command).join("\n")}
              onChange={(event) =>
                put("command")(event.target.value === "" ? undefined : event.target.value.split("\n"))
              }
            />
          )}
        </Part>
      )}
      <Part title="Running">
        <Row label="Output">
          <Seg
            label="Output is read as"
            small
            disabled={off}
            now={word("parse") || (raw.generator === true ? "json" : "text")}
            items={[
              { id: "text", label: "text" },
              { id: "json", label: "json" },
            ]}
            onPick={put("parse")}
          />
        </Row>
        {kind === "agent" ? (
          <>
            <Row label="Tools">
              <SelectField
                label="Tools"
                testid="materia-tools"
                disabled={off || Array.isArray(tools)}
                value={Array.isArray(tools) ? "list" : typeof tools === "string" ? tools : ""}
                options={[
                  { value: "", label: "as usual" },
                  { value: "none", label: "none" },
                  { value: "readOnly", label: "read only" },
                  { value: "coding", label: "coding" },
                  ...(Array.isArray(tools) ? [{ value: "list", label: tools.join(", ") }] : []),
                ]}
                onChange={(value) => put("tools")(value || undefined)}
              />
            </Row>
            <Row label="Model">
              <TextField
                label="Model"
                mono
                disabled={off}
                value={word("model")}
                placeholder="the agent's own"
                onChange={put("model")}
              />
            </Row>
            <Row label="Agent">
              <TextField
                label="Provider"
                mono
                disabled={off}
                value={word("provider")}
                placeholder="the first installed"
                onChange={put("provider")}
              />
            </Row>
            <Row label="Multi-turn">
              <label className="check flat">
                <input
                  type="checkbox"
                  checked={raw.multiTurn === true}
                  disabled={off}
                  onChange={(event) => put("multiTurn")(event.target.checked || undefined)}
                />
                It waits for a person after each answer
              </label>
            </Row>
          </>
        ) : (
          <>
            <Row label="Folder">
              <TextField
                label="Folder"
                mono
                disabled={off}
                value={word("cwd")}
                placeholder="the project"
                onChange={put("cwd")}
              />
            </Row>
            <Row label="Verdict">
              <SelectField
                label="Verdict"
                disabled={off}
                value={word("verdict")}
                options={[
                  { value: "", label: "from its output" },
                  { value: "exitCode", label: "from its exit code" },
                ]}
                onChange={(value) => put("verdict")(value || undefined)}
              />
            </Row>
          </>
        )}
        <Row label="Time, ms">
          <NumberField
            label="Time"
            disabled={off}
            value={raw.timeoutMs}
            placeholder={kind === "utility" ? "30000" : "no limit"}
            onChange={put("timeoutMs")}
          />
        </Row>
      </Part>
      {kind === "utility" ? (
        <Part title="Environment">
          <Pairs
            label="Environment"
            disabled={off}
            names={["Name", "Value"]}
            add="Add a variable"
            value={object(raw.env)}
            onChange={put("env")}
          />
        </Part>
      ) : null}
      <Part title="Assign" hint="output to state">
        <Pairs
          label="Assign"
          disabled={off}
          names={["Target", "Source"]}
          add="Add a target"
          value={object(raw.assign)}
          onChange={put("assign")}
        />
      </Part>
    </>
  );
}
