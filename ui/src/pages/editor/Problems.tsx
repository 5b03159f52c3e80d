// What the checker found, with what can be done about it. The words, codes and places are those of `materia check`.
import { CircleAlert, Info, TriangleAlert } from "lucide-react";
import type { Finding } from "../../api/generated";
import { fixFor, thingAt } from "../../document";
import { Button } from "../../shared/Button";
import { cx } from "../../shared/cx";
import css from "./editor.module.css";
import { Said } from "./fields";
import { type EditorStore, useEditor } from "./store";

function summary(findings: Finding[]): string {
  const count = (severity: string) => findings.filter((one) => one.severity === severity).length;
  const part = (number: number, word: string) => (number > 0 ? [`${number} ${word}${number === 1 ? "" : "s"}`] : []);
  const text = [...part(count("error"), "error"), ...part(count("warning"), "warning")].join(", ");
  return text || "none";
}

export function ProblemsTitle({ store }: { store: EditorStore }) {
  const { findings } = useEditor(store, "findings");
  return (
    <h2 className="sm strong">
      Problems <span className="faint">{summary(findings)}</span>
    </h2>
  );
}

export function Problems({ store }: { store: EditorStore }) {
  const parts = ["loadout", "fault", "findings", "readOnly", "value", "checked"] as const;
  const { loadout, fault, findings, readOnly, value, checked } = useEditor(store, ...parts);
  const go = (finding: Finding) => {
    const thing = loadout ? thingAt(loadout, finding.pointer) : null;
    if (thing) store.select([thing]);
  };
  return (
    <ul className={css.probs} data-testid="problems">
      {fault ? (
        <li className="st failed" data-testid="problem-syntax">
          <CircleAlert className="ico s" />
          <span>
            <Said text={fault.message} /> The graph shows the last valid text.
            <span className={css.code}>document::syntax · line {fault.line}</span>
          </span>
        </li>
      ) : null}
      {findings.map((finding) => {
        const fix = readOnly || fault ? null : fixFor(finding, value);
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
      {findings.length === 0 && !fault ? (
        <li className={css.none} data-testid="no-problems">
          {checked === null ? "Checking." : "No problems found."}
        </li>
      ) : null}
    </ul>
  );
}
