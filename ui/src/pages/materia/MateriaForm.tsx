import type { Json } from "../../api/generated";
import { object, strings } from "../../document";
import { Code } from "../../shared/code";
import { cx } from "../../shared/cx";
import { TextArea } from "../../shared/Field";
import { Seg } from "../../shared/parts";
import { Check } from "../../shared/Table";
import { putClean } from "../editor/acts";
import editor from "../editor/editor.module.css";
import { Assign, Part, Row, TextField } from "../editor/fields";
import { PARSES } from "../editor/options";
import { SchemaGroups } from "../editor/SchemaFields";
import type { EditorStore } from "../editor/store";

const groups: [string, string[]][] = [
  ["Agent", ["tools", "model", "provider", "multiTurn", "session", "requires", "reads"]],
  ["Program", ["cwd", "verdict", "env", "params", "socketParams", "script", "retries"]],
  ["Limits", ["timeoutMs"]],
  ["In a link", ["expects"]],
];
/** Fields with a form of their own. */
const elsewhere = "type generator label description group color prompt command parse assign".split(" ");
const usual: Record<string, string> = {
  model: "the agent's own",
  provider: "the first installed",
  cwd: "the project",
  verdict: "from its output",
  multiTurn: "no",
  session: "auto",
  expects: "text",
  "retries.max": "none",
};

export function MateriaForm(props: {
  store: EditorStore;
  raw: { [key: string]: Json };
  kind: string;
  readOnly: boolean;
}) {
  const { store, raw, kind, readOnly: off } = props;
  const name = store.state.subject.name;
  const put =
    (...path: string[]) =>
    (value: Json | undefined) =>
      store.edit(
        `${path.join(" ")} of ${name}`,
        (writer) => putClean(writer, ["materia", name, ...path], value, 2),
        `${name} ${path.join(" ")}`,
      );
  /** The fields of the other kind. */
  const other = kind === "agent" ? "Program" : "Agent";
  const word = (field: string) => (typeof raw[field] === "string" ? (raw[field] as string) : "");
  const asked = typeof raw.prompt === "string" ? raw.prompt : "";
  return (
    <>
      <Part title="Kind">
        <div className="row">
          <Seg
            label="Kind"
            now={kind}
            disabled={off}
            items={{ agent: "agent", utility: "utility" }}
            onPick={(value) => put("type")(value === "agent" ? undefined : value)}
          />
          <Check
            className={editor.flat}
            checked={raw.generator === true}
            disabled={off}
            onTick={(ticked) => put("generator")(ticked || undefined)}
          >
            Generator: it makes work items
          </Check>
        </div>
      </Part>
      <Part title="Display">
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
        <Part title="Prompt" hint={typeof raw.prompt === "object" ? "from a file" : ""}>
          {raw.prompt !== undefined && typeof raw.prompt !== "string" ? (
            <pre className={editor.asked} tabIndex={0}>
              {JSON.stringify(raw.prompt, null, 2)}
            </pre>
          ) : (
            <Code
              className={cx(editor.codeField, editor.tall)}
              language="markdown"
              label="Prompt"
              testid="materia-prompt"
              readOnly={off}
              text={asked}
              onType={put("prompt")}
              onUndo={() => store.undo()}
              onRedo={() => store.redo()}
            />
          )}
        </Part>
      ) : (
        <Part title="What runs" hint="one argument per line, passed unchanged">
          {raw.script ? (
            <pre className={editor.asked} tabIndex={0}>
              {JSON.stringify(raw.script, null, 2)}
            </pre>
          ) : (
            <TextArea
              className="mono"
              rows={4}
              aria-label="Command, one argument per line"
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
            items={PARSES}
            onPick={put("parse")}
          />
        </Row>
      </Part>
      <SchemaGroups
        place={["materia", "*"]}
        raw={raw}
        off={off}
        put={(path, value) => put(...path)(value)}
        usual={{ ...usual, timeoutMs: kind === "utility" ? "30000" : "no limit" }}
        groups={groups.filter(([title]) => title !== other)}
        elsewhere={[...elsewhere, ...groups.flatMap(([title, names]) => (title === other ? names : []))]}
        open={["Agent", "Program", "Limits"]}
      />
      <Assign disabled={off} value={object(raw.assign)} onChange={put("assign")} />
    </>
  );
}
