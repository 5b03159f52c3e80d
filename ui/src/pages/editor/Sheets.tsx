// Short questions of the editor: what to add, where to connect to, what to call it.

import { type FormEvent, useMemo, useState } from "react";
import type { Condition } from "../../api/generated";
import { likelyCondition } from "../../document";
import { KindIcon } from "../../graph/Graph";
import { Button } from "../../shared/Button";
import { Dialog } from "../../shared/Dialog";
import { FindField } from "../../shared/FindField";
import { Foreign } from "../../shared/parts";
import { oneLine } from "../../shared/text";
import { add, link, rename, type Where } from "./acts";
import { SelectField } from "./fields";
import { conditions, nameFault, targets } from "./options";
import { badgeOf, fitting, grouped } from "./PalettePane";
import type { EditorState } from "./state";
import type { EditorStore } from "./store";

export function AddSheet(props: { store: EditorStore; state: EditorState; where: Where; onClose: () => void }) {
  const { store, state, where, onClose } = props;
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const found = useMemo(() => {
    const all = grouped(state.materia).flatMap((group) =>
      group.items.map((one) => ({ key: one.name, one, badge: badgeOf(one, group.name), group: group.name })),
    );
    const list = all.filter(({ one, group }) => fitting(words, one.name, one.label, one.description, one.group, group));
    // What is called so comes before what only mentions it.
    const first = words.toLowerCase();
    return list
      .toSorted((a, b) => Number(b.key.toLowerCase().startsWith(first)) - Number(a.key.toLowerCase().startsWith(first)))
      .slice(0, 12);
  }, [state.materia, words]);
  const ends = where.from && fitting(words, "end");
  const take = (name: string | null) => {
    onClose();
    if (name === null && where.from) link(store, where.from, "end");
    else if (name !== null) add(store, name, where);
  };
  const count = found.length + (ends ? 1 : 0);
  const pick = (index: number) => {
    const one = found[index];
    if (one) take(one.key);
    else if (ends && index === found.length) take(null);
  };
  const title = where.edge
    ? "Put between"
    : where.from
      ? `Connect ${where.from} to`
      : where.after
        ? `Add after ${where.after}`
        : "Add";
  return (
    <Dialog label={title} onClose={onClose} className="palette">
      <FindField
        data-testid="add-input"
        aria-label={title}
        placeholder={`${title}: name of a materia`}
        value={words}
        count={count}
        at={at}
        setAt={setAt}
        onWords={setWords}
        onTake={() => pick(at)}
      />
      <ul data-testid="add-list">
        {found.map(({ key, one, badge }, index) => (
          <li key={key}>
            <button type="button" aria-current={index === at} onClick={() => take(key)}>
              <KindIcon kind={one.generator ? "generator" : one.kind} />
              <span className="med nowrap">
                <Foreign text={oneLine(one.label || one.name, 60)} />
              </span>
              <span className="cut grow faint">
                <Foreign text={oneLine(one.description, 120)} />
              </span>
              <span className="faint sm">{badge}</span>
            </button>
          </li>
        ))}
        {ends ? (
          <li>
            <button type="button" aria-current={at === found.length} data-testid="add-end" onClick={() => take(null)}>
              <span className="med">end</span>
              <span className="faint">The cast ends there.</span>
            </button>
          </li>
        ) : null}
      </ul>
      {count === 0 ? <p className="faint">No materia matches.</p> : null}
    </Dialog>
  );
}

export function ConnectSheet(props: { store: EditorStore; state: EditorState; from: string; onClose: () => void }) {
  const { store, state, from, onClose } = props;
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const [when, setWhen] = useState<Condition>(() => (state.loadout ? likelyCondition(state.loadout, from) : "always"));
  const found = targets(state)
    .filter((one) => fitting(words, one.label))
    .slice(0, 14);
  const take = (to: string | undefined) => {
    if (!to) return;
    onClose();
    link(store, from, to, when);
  };
  const materia = state.loadout?.sockets.find((one) => one.id === from)?.materia;
  return (
    <Dialog label={`Connect ${from}`} onClose={onClose} className="palette">
      <div className="row">
        <span className="nowrap">
          {materia}, {from}
        </span>
        <SelectField
          label="Condition"
          testid="connect-when"
          value={when}
          options={conditions}
          onChange={(value) => setWhen(value as Condition)}
        />
        <FindField
          data-testid="connect-input"
          aria-label="Leads to"
          placeholder="leads to"
          value={words}
          count={found.length}
          at={at}
          setAt={setAt}
          onWords={setWords}
          onTake={() => take(found[at]?.value)}
        />
      </div>
      <ul>
        {found.map((one, index) => (
          <li key={one.value}>
            <button type="button" aria-current={index === at} onClick={() => take(one.value)}>
              {one.label}
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

export function RenameSheet(props: { store: EditorStore; state: EditorState; id: string; onClose: () => void }) {
  const [typed, setTyped] = useState(props.id);
  const fault = typed === props.id ? null : nameFault(props.state, typed);
  const done = (event: FormEvent) => {
    event.preventDefault();
    if (fault) return;
    props.onClose();
    if (typed !== props.id) rename(props.store, props.id, typed);
  };
  return (
    <Dialog label={`Rename ${props.id}`} onClose={props.onClose} className="ask-sheet">
      <form onSubmit={done}>
        <h2>Rename {props.id}</h2>
        <p className="dim">Everything that names it is changed too.</p>
        <input
          className="field mono"
          data-autofocus
          data-testid="rename-input"
          aria-label="New id"
          value={typed}
          onFocus={(event) => event.target.select()}
          onChange={(event) => setTyped(event.target.value)}
        />
        {fault ? <p className="err">{fault}</p> : null}
        <div className="foot">
          <Button onClick={props.onClose}>Cancel</Button>
          <button type="submit" className="btn primary" disabled={fault !== null}>
            Rename
          </button>
        </div>
      </form>
    </Dialog>
  );
}
