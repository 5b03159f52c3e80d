// Short questions of the editor: what to add, where to connect to, what to call it.
import { type FormEvent, useMemo, useState } from "react";
import type { Condition } from "../../api/generated";
import { likelyCondition } from "../../document";
import { KindIcon } from "../../graph/Graph";
import { Button } from "../../shared/Button";
import { Dialog } from "../../shared/Dialog";
import { Input } from "../../shared/Field";
import { FindField } from "../../shared/FindField";
import { Foot } from "../../shared/Pop";
import palette from "../../shared/palette.module.css";
import { Foreign } from "../../shared/parts";
import { oneLine } from "../../shared/text";
import { add, link, rename } from "./acts";
import css from "./editor.module.css";
import { SelectField } from "./fields";
import { conditions, nameFault, targets } from "./options";
import { badgeOf, fitting, grouped } from "./PalettePane";
import type { Where } from "./state";
import { type EditorStore, useEditor } from "./store";

export function AddSheet({ store, where, onClose }: { store: EditorStore; where: Where; onClose: () => void }) {
  const { materia } = useEditor(store, "materia");
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const found = useMemo(() => {
    const all = grouped(materia).flatMap((group) =>
      group.items.map((one) => ({ key: one.name, one, badge: badgeOf(one, group.name), group: group.name })),
    );
    const list = all.filter(({ one, group }) => fitting(words, one.name, one.label, one.description, one.group, group));
    // What is called so comes before what only mentions it.
    const first = words.toLowerCase();
    return list
      .toSorted((a, b) => Number(b.key.toLowerCase().startsWith(first)) - Number(a.key.toLowerCase().startsWith(first)))
      .slice(0, 12);
  }, [materia, words]);
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
    <Dialog label={title} onClose={onClose} className={palette.palette}>
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
              <Foreign as="span" className="med nowrap" text={oneLine(one.label || one.name, 60)} />
              <Foreign as="span" className="cut grow faint" text={oneLine(one.description, 120)} />
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

export function ConnectSheet({ store, from, onClose }: { store: EditorStore; from: string; onClose: () => void }) {
  const { loadout } = useEditor(store, "loadout");
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const [when, setWhen] = useState<Condition>(() => (loadout ? likelyCondition(loadout, from) : "always"));
  const found = targets({ loadout })
    .filter((one) => fitting(words, one.label))
    .slice(0, 14);
  const take = (to: string | undefined) => {
    if (!to) return;
    onClose();
    link(store, from, to, when);
  };
  const materia = loadout?.sockets.find((one) => one.id === from)?.materia;
  return (
    <Dialog label={`Connect ${from}`} onClose={onClose} className={palette.palette}>
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

export function RenameSheet({ store, id, onClose }: { store: EditorStore; id: string; onClose: () => void }) {
  const loadout = useEditor(store, "loadout");
  return (
    <NameSheet
      title={`Rename ${id}`}
      text="Everything that names it is changed too."
      label="New id"
      testid="rename-input"
      verb="Rename"
      look="mono"
      from={id}
      fault={(typed) => (typed === id ? null : nameFault(loadout, typed))}
      onClose={onClose}
      onName={(typed) => typed !== id && rename(store, id, typed)}
    />
  );
}

interface NameProps {
  title: string;
  text: string;
  label: string;
  testid: string;
  verb: string;
  look?: string;
  from: string;
  /** What is wrong with a name, in words. */
  fault: (name: string) => string | null;
  onClose: () => void;
  onName: (name: string) => void;
}

/** Asks for a name. */
export function NameSheet({ title, text, label, testid, verb, look = "", from, fault, onClose, onName }: NameProps) {
  const [name, setName] = useState(from);
  const wrong = fault(name);
  const done = (event: FormEvent) => {
    event.preventDefault();
    if (wrong) return;
    onClose();
    onName(name);
  };
  return (
    <Dialog label={title} onClose={onClose} className={css.askSheet}>
      <form onSubmit={done}>
        <h2>{title}</h2>
        <p className="dim">{text}</p>
        <Input
          className={look}
          data-autofocus
          data-testid={testid}
          aria-label={label}
          value={name}
          onFocus={(event) => event.target.select()}
          onChange={(event) => setName(event.target.value)}
        />
        {wrong ? <p className={css.err}>{wrong}</p> : null}
        <Foot>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" testid={`${testid}-done`} disabled={wrong !== null}>
            {verb}
          </Button>
        </Foot>
      </form>
    </Dialog>
  );
}
