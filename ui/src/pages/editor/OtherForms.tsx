// The inspector of an edge, a loop and the loadout itself.
import { Plus, X } from "lucide-react";
import type { Condition, Finding, Json } from "../../api/types";
import {
  addExit,
  at,
  edgeById,
  exitEdgeId,
  exitOf,
  goodId,
  type LoopDoc,
  object,
  removeExit,
  renameLoop,
  setConsumes,
  setExit,
  setMembers,
  ungroup,
} from "../../document";
import { Seg } from "../../shared/parts";
import { changeEdge, setLoadout } from "./acts";
import { Found, NameField, NumberField, Part, Row, SelectField, TextField } from "./fields";
import { conditions, targets } from "./SocketForm";
import type { EditorState } from "./state";
import type { EditorStore } from "./store";

interface FormProps {
  store: EditorStore;
  state: EditorState;
  findings: Finding[];
}

export function EdgeForm({ store, state, id, findings }: FormProps & { id: string }) {
  const { loadout, readOnly: off } = state;
  const found = loadout ? edgeById(loadout, id) : null;
  const exit = loadout && !found ? exitOf(loadout, id) : null;
  const put = (field: string) => (value: string | number | undefined) =>
    changeEdge(store, id, field, value, `${id} ${field}`);
  const when = found?.edge.when ?? exit?.exit.condition ?? "always";
  const raw = found?.edge.raw ?? {};
  const where = object(raw.where);
  return (
    <>
      <Part title="Condition">
        <Seg
          label="Condition"
          now={when}
          disabled={off}
          items={conditions.map(({ value, label }) => ({ id: value, label }))}
          onPick={(value: Condition) => changeEdge(store, id, "when", value)}
        />
        <Found findings={findings} />
      </Part>
      <Part title="Leads to">
        <SelectField
          label="Leads to"
          testid="edge-target"
          disabled={off}
          value={found?.edge.to ?? exit?.exit.to ?? ""}
          options={targets(state)}
          onChange={(value) => changeEdge(store, id, "to", value)}
        />
        {exit ? (
          <p className="hint">
            An exit of the loop {exit.loop.id}, taken when no item is left and {exit.exit.from} ended it.
          </p>
        ) : null}
      </Part>
      {found ? (
        <>
          <Part title="Bounds">
            <Row label="At most">
              <NumberField
                label="At most, for one item"
                testid="edge-max"
                disabled={off}
                value={raw.maxTraversals}
                placeholder="no bound"
                onChange={put("maxTraversals")}
              />
            </Row>
          </Part>
          <Part title="Delivery" hint="how payloads wait on it">
            <Row label="Mode">
              <SelectField
                label="Delivery mode"
                testid="edge-delivery"
                disabled={off}
                value={typeof raw.deliveryMode === "string" ? raw.deliveryMode : "queue"}
                options={[
                  { value: "queue", label: "queue" },
                  { value: "latest", label: "latest only" },
                  { value: "debounce", label: "after a quiet period" },
                  { value: "drop_if_busy", label: "drop if busy" },
                ]}
                onChange={(value) => put("deliveryMode")(value === "queue" ? undefined : value)}
              />
            </Row>
            {raw.deliveryMode === "debounce" ? (
              <Row label="Quiet, ms">
                <NumberField label="Quiet period" disabled={off} value={raw.debounceMs} onChange={put("debounceMs")} />
              </Row>
            ) : null}
            <Row label="Holds">
              <NumberField
                label="How many may wait"
                disabled={off}
                value={raw.maxBuffered}
                placeholder="as usual"
                onChange={put("maxBuffered")}
              />
            </Row>
          </Part>
          <Part title="Also asks" hint="one comparison with state">
            <Row label="Path">
              <TextField
                label="Path"
                mono
                disabled={off}
                value={typeof where.path === "string" ? where.path : ""}
                placeholder="state.vcs.kind"
                onChange={(value) =>
                  changeEdge(
                    store,
                    id,
                    "where",
                    value ? { equals: "", ...where, path: value } : undefined,
                    `${id} where`,
                  )
                }
              />
            </Row>
            {where.path !== undefined && "equals" in where ? (
              <Row label="Equals">
                <TextField
                  label="Equals"
                  mono
                  disabled={off}
                  value={typeof where.equals === "string" ? where.equals : JSON.stringify(where.equals)}
                  onChange={(value) =>
                    changeEdge(store, id, "where", { ...where, equals: literal(value ?? "") }, `${id} where`)
                  }
                />
              </Row>
            ) : null}
          </Part>
        </>
      ) : null}
    </>
  );
}

/** A number, true, false or null as such; anything else is text. */
function literal(text: string): Json {
  return /^(true|false|null|-?\d+(\.\d+)?)$/.test(text) ? (JSON.parse(text) as Json) : text;
}

