import type { Finding } from "../../api/types";
import { innermost, object, type SocketDoc, strings } from "../../document";
import { Seg } from "../../shared/parts";
import { rename, setSocket } from "./acts";
import { EdgeRows } from "./EdgeRows";
import { Found, NameField, NumberField, Pairs, Part, Row, SelectField, TextField } from "./fields";
import { conditions, nameFault, targets } from "./options";
import type { EditorState } from "./state";
import type { EditorStore } from "./store";

interface FormProps {
  store: EditorStore;
  state: EditorState;
  socket: SocketDoc;
  findings: Finding[];
}

export function SocketForm({ store, state, socket, findings }: FormProps) {
  const { raw, id } = socket;
  const off = state.readOnly;
  const info = state.materia.get(socket.materia);
  const put = (field: string, value: Parameters<typeof setSocket>[3], ...more: string[]) =>
    setSocket(store, id, [field, ...more], value, `${id} ${field} ${more.join(" ")}`);
  const parse = typeof raw.parse === "string" ? raw.parse : (info?.parse ?? "text");
  const word = (field: string, usual: string) => (typeof raw[field] === "string" ? (raw[field] as string) : usual);
  const budgets = object(raw.budgets);
  return (
    <>
      <Part title="Materia">
        <SelectField
          label="Materia"
          testid="socket-materia"
          disabled={off}
          value={socket.materia}
          options={[...state.materia.values()].map((one) => ({
            value: one.name,
            label: `${one.name}${one.layer === "shipped" ? ", shipped" : ""}`,
          }))}
          onChange={(value) => put("materia", value)}
        />
        <div className="under">
          <Row label="Socket">
            <NameField
              label="Id of the socket"
              testid="socket-id"
              disabled={off}
              value={id}
              fault={(to) => nameFault(state, to)}
              onDone={(to) => rename(store, id, to)}
            />
          </Row>
        </div>
      </Part>
      <Part title="Output is read as">
        <Seg
          label="Output is read as"
          now={parse}
          disabled={off}
          items={[
            { id: "text", label: "text" },
            { id: "json", label: "json" },
          ]}
          onPick={(value) =>
            put("parse", value === (info?.parse ?? "text") && raw.parse === undefined ? undefined : value)
          }
        />
        <Found findings={findings} />
      </Part>
      <Part
        title="Edges"
        hint={raw.routing === "all" ? "every one that matches is taken" : "the first that matches is taken"}
      >
        <EdgeRows store={store} state={state} socket={socket} />
        <div className="under">
          <Row label="On failure">
            <SelectField
              label="On failure"
              testid="socket-failure"
              disabled={off}
              value={socket.onFailure?.to ?? ""}
              options={[{ value: "", label: "the cast fails" }, ...targets(state).filter((one) => one.value !== id)]}
              onChange={(value) =>
                !value
                  ? put("onFailure", undefined)
                  : raw.onFailure
                    ? put("onFailure", value, "to")
                    : put("onFailure", { to: value })
              }
            />
          </Row>
        </div>
      </Part>
      <Part title="Limits">
        <Row label="Time, ms">
          <NumberField
            label="Time of a turn in milliseconds"
            testid="socket-timeout"
            disabled={off}
            value={raw.timeoutMs}
            placeholder={info?.kind === "utility" ? "30000" : "no limit"}
            onChange={(value) => put("timeoutMs", value)}
          />
        </Row>
        <Row label="Turns">
          <NumberField
            label="Turns"
            disabled={off}
            value={budgets.turns}
            placeholder="no limit"
            onChange={(value) => put("budgets", value, "turns")}
          />
        </Row>
        <Row label="Cost">
          <NumberField
            label="Cost"
            disabled={off}
            value={budgets.cost}
            placeholder="no limit"
            onChange={(value) => put("budgets", value, "cost")}
          />
        </Row>
      </Part>
      <Part title="Running">
        <Row label="Starts">
          <SelectField
            label="Starts"
            testid="socket-trigger"
            disabled={off}
            value={word("trigger", "on_any_input")}
            options={[
              { value: "on_any_input", label: "on any input" },
              { value: "manual_only", label: "by hand only" },
              { value: "scheduled", label: "by the clock" },
            ]}
            onChange={(value) => put("trigger", value === "on_any_input" ? undefined : value)}
          />
        </Row>
        {raw.trigger === "scheduled" ? (
          <>
            <Row label="Every, ms">
              <NumberField
                label="Interval"
                disabled={off}
                value={raw.intervalMs}
                onChange={(value) => put("intervalMs", value)}
              />
            </Row>
            <Row label="Or cron">
              <TextField
                label="Cron"
                mono
                disabled={off}
                value={word("cron", "")}
                placeholder="30 6 * * mon-fri"
                onChange={(value) => put("cron", value)}
              />
            </Row>
          </>
        ) : null}
        <Row label="Takes">
          <Seg
            label="Takes"
            small
            disabled={off}
            now={word("consume", "all")}
            items={[
              { id: "all", label: "all that waits" },
              { id: "one", label: "one" },
            ]}
            onPick={(value) => put("consume", value === "all" ? undefined : value)}
          />
        </Row>
        <Row label="Routing">
          <Seg
            label="Routing"
            small
            disabled={off}
            now={word("routing", "first")}
            items={[
              { id: "first", label: "first match" },
              { id: "all", label: "every match" },
            ]}
            onPick={(value) => put("routing", value === "first" ? undefined : value)}
          />
        </Row>
        <Row label="Approval">
          <Seg
            label="Approval"
            small
            disabled={off}
            now={raw.approval === "before" ? "before" : "none"}
            items={[
              { id: "none", label: "none" },
              { id: "before", label: "before each turn" },
            ]}
            onPick={(value) => put("approval", value === "none" ? undefined : value)}
          />
        </Row>
        {info?.kind === "utility" ? null : (
          <Row label="Session">
            <Seg
              label="Session"
              small
              disabled={off}
              now={word("session", "auto")}
              items={[
                { id: "auto", label: "auto" },
                { id: "fresh", label: "fresh" },
                { id: "keep", label: "keep" },
              ]}
              onPick={(value) => put("session", value === "auto" ? undefined : value)}
            />
          </Row>
        )}
        {innermost(state.loadout ?? emptyLoadout, id) ? (
          <Row label="Moves on">
            <SelectField
              label="Moves the loop on"
              testid="socket-advance"
              disabled={off}
              value={raw.advance ? String(object(raw.advance).when ?? "always") : "never"}
              options={[{ value: "never", label: "never" }, ...conditions]}
              onChange={(value) =>
                value === "never"
                  ? put("advance", undefined)
                  : raw.advance
                    ? put("advance", value, "when")
                    : put("advance", { cursor: "workItemIndex", when: value })
              }
            />
          </Row>
        ) : null}
        {strings(raw.dependsOn).length > 0 ? <Row label="Waits for">{strings(raw.dependsOn).join(", ")}</Row> : null}
      </Part>
      <Part title="Assign" hint="output to state">
        <Pairs
          label="Assign"
          disabled={off}
          names={["Target", "Source"]}
          add="Add a target"
          value={object(raw.assign)}
          onChange={(value) => put("assign", value)}
        />
      </Part>
    </>
  );
}
const emptyLoadout = { name: "", entry: null, description: "", sockets: [], loops: [], layout: {}, raw: {} };
