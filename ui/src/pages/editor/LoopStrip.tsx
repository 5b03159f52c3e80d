// Making a loop from a selection.

import { type FormEvent, useMemo, useState } from "react";
import type { Condition } from "../../api/generated";
import { freeLoopId, inOrder, loopFault, makeLoop } from "../../document";
import { Button } from "../../shared/Button";
import { conditions, targets } from "./options";
import type { EditorState } from "./state";
import type { EditorStore } from "./store";

/** A strip over the canvas: what the loop consumes, and where it leads when no item is left. */
export function LoopStrip(props: { store: EditorStore; state: EditorState; ids: string[]; onClose: () => void }) {
  const { store, state, onClose } = props;
  const loadout = state.loadout;
  const ids = useMemo(() => (loadout ? inOrder(loadout, props.ids) : []), [loadout, props.ids]);
  const generators = (loadout?.sockets ?? []).filter(
    (socket) => state.materia.get(socket.materia)?.generator && !ids.includes(socket.id),
  );
  const feeding = generators.find((one) => one.edges.some((edge) => ids.includes(edge.to))) ?? generators.at(-1);
  const last = ids.at(-1) ?? "";
  const leaves = loadout?.sockets.find((one) => one.id === last)?.edges.find((edge) => !ids.includes(edge.to))?.to;
  const [consumes, setConsumes] = useState(feeding?.id ?? "");
  const [from, setFrom] = useState(last);
  const [when, setWhen] = useState<Condition>(() => {
    const materia = loadout?.sockets.find((one) => one.id === last)?.materia ?? "";
    return state.materia.get(materia)?.parse === "json" ? "satisfied" : "always";
  });
  const [to, setTo] = useState(leaves ?? "end");
  if (!loadout) return null;
  const fault = loopFault(loadout, ids);
  const label = (id: string) => `${loadout.sockets.find((one) => one.id === id)?.materia ?? ""}, ${id}`;
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
      className="strip-form"
      aria-label="Make a loop"
      data-testid="loop-strip"
      onSubmit={make}
      onKeyDown={(event) => event.key === "Escape" && onClose()}
    >
      <strong>Make a loop</strong>
      {fault ? (
        <span className="err" data-testid="loop-fault">
          {fault}
        </span>
      ) : (
        <>
          <label>
            <span>consumes from</span>
            <select
              className="field"
              data-testid="wizard-consumes"
              // biome-ignore lint/a11y/noAutofocus: the question was just asked for
              autoFocus
              value={consumes}
              onChange={(event) => setConsumes(event.target.value)}
            >
              {generators.map((one) => (
                <option key={one.id} value={one.id}>
                  {label(one.id)}
                </option>
              ))}
              <option value="">nothing</option>
            </select>
          </label>
          <label>
            <span>moved on by</span>
            <select
              className="field"
              data-testid="wizard-from"
              value={from}
              onChange={(event) => setFrom(event.target.value)}
            >
              {ids.map((id) => (
                <option key={id} value={id}>
                  {label(id)}
                </option>
              ))}
            </select>
          </label>
          <label>
            <span>if</span>
            <select
              className="field"
              data-testid="wizard-when"
              value={when}
              onChange={(event) => setWhen(event.target.value as Condition)}
            >
              {conditions.map((one) => (
                <option key={one.value} value={one.value}>
                  {one.label}
                </option>
              ))}
            </select>
          </label>
          <label>
            <span>and exits to</span>
            <select
              className="field"
              data-testid="wizard-to"
              value={to}
              onChange={(event) => setTo(event.target.value)}
            >
              {targets(state)
                .filter((one) => !ids.includes(one.value))
                .map((one) => (
                  <option key={one.value} value={one.value}>
                    {one.label}
                  </option>
                ))}
            </select>
          </label>
        </>
      )}
      <span className="grow" />
      <Button look="small" onClick={onClose}>
        Cancel
      </Button>
      {fault ? null : (
        <button type="submit" className="btn small primary" data-testid="make-loop">
          Make the loop
        </button>
      )}
    </form>
  );
}