export function LoopForm({ store, state, loop, findings }: FormProps & { loop: LoopDoc }) {
  const { loadout, readOnly: off, materia } = state;
  const name = state.subject.name;
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
              : "Use letters, digits, dots, lines."
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
        <ul className="members">
          {loadout.sockets.map((socket) => (
            <li key={socket.id}>
              <label>
                <input
                  type="checkbox"
                  checked={loop.sockets.includes(socket.id)}
                  disabled={off || (loop.sockets.length === 1 && loop.sockets[0] === socket.id)}
                  onChange={(event) => {
                    const ids = event.target.checked
                      ? [...loop.sockets, socket.id]
                      : loop.sockets.filter((id) => id !== socket.id);
                    store.edit("sockets of the loop", (writer) => setMembers(writer, name, loop.id, ids));
                  }}
                />
                {socket.materia} <span className="mono faint">{socket.id}</span>
              </label>
            </li>
          ))}
        </ul>
      </Part>
      <Part title="Exits" hint="when no item is left">
        <ul className="exits" data-testid="exits">
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
                  options={targets(state)}
                  onChange={(to) => write({ to })}
                />
                <button
                  type="button"
                  className="btn quiet small icon"
                  aria-label={`Remove exit ${index + 1}`}
                  disabled={off}
                  onClick={() => store.edit("remove the exit", (writer) => removeExit(writer, name, edge))}
                >
                  <X className="ico s" />
                </button>
              </li>
            );
          })}
        </ul>
        <button
          type="button"
          className="btn quiet small addline"
          disabled={off}
          onClick={() =>
            store.edit("add an exit", (writer) => {
              const last = members.findLast((one) => one.raw.advance) ?? members.at(-1);
              if (last) addExit(writer, name, loop.id, last.id, "end");
            })
          }
        >
          <Plus className="ico s" />
          Add an exit
        </button>
        <p className="hint">
          A verdict of true takes satisfied, else always, else the end. False takes not satisfied, else always, else the
          end. No verdict takes always, else the end.
        </p>
      </Part>
      <div className="f">
        <button
          type="button"
          className="btn small"
          disabled={off}
          data-testid="ungroup"
          onClick={() => store.edit(`ungroup ${loop.id}`, (writer) => ungroup(writer, name, loop.id))}
        >
          Ungroup <kbd>Ctrl Shift G</kbd>
        </button>
      </div>
    </>
  );
}

export function LoadoutForm({ store, state, findings }: FormProps) {
  const { loadout, readOnly: off, value } = state;
  if (!loadout) return null;
  const active = object(value).activeLoadout === loadout.name;
  const budget = object(object(value).budget);
  const setBudget = (field: string) => (amount: number | undefined) =>
    store.edit("budget", (writer) => writer.put(["budget", field], amount), `budget ${field}`);
  return (
    <>
      <Part title="Loadout">
        <Row label="Begins at">
          <SelectField
            label="Entry"
            testid="loadout-entry"
            disabled={off}
            value={loadout.entry ?? ""}
            options={targets(state).filter((one) => one.value !== "end")}
            onChange={(entry) => store.edit("entry", (writer) => writer.set(at(loadout.name, "entry"), entry, true))}
          />
        </Row>
        <label className="stack6">
          <span className="k">What it is for</span>
          <textarea
            className="field"
            rows={3}
            disabled={off}
            value={loadout.description}
            onChange={(event) => setLoadout(store, ["description"], event.target.value || undefined, "description")}
          />
        </label>
        <Found findings={findings} />
        <label className="check">
          <input
            type="checkbox"
            checked={active}
            disabled={off}
            onChange={(event) =>
              store.edit("active loadout", (writer) =>
                event.target.checked
                  ? writer.set(["activeLoadout"], loadout.name, true)
                  : writer.remove(["activeLoadout"]),
              )
            }
          />
          Casts take it when none is named
        </label>
      </Part>
      <Part title="Budget" hint="of the whole file">
        <Row label="Turns">
          <NumberField
            label="Most turns"
            disabled={off}
            value={budget.maxTurns}
            placeholder="no bound"
            onChange={setBudget("maxTurns")}
          />
        </Row>
        <Row label="Tokens">
          <NumberField
            label="Most tokens"
            disabled={off}
            value={budget.maxTokens}
            placeholder="no bound"
            onChange={setBudget("maxTokens")}
          />
        </Row>
        <Row label="Cost">
          <NumberField
            label="Most cost"
            disabled={off}
            value={budget.maxCost}
            placeholder="no bound"
            onChange={setBudget("maxCost")}
          />
        </Row>
      </Part>
      <Part title="In it">
        <p className="dim sm">
          {loadout.sockets.length} sockets, {loadout.sockets.reduce((sum, one) => sum + one.edges.length, 0)} edges,{" "}
          {loadout.loops.length} loops
        </p>
      </Part>
    </>
  );
}
