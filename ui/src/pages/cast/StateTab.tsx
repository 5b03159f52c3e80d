// The variables of a cast as of the event that is looked at.
import { nameOf } from "../../fold";
import { useCast } from "../../shared/cast-store";
import { JsonText } from "../../shared/JsonTree";
import { EventLink, Jump } from "../../shared/Linked";
import { Empty, Foreign, Tag } from "../../shared/parts";
import type { DockProps } from "./props";
import css from "./style.module.css";

export function StateTab({ store, state, change, onSelect }: DockProps) {
  const events = useCast(store, (held) => held.events);
  const first = events[0]?.seq ?? 1;
  const names = Object.keys(state.variables);
  if (names.length === 0) return <Empty>No variable is set as of event {state.seq}.</Empty>;
  return (
    <div className={css.vars} data-testid="state">
      {names.map((name) => {
        const seq = state.changedAt[name];
        const by = seq ? events[seq - first]?.nodeId : null;
        return (
          <details key={name} open={names.length < 6}>
            <summary>
              <Foreign as="span" className="mono strong" text={name} />
              {seq ? (
                <span className="faint sm">
                  set at event <EventLink seq={seq} onEvent={(at) => change({ at }, true)} />
                  {by ? (
                    <>
                      {" "}
                      by <Jump onClick={() => onSelect(by)}>{nameOf(state, by)}</Jump>
                    </>
                  ) : null}
                  {seq === state.seq ? (
                    <Tag>
                      <strong>changed just now</strong>
                    </Tag>
                  ) : null}
                </span>
              ) : null}
            </summary>
            <JsonText value={state.variables[name]} />
          </details>
        );
      })}
    </div>
  );
}
