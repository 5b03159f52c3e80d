import { isEnd } from "../../api/ends";
import type { Finding } from "../../api/types";
import { at, object } from "../../document";
import { setLoadout } from "./acts";
import { Found, NumberField, Part, Row, SelectField } from "./fields";
import { targets } from "./options";
import type { EditorState } from "./state";
import type { EditorStore } from "./store";

interface FormProps {
  store: EditorStore;
  state: EditorState;
  findings: Finding[];
}

const count = (number: number, word: string) => `${number} ${word}${number === 1 ? "" : "s"}`;

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
            options={targets(state).filter((one) => !isEnd(one.value))}
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
          {[
            count(loadout.sockets.length, "socket"),
            count(
              loadout.sockets.reduce((sum, one) => sum + one.edges.length, 0),
              "edge",
            ),
            count(loadout.loops.length, "loop"),
          ].join(", ")}
        </p>
      </Part>
    </>
  );
}
