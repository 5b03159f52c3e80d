// Runs a saved utility once, with input that a person gives, after that person has seen and allowed what runs.

import { useState } from "react";
import { Refusal } from "../../api/client";
import { tryUtility } from "../../api/editor";
import type { Json, Tried } from "../../api/generated";
import { Button } from "../../shared/Button";

import { duration } from "../../shared/format";
import { ErrorBox, Foreign } from "../../shared/parts";

interface Question {
  hash: string;
  text?: string;
  runs?: string[] | string;
}

export function TryIt({ project, materia, saved }: { project: string; materia: string; saved: boolean }) {
  const [input, setInput] = useState('{\n  "request": "try it",\n  "params": {}\n}');
  const [question, setQuestion] = useState<Question | null>(null);
  const [result, setResult] = useState<Tried | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  let value: Json | undefined;
  try {
    value = JSON.parse(input) as Json;
  } catch {
    value = undefined;
  }
  const run = async (consent: string | null) => {
    if (value === undefined) return;
    setBusy(true);
    setError(null);
    setResult(null);
    try {
      setResult(await tryUtility(project, materia, value, consent));
      setQuestion(null);
    } catch (reason) {
      const asked = reason instanceof Refusal && reason.problem.code === "trust_required";
      const first = asked ? (reason.problem.questions as unknown as Question[] | undefined)?.[0] : undefined;
      if (first) setQuestion(first);
      else setError(reason);
    }
    setBusy(false);
  };
  const runs = question ? (Array.isArray(question.runs) ? question.runs : [question.runs ?? question.text ?? ""]) : [];
  return (
    <section className="f" aria-label="Try it" data-testid="try-it">
      <h3 className="l">
        Try it<span className="faint">runs the real program in the project folder</span>
      </h3>
      <textarea
        className="field mono"
        rows={5}
        aria-label="Test input"
        data-testid="try-input"
        value={input}
        onChange={(event) => setInput(event.target.value)}
      />
      <div className="row under">
        <Button
          look="small"
          data-testid="try"
          disabled={busy || !saved || value === undefined}
          onClick={() => void run(null)}
        >
          {saved ? (value === undefined ? "Try it: the input is not valid JSON" : "Try it") : "Try it: save first"}
        </Button>
      </div>
      {question ? (
        <div className="consent" data-testid="try-consent">
          <p>This would run on your machine:</p>
          {runs.map((one) => (
            <pre className="text" key={one}>
              <Foreign text={one} />
            </pre>
          ))}
          <div className="row">
            <Button look="small" onClick={() => setQuestion(null)}>
              Do not run it
            </Button>
            <Button look="small primary" data-testid="try-yes" disabled={busy} onClick={() => void run(question.hash)}>
              Run it once
            </Button>
          </div>
        </div>
      ) : null}
      {error ? <ErrorBox error={error} /> : null}
      {result ? (
        <div className="tried" data-testid="tried">
          <p className="sm">
            {result.error ? <Foreign text={result.error} /> : `Ended with ${result.exitCode}`}, after{" "}
            {duration(result.durationMs, true)}
          </p>
          {result.stdout ? (
            <pre className="text">
              <Foreign text={result.stdout} />
            </pre>
          ) : null}
          {result.stderr ? (
            <pre className="text dim">
              <Foreign text={result.stderr} />
            </pre>
          ) : null}
        </div>
      ) : null}
    </section>
  );
}
