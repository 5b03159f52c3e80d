// Making a loop from a selection: a strip over the canvas asks what it consumes and where it leads at last.
import { type ComponentProps, type FormEvent, useMemo, useState } from "react";
import type { Condition } from "../../api/generated";
import { freeLoopId, inOrder, loopFault, makeLoop } from "../../document";
import { Button } from "../../shared/Button";
import css from "./editor.module.css";
import { SelectField } from "./fields";
import { conditions, targets } from "./options";
import { type EditorStore, useEditor } from "./store";

export function LoopStrip(props: { store: EditorStore; ids: string[]; onClose: () => void }) {
  const { store, onClose } = props;
  const { loadout, materia } = useEditor(store, "loadout", "materia");
  const ids = useMemo(() => (loadout ? inOrder(loadout, props.ids) : []), [loadout, props.ids]);
  const generators = (loadout?.sockets ?? []).filter(
    (socket) => materia.get(socket.materia)?.generator && !ids.includes(socket.id),
  );
  const feeding = generators.find((one) => one.edges.some((edge) => ids.includes(edge.to))) ?? generators.at(-1);
  const last = ids.at(-1) ?? "";
  const leaves = loadout?.sockets.find((one) => one.id === last)?.edges.find((edge) => !ids.includes(edge.to))?.to;
  const [consumes, setConsumes] = useState(feeding?.id ?? "");
  const [from, setFrom] = useState(last);
  const [when, setWhen] = useState<Condition>(() => {
    const own = loadout?.sockets.find((one) => one.id === last)?.materia ?? "";
    return materia.get(own)?.parse === "json" ? "satisfied" : "always";
  });
  const [to, setTo] = useState(leaves ?? "end");
  if (!loadout) return null;
  const fault = loopFault(loadout, ids);
  const named = (id: string) => ({
    value: id,
    label: `${loadout.sockets.find((one) => one.id === id)?.materia ?? ""}, ${id}`,
  });
  const make = (event: FormEvent) => {
    event.preventDefault();
    const id = freeLoopId(loadout);
    store.edit(`make the loop ${id}`, (writer) =>
      makeLoop(writer, loadout.name, {
        id,
        sockets: ids,
        consumes: consumes || null,
        advance: when,
        exits: [{ from, condition: when, to }],
      }),
    );
    store.select([{ kind: "loop", id }]);
    onClose();
  };
  return (
    <form
      className={css.stripForm}
      aria-label="Make a loop"
      data-testid="loop-strip"
      onSubmit={make}
      onKeyDown={(event) => event.key === "Escape" && onClose()}
    >
      <strong>Make a loop</strong>
      {fault ? (
        <span className={css.err} data-testid="loop-fault">
          {fault}
        </span>
      ) : (
        <>
          <Asked
            words="consumes from"
            testid="wizard-consumes"
            value={consumes}
            options={[...generators.map((one) => named(one.id)), { value: "", label: "nothing" }]}
            onChange={setConsumes}
            first
          />
          <Asked words="moved on by" testid="wizard-from" value={from} options={ids.map(named)} onChange={setFrom} />
          <Asked
            words="if"
            testid="wizard-when"
            value={when}
            options={conditions}
            onChange={(value) => setWhen(value as Condition)}
          />
          <Asked
            words="and exits to"
            testid="wizard-to"
            value={to}
            options={targets({ loadout }).filter((one) => !ids.includes(one.value))}
            onChange={setTo}
          />
        </>
      )}
      <span className="grow" />
      <Button look="small" onClick={onClose}>
        Cancel
      </Button>
      {fault ? null : (
        <Button type="submit" look="small primary" data-testid="make-loop">
          Make the loop
        </Button>
      )}
    </form>
  );
}

function Asked({ words, ...field }: Omit<ComponentProps<typeof SelectField>, "label"> & { words: string }) {
  return (
    <div className="row">
      <span aria-hidden="true">{words}</span>
      <SelectField label={words} {...field} />
    </div>
  );
}
