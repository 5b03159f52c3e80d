// The inspector of a loop: what it consumes, who is in it, where it leads.
import { Plus, X } from "lucide-react";
import type { Condition } from "../../api/generated";
import {
  addExit,
  exitEdgeId,
  goodId,
  type LoopDoc,
  removeExit,
  renameLoop,
  setConsumes,
  setExit,
  setMembers,
  ungroup,
} from "../../document";
import { Button, IconButton } from "../../shared/Button";
import { Check } from "../../shared/Table";
import css from "./editor.module.css";
import { type FormProps, Found, NameField, Part, SelectField } from "./fields";
import { conditions, targets } from "./options";
import { useEditor } from "./store";

export function LoopForm({ store, loop, findings }: FormProps & { loop: LoopDoc }) {
  const { loadout, readOnly: off, materia } = useEditor(store, "loadout", "readOnly", "materia");
  const { name } = store.state.subject;
  if (!loadout) return null;
  const generators = loadout.sockets.filter((socket) => materia.get(socket.materia)?.generator);
  const consumes = [
    { value: "", label: "nothing" },
    ...generators
      .filter((socket) => !loop.sockets.includes(socket.id))
      .map((socket) => ({ value: socket.id, label: `${socket.materia}, ${socket.id}` })),
  ];
  const members = loadout.sockets.filter((socket) => loop.sockets.includes(socket.id));
  return (
    <>
      <Part title="Loop">
        <NameField
          label="Name of the loop"
          testid="loop-id"
          disabled={off}
          value={loop.id}
          fault={(to) =>
            goodId(to)
              ? loadout.loops.some((one) => one.id === to)
                ? `There is a loop ${to} already.`
                : null
              : "Use letters, digits, dots, hyphens and underscores."
          }
          onDone={(to) => {
            store.edit(`rename ${loop.id}`, (writer) => renameLoop(writer, name, loop.id, to));
            store.select([{ kind: "loop", id: to }]);
          }}
        />
        <Found findings={findings} />
      </Part>
      <Part title="Consumes from" hint="a generator">
        <SelectField
          label="Consumes from"
          testid="loop-consumes"
          disabled={off}
          value={loop.consumes ?? ""}
          options={consumes}
          onChange={(value) => store.edit("consumes", (writer) => setConsumes(writer, name, loop.id, value || null))}
        />
      </Part>
      <Part title="Sockets" hint="each runs once for each item">
        <ul className={css.members}>
          {loadout.sockets.map((socket) => (
            <li key={socket.id}>
              <Check
                className=""
                checked={loop.sockets.includes(socket.id)}
                disabled={off || (loop.sockets.length === 1 && loop.sockets[0] === socket.id)}
                onTick={(ticked) => {
                  const others = loop.sockets.filter((id) => id !== socket.id);
                  const ids = ticked ? [...others, socket.id] : others;
                  store.edit("sockets of the loop", (writer) => setMembers(writer, name, loop.id, ids));
                }}
              >
                {socket.materia} <span className="mono faint">{socket.id}</span>
              </Check>
            </li>
          ))}
        </ul>
      </Part>
      <Part title="Exits" hint="when no item is left">
        <ul className={css.exits} data-testid="exits">
          {loop.exits.map((exit, index) => {
            const edge = exitEdgeId(loop.id, exit.id);
            const write = (part: { condition?: Condition; to?: string; from?: string }) =>
              store.edit("change the exit", (writer) => setExit(writer, name, edge, part));
            return (
              <li key={exit.id}>
                <SelectField
                  label={`Exit ${index + 1} leaves from`}
                  disabled={off}
                  value={exit.from}
                  options={members.map((one) => ({ value: one.id, label: `${one.materia}, ${one.id}` }))}
                  onChange={(from) => write({ from })}
                />
                <SelectField
                  label={`Condition of exit ${index + 1}`}
                  testid={`exit-when-${index}`}
                  disabled={off}
                  value={exit.condition}
                  options={conditions}
                  onChange={(condition) => write({ condition: condition as Condition })}
                />
                <SelectField
                  label={`Target of exit ${index + 1}`}
                  testid={`exit-to-${index}`}
                  disabled={off}
                  value={exit.to}
                  options={targets({ loadout })}
                  onChange={(to) => write({ to })}
                />
                <IconButton
                  icon={X}
                  label={`Remove exit ${index + 1}`}
                  disabled={off}
                  onClick={() => store.edit("remove the exit", (writer) => removeExit(writer, name, edge))}
                />
              </li>
            );
          })}
        </ul>
        <Button
          icon={Plus}
          className={css.addline}
          look="quiet small"
          disabled={off}
          onClick={() =>
            store.edit("add an exit", (writer) => {
              const last = members.findLast((one) => one.raw.advance) ?? members.at(-1);
              if (last) addExit(writer, name, loop.id, last.id, "end");
            })
          }
        >
          Add an exit
        </Button>
        <p className={css.hint}>
          A verdict of true takes satisfied, else always, else the end. False takes not satisfied, else always, else the
          end. No verdict takes always, else the end.
        </p>
      </Part>
      <div className={css.f}>
        <Button
          look="small"
          disabled={off}
          data-testid="ungroup"
          onClick={() => store.edit(`ungroup ${loop.id}`, (writer) => ungroup(writer, name, loop.id))}
        >
          Ungroup <kbd>Ctrl Shift G</kbd>
        </Button>
      </div>
    </>
  );
}
