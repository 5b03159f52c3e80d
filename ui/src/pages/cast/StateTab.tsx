// The variables of a cast as of the event that is looked at.
import { JsonText } from "../../shared/JsonTree";
import { EventLink } from "../../shared/Linked";
import { Foreign } from "../../shared/parts";
import type { DockProps } from "./Dock";

export function StateTab({ state, change }: DockProps) {
  const names = Object.keys(state.variables);
  if (names.length === 0) return <p className="empty">No variable is set as of event {state.seq}.</p>;
  return (
    <div className="vars" data-testid="state">
      {names.map((name) => {
        const seq = state.changedAt[name];
        return (
          <details key={name} open={names.length < 6}>
            <summary>
              <span className="mono strong">
                <Foreign text={name} />
              </span>
              {seq ? (
                <span className="faint sm">
                  set at event <EventLink seq={seq} onEvent={(at) => change({ at }, true)} />
                  {seq === state.seq ? <strong> just now</strong> : null}
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
