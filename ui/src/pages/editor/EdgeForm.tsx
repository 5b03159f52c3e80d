import type { Condition, Finding, Json } from "../../api/types";
import { edgeById, exitOf, object } from "../../document";
import { Seg } from "../../shared/parts";
import { changeEdge } from "./acts";
import { Found, NumberField, Part, Row, SelectField, TextField } from "./fields";
import { conditions, targets } from "./options";
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
