import { innermost, object, type SocketDoc } from "../../document";
import { Seg } from "../../shared/parts";
import { rename, setSocket } from "./acts";
import { EdgeRows } from "./EdgeRows";
import css from "./editor.module.css";
import { Assign, type FormProps, Found, NameField, Part, Row, SelectField } from "./fields";
import { conditions, nameFault, PARSES, targets } from "./options";
import { SchemaFields, SchemaGroups } from "./SchemaFields";
import { useEditor } from "./store";

/** The place of a socket in the schema. */
const SOCKET = ["loadouts", "*", "sockets", "*"];
const AGENT = ["session", "model", "tools"];
const groups: [string, string[]][] = [
  ["Limits", ["timeoutMs", "budgets", "maxInFlight", "retries"]],
  ["Running", ["mode", "control", "trigger", "intervalMs", "cron", "timezone", "dependsOn", "approval", "onInterrupt"]],
  ["Input", ["consume", "foreach", "params", "env"]],
  ["Output", ["routing", "outputSelector", "artifacts"]],
  ["Agent", AGENT],
  ["Permissions", ["policy"]],
];
/** Fields with a form of their own above. */
const elsewhere = ["materia", "prompt", "edges", "onFailure", "parse", "assign", "advance"];
const usual: Record<string, string> = {
  mode: "auto",
  trigger: "on any input",
  consume: "all that waits",
  routing: "the first that matches",
  approval: "none",
  session: "auto",
  outputSelector: "the parsed output, else the text",
  maxInFlight: "1",
  "retries.max": "none",
  "budgets.turns": "no limit",
  "budgets.timeMs": "no limit",
  "budgets.cost": "no limit",
};

export function SocketForm({ store, socket, findings }: FormProps & { socket: SocketDoc }) {
  const { raw, id } = socket;
  const { loadout, readOnly: off, materia } = useEditor(store, "loadout", "readOnly", "materia");
  const info = materia.get(socket.materia);
  const put = (field: string, value: Parameters<typeof setSocket>[3], ...more: string[]) =>
    setSocket(store, id, [field, ...more], value, `${id} ${field} ${more.join(" ")}`);
  const parse = typeof raw.parse === "string" ? raw.parse : (info?.parse ?? "text");
  const fields = (of: string, names: string[]) => (
    <SchemaFields
      place={[...SOCKET, of]}
      raw={object(raw[of])}
      names={names}
      off={off}
      put={([, field = ""], value) => put(of, value, field)}
      within={[of]}
    />
  );
  return (
    <>
      <Part title="Materia">
        <SelectField
          label="Materia"
          testid="socket-materia"
          disabled={off}
          value={socket.materia}
          options={[...materia.values()].map((one) => ({
            value: one.name,
            label: `${one.name}${one.layer === "shipped" ? ", shipped" : ""}`,
          }))}
          onChange={(value) => put("materia", value)}
        />
        <div className={css.under}>
          <Row label="Socket">
            <NameField
              label="Id of the socket"
              testid="socket-id"
              disabled={off}
              value={id}
              fault={(to) => nameFault({ loadout }, to)}
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
          items={PARSES}
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
        <EdgeRows store={store} socket={socket} />
        <div className={css.under}>
          <Row label="On failure">
            <SelectField
              label="On failure"
              testid="socket-failure"
              disabled={off}
              value={socket.onFailure?.to ?? ""}
              options={[
                { value: "", label: "the cast fails" },
                ...targets({ loadout }).filter((one) => one.value !== id),
              ]}
              onChange={(value) =>
                !value
                  ? put("onFailure", undefined)
                  : raw.onFailure
                    ? put("onFailure", value, "to")
                    : put("onFailure", { to: value })
              }
            />
          </Row>
          {raw.onFailure ? fields("onFailure", ["maxTraversals"]) : null}
        </div>
      </Part>
      {loadout && innermost(loadout, id) ? (
        <Part title="Loop">
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
          {raw.advance ? fields("advance", ["cursor", "items"]) : null}
        </Part>
      ) : null}
      <SchemaGroups
        place={SOCKET}
        raw={raw}
        off={off}
        put={([field = "", ...more], value) => put(field, value, ...more)}
        usual={{ ...usual, timeoutMs: info?.kind === "utility" ? "30000" : "no limit" }}
        groups={groups.filter(([title]) => title !== "Agent" || info?.kind !== "utility")}
        elsewhere={[...elsewhere, ...(info?.kind === "utility" ? AGENT : [])]}
        open={["Limits", "Running"]}
      />
      <Assign disabled={off} value={object(raw.assign)} onChange={(value) => put("assign", value)} />
    </>
  );
}
