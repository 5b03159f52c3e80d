import type { Condition } from "../../api/generated";
import { edgeById, exitOf } from "../../document";
import { Seg } from "../../shared/parts";
import { changeEdge } from "./acts";
import css from "./editor.module.css";
import { type FormProps, Found, Part, SelectField } from "./fields";
import { conditions, targets } from "./options";
import { SchemaGroups } from "./SchemaFields";
import { useEditor } from "./store";

/** The place of an edge in the schema. */
const EDGE = ["loadouts", "*", "sockets", "*", "edges", "0"];
const groups: [string, string[]][] = [
  ["Bounds", ["maxTraversals"]],
  ["Delivery", ["deliveryMode", "debounceMs", "maxBuffered", "overflow", "dedupeBy", "dedupeWindowMs"]],
  ["Also asks", ["where"]],
  ["Transform", ["transform"]],
];
const usual: Record<string, string> = {
  maxTraversals: "no bound",
  deliveryMode: "queue",
  dedupeBy: "nothing",
  id: "its two ends",
};

export function EdgeForm({ store, id, findings }: FormProps & { id: string }) {
  const { loadout, readOnly: off } = useEditor(store, "loadout", "readOnly");
  const found = loadout ? edgeById(loadout, id) : null;
  const exit = loadout && !found ? exitOf(loadout, id) : null;
  const when = found?.edge.when ?? exit?.exit.condition ?? "always";
  return (
    <>
      <Part title="Condition">
        <Seg
          label="Condition"
          now={when}
          disabled={off}
          items={Object.fromEntries(conditions.map(({ value, label }) => [value, label]))}
          onPick={(value: Condition) => changeEdge(store, id, ["when"], value)}
        />
        <Found findings={findings} />
      </Part>
      <Part title="Leads to">
        <SelectField
          label="Leads to"
          testid="edge-target"
          disabled={off}
          value={found?.edge.to ?? exit?.exit.to ?? ""}
          options={targets({ loadout })}
          onChange={(value) => changeEdge(store, id, ["to"], value)}
        />
        {exit ? (
          <p className={css.hint}>
            An exit of the loop {exit.loop.id}, taken when no item is left and {exit.exit.from} ended it.
          </p>
        ) : null}
      </Part>
      {found ? (
        <SchemaGroups
          place={EDGE}
          raw={found.edge.raw}
          off={off}
          put={(path, value) => changeEdge(store, id, path, value, `${id} ${path.join(" ")}`)}
          usual={usual}
          groups={groups}
          elsewhere={["when", "to"]}
          open={["Bounds", "Delivery"]}
        />
      ) : null}
    </>
  );
}
