// Runs a saved utility once, with input that a person gives, after that person has seen and allowed what runs.
import { useState } from "react";
import { Refusal } from "../../api/client";
import { tryUtility } from "../../api/editor";
import type { Json, Tried, TrustItem } from "../../api/generated";
import { useOnce } from "../../shared/ask";
import { Button } from "../../shared/Button";
import { cx } from "../../shared/cx";
import { TextArea } from "../../shared/Field";
import { duration } from "../../shared/format";
import { ErrorBox, Foreign } from "../../shared/parts";
import editor from "../editor/editor.module.css";
import css from "./materia.module.css";

export function TryIt({ project, materia, saved }: { project: string; materia: string; saved: boolean }) {
  const [input, setInput] = useState('{\n  "request": "try it",\n  "params": {}\n}');
  const [question, setQuestion] = useState<TrustItem | null>(null);
  let value: Json | undefined;
  try {
    value = JSON.parse(input) as Json;
  } catch {
    value = undefined;
  }
  // What it asks before it runs is an answer, too.
  const {
    run,
    busy,
    error,
    done: result,
  } = useOnce(async (consent: string | null): Promise<Tried | null> => {
    try {
      const result = await tryUtility(project, materia, value ?? null, consent);
      setQuestion(null);
      return result;
    } catch (reason) {
      const asked = reason instanceof Refusal && reason.problem.code === "trust_required";
      const first = asked ? reason.problem.questions?.[0] : undefined;
      if (!first) throw reason;
      setQuestion(first);
      return null;
    }
  });
  return (
    <section className={editor.f} aria-label="Try it" data-testid="try-it">
      <h3 className={editor.l}>
        Try it<span className="faint">runs the real program in the project folder</span>
      </h3>
      <TextArea
        className="mono"
        rows={5}
        aria-label="Test input"
        data-testid="try-input"
        value={input}
        onChange={(event) => setInput(event.target.value)}
      />
      <div className={cx(editor.under, "row")}>
        <Button
          look="small"
          data-testid="try"
          disabled={busy || !saved || value === undefined}
          onClick={() => run(null)}
        >
          {saved ? (value === undefined ? "Try it: the input is not valid JSON" : "Try it") : "Try it: save first"}
        </Button>
      </div>
      {question ? (
        <div className={css.consent} data-testid="try-consent">
          <p>This would run on your machine:</p>
          {question.runs.map((one) => (
            <Foreign as="pre" key={one} text={one} />
          ))}
          <div className="row">
            <Button look="small" onClick={() => setQuestion(null)}>
              Do not run it
            </Button>
            <Button look="small primary" data-testid="try-yes" disabled={busy} onClick={() => run(question.hash)}>
              Run it once
            </Button>
          </div>
        </div>
      ) : null}
      {error ? <ErrorBox error={error} /> : null}
      {result ? (
        <div className={css.tried} data-testid="tried">
          <p className="sm">
            {result.error ? <Foreign text={result.error} /> : `Ended with ${result.exitCode}`}, after{" "}
            {duration(result.durationMs, true)}
          </p>
          {result.stdout ? <Foreign as="pre" text={result.stdout} /> : null}
          {result.stderr ? <Foreign as="pre" className="dim" text={result.stderr} /> : null}
        </div>
      ) : null}
    </section>
  );
}
