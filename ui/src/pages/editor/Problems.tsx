// What the checker found, with what can be done about it. The words, codes and places are those of `materia check`.
import { CircleAlert, Info, TriangleAlert } from "lucide-react";
import type { Finding } from "../../api/generated";
import { fixFor, thingAt } from "../../document";
import { Button } from "../../shared/Button";
import { cx } from "../../shared/cx";
import css from "./editor.module.css";
import { Said } from "./fields";
import type { EditorState } from "./state";
import type { EditorStore } from "./store";

export function summary(findings: Finding[]): string {
  const count = (severity: string) => findings.filter((one) => one.severity === severity).length;
  const part = (number: number, word: string) => (number > 0 ? [`${number} ${word}${number === 1 ? "" : "s"}`] : []);
  const text = [...part(count("error"), "error"), ...part(count("warning"), "warning")].join(", ");
  return text || "none";
}

export function Problems({ store, state, findings }: { store: EditorStore; state: EditorState; findings: Finding[] }) {
  const { loadout } = state;
  const go = (finding: Finding) => {
    const thing = loadout ? thingAt(loadout, finding.pointer) : null;
    if (thing) store.select([thing]);
  };
  return (
    <ul className={css.probs} data-testid="problems">
      {state.fault ? (
        <li className="st failed" data-testid="problem-syntax">
          <CircleAlert className="ico s" />
          <span>
            <Said text={state.fault.message} /> The graph shows the last valid text.
            <span className={css.code}>document::syntax · line {state.fault.line}</span>
          </span>
        </li>
      ) : null}
      {findings.map((finding) => {
        const fix = state.readOnly || state.fault ? null : fixFor(finding, state.value);
        const Icon = finding.severity === "error" ? CircleAlert : finding.severity === "warning" ? TriangleAlert : Info;
        return (
          <li
            key={`${finding.code}${finding.pointer}${finding.line}${finding.message}`}
            className={cx(
              "st",
              finding.severity === "error" ? "failed" : finding.severity === "warning" ? "needs_you" : "idle",
            )}
            data-testid="problem"
            data-code={finding.code}
          >
            <Icon className="ico s" />
            <button type="button" className={css.what} onClick={() => go(finding)}>
              <Said text={finding.message} />
              <span className={css.code}>
                {finding.code}
                {finding.line ? ` · line ${finding.line}` : ""}
              </span>
            </button>
            {fix ? (
              <Button look="small" data-testid="fix" onClick={() => store.edit(fix.label.toLowerCase(), fix.apply)}>
                {fix.label}
              </Button>
            ) : null}
          </li>
        );
      })}
      {findings.length === 0 && !state.fault ? (
        <li className={css.none} data-testid="no-problems">
          {state.checked === null ? "Checking." : "No problems found."}
        </li>
      ) : null}
    </ul>
  );
}
