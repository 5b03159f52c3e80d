import { isEnd } from "../../api/ends";
import { at, fieldNames, object } from "../../document";
import { TextArea } from "../../shared/Field";
import { Check } from "../../shared/Table";
import { putClean, setLoadout } from "./acts";
import css from "./editor.module.css";
import { type FormProps, Found, Part, Row, SelectField } from "./fields";
import { targets } from "./options";
import { Group, labelOf, SchemaFields } from "./SchemaFields";
import { useEditor } from "./store";

const count = (number: number, word: string) => `${number} ${word}${number === 1 ? "" : "s"}`;

export function LoadoutForm({ store, findings }: FormProps) {
  const { loadout, readOnly: off, value } = useEditor(store, "loadout", "readOnly", "value");
  if (!loadout) return null;
  const whole = object(value);
  const active = whole.activeLoadout === loadout.name;
  return (
    <>
      <Part title="Loadout">
        <Row label="Entry">
          <SelectField
            label="Entry"
            testid="loadout-entry"
            disabled={off}
            value={loadout.entry ?? ""}
            options={targets({ loadout }).filter((one) => !isEnd(one.value))}
            onChange={(entry) => store.edit("entry", (writer) => writer.set(at(loadout.name, "entry"), entry, true))}
          />
        </Row>
        <label className={css.stack6}>
          <span className={css.k}>Description</span>
          <TextArea
            rows={3}
            disabled={off}
            value={loadout.description}
            onChange={(event) => setLoadout(store, ["description"], event.target.value || undefined, "description")}
          />
        </label>
        <Found findings={findings} />
        <Check
          checked={active}
          disabled={off}
          onTick={(ticked) =>
            store.edit("active loadout", (writer) =>
              ticked ? writer.set(["activeLoadout"], loadout.name, true) : writer.remove(["activeLoadout"]),
            )
          }
        >
          Active: casts use it unless they name another
        </Check>
      </Part>
      {["budget", "limits"].map((of) => (
        <Group key={of} title={`${labelOf(of)} of the whole file`} open={of === "budget" || whole[of] !== undefined}>
          <SchemaFields
            place={[of]}
            raw={object(whole[of])}
            names={fieldNames([of])}
            off={off}
            put={(path, amount) =>
              store.edit(path.join(" "), (writer) => putClean(writer, path, amount, 0), path.join(" "))
            }
            within={[of]}
          />
        </Group>
      ))}
      <Part title="Contents">
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
