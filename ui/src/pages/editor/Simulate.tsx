// A walk through the graph: a person chooses outcomes, the program's own kernel routes. No agent runs.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { castChoices, simulate } from "../../api/editor";
import type { Choice, ChosenEnd, Walk, WalkAsk } from "../../api/generated";
import { object } from "../../document";
import { client, pause } from "../../shared/ask";
import { Button } from "../../shared/Button";
import { cx } from "../../shared/cx";
import { download } from "../../shared/download";
import { Input } from "../../shared/Field";
import { useLive } from "../../shared/live-state";
import { ErrorBox, Foreign, Item } from "../../shared/parts";
import { oneLine } from "../../shared/text";
import css from "./editor.module.css";
import { Said, SelectField } from "./fields";
import { type EditorStore, useEditor } from "./store";

const AFTER_MS = 40;
const words: Record<ChosenEnd, string> = {
  satisfied: "Satisfied",
  not_satisfied: "Not satisfied",
  done: "Done",
  fails: "Fails",
  items: "Work items",
};

export function Simulate({ store }: { store: EditorStore }) {
  const parts = ["project", "file", "text", "subject", "fault", "play"] as const;
  const { project, file, text, subject, fault, play } = useEditor(store, ...parts);
  const [choices, setChoices] = useState<Choice[]>([]);
  const [refused, setRefused] = useState<unknown>(null);
  const [rules, setRules] = useState("G12");
  const { data: walk = null, error } = useQuery({
    queryKey: ["simulate", project, file, subject.name, text, choices],
    queryFn: async ({ signal }) => {
      await pause(AFTER_MS, signal);
      return simulate(project, { [file]: text }, subject.name, choices, signal);
    },
    enabled: !fault,
  });
  const known = useLive((live) => live.casts);
  const casts = [...known.values()].filter((cast) => cast.loadout === subject.name).slice(0, 20);
  useEffect(() => {
    store.patch({ walk });
    return () => store.patch({ walk: null });
  }, [store, walk]);

  const chose = useRef(false);
  const box = useRef<HTMLDivElement>(null);
  const choose = (ask: WalkAsk, outcome: ChosenEnd, items?: number) => {
    chose.current = true;
    // Who chooses leaves the history that was played.
    store.patch({ play: null });
    setChoices([...choices, { socket: ask.socket, outcome, ...(items === undefined ? {} : { items }) }]);
  };
  // Who walks with the keyboard goes on at the next question.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each answer brings new questions
  useEffect(() => {
    if (!chose.current) return;
    chose.current = false;
    box.current?.querySelector<HTMLElement>(`.${css.ask} button`)?.focus();
  }, [walk]);
  const next = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!play) return;
    setChoices([]);
    next.current?.focus();
  }, [play]);
  const answers = play ? textsOf(walk, choices) : [];
  const openCast = (id: string) => {
    if (!id) return;
    store.patch({ play: null });
    setRefused(null);
    client
      .fetchQuery({
        queryKey: ["choices", project, id],
        queryFn: ({ signal }) => castChoices(project, id, signal),
      })
      .then((answer) => setChoices(answer.choices), setRefused);
  };
  return (
    <div className={css.walk} data-testid="simulate" ref={box}>
      <div className={css.walkbar}>
        <Button look="small" disabled={choices.length === 0} data-testid="walk-again" onClick={() => setChoices([])}>
          Begin again
        </Button>
        <Button
          look="small"
          disabled={choices.length === 0}
          data-testid="walk-back"
          onClick={() => setChoices(choices.slice(0, -1))}
        >
          Back
        </Button>
        {casts.length > 0 ? (
          <SelectField
            label="Follow an earlier cast"
            testid="walk-cast"
            value=""
            options={[
              { value: "", label: "Follow an earlier cast" },
              ...casts.map((cast) => ({ value: cast.castId, label: oneLine(cast.request, 50) || cast.castId })),
            ]}
            onChange={openCast}
          />
        ) : null}
        <span className="grow" />
        <Download
          testid="save-script"
          label="Save as script"
          name={`${subject.name}-script.json`}
          value={walk?.script}
        />
        <Input
          className={css.rules}
          aria-label="Requirement ids that the case covers"
          title="Requirement ids that the case covers"
          value={rules}
          onChange={(event) => setRules(event.target.value)}
        />
        <Download
          testid="save-case"
          label="Save as case"
          name={`${subject.name}-case.json`}
          value={caseOf(walk, rules)}
        />
      </div>
      {play ? (
        <div className={css.playing} data-testid="playing">
          <span className="grow">
            <Said text={play.message} />
          </span>
          <span className="faint nowrap" data-testid="play-at">
            {choices.length} of {play.choices.length}
          </span>
          <Button
            ref={next}
            look="small primary"
            data-testid="play-next"
            disabled={choices.length >= play.choices.length}
            onClick={() => setChoices(play.choices.slice(0, choices.length + 1))}
          >
            Next step
          </Button>
          <Button
            look="small"
            data-testid="play-all"
            disabled={choices.length >= play.choices.length}
            onClick={() => setChoices(play.choices)}
          >
            To the end
          </Button>
        </div>
      ) : null}
      {error || refused ? <ErrorBox error={error ?? refused} /> : null}
      <ol className={css.steps} data-testid="steps">
        {(walk?.steps ?? []).map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step is its place in the walk
          <li key={index} data-testid="step" data-socket={step.socket}>
            <span className="n">{index + 1}</span>
            <Who of={step} />
            <span>{step.outcome?.replace("_", " ") ?? "answered by the runtime"}</span>
            <span className="dim">
              {step.routes.map((route) => `${route.exit ? "exit " : ""}to ${route.to}`).join(", ") || "nothing follows"}
            </span>
            {answers[index] ? (
              <span className={cx(css.answer, "mono faint cut")} title={answers[index]}>
                {oneLine(answers[index], 80)}
              </span>
            ) : null}
          </li>
        ))}
        {(walk?.asks ?? []).map((ask) => (
          <Ask key={`${ask.socket} ${ask.visit} ${ask.item ?? ""}`} ask={ask} onChoose={choose} />
        ))}
      </ol>
      {walk && walk.asks.length === 0 ? (
        <p className={cx(css.verdict, walk.status === "failed" && css.bad)} data-testid="walk-end">
          {walk.status === "completed" ? "The cast ends here, completed." : null}
          {walk.status === "failed"
            ? `The cast fails here. ${walk.message ?? walk.findings?.[0]?.message ?? ""}`
            : null}
          {walk.status === "waiting" ? `The cast waits here. ${walk.message ?? ""}` : null}
        </p>
      ) : null}
    </div>
  );
}

/** What each step of a walk answered, where the choices say it. */
function textsOf(walk: Walk | null, choices: Choice[]): string[] {
  let at = 0;
  return (walk?.steps ?? []).map((step) => (step.outcome ? (choices[at++]?.text ?? "") : ""));
}

/** A case names the rules that it shows; which those are, a person knows. */
function caseOf(walk: Walk | null, rules: string): unknown {
  const named = rules.split(/[\s,]+/).filter(Boolean);
  return walk?.case && named.length > 0 ? { ...object(walk.case), requirements: named } : null;
}

/** The socket of a step or of a question, and its item. */
function Who({ of }: { of: Pick<WalkAsk, "materia" | "socket" | "item" | "itemLabel"> }) {
  return (
    <>
      <Foreign as="strong" text={oneLine(of.materia, 60)} />
      <span className="mono faint">{of.socket}</span>
      {of.item ? (
        <span className="faint cut">
          <Item itemKey={of.item} title={of.itemLabel} />
        </span>
      ) : null}
    </>
  );
}

interface AskProps {
  ask: WalkAsk;
  onChoose: (ask: WalkAsk, outcome: ChosenEnd, items?: number) => void;
}

function Ask({ ask, onChoose }: AskProps) {
  const [items, setItems] = useState(2);
  return (
    <li className={css.ask} data-testid={`ask-${ask.socket}`}>
      <span className="n">?</span>
      <Who of={ask} />
      {ask.outcomes.map((outcome) =>
        outcome === "items" ? (
          <span key={outcome} className="row">
            <Input
              className={css.num}
              type="number"
              min={0}
              max={99}
              aria-label="How many work items"
              data-testid="walk-items"
              value={items}
              onChange={(event) => setItems(Math.max(0, Math.min(99, Number(event.target.value))))}
            />
            <Button look="small" data-testid="choose-items" onClick={() => onChoose(ask, outcome, items)}>
              {items === 1 ? "work item" : "work items"}
            </Button>
          </span>
        ) : (
          <Button key={outcome} look="small" data-testid={`choose-${outcome}`} onClick={() => onChoose(ask, outcome)}>
            {words[outcome]}
          </Button>
        ),
      )}
    </li>
  );
}

function Download({ label, name, value, testid }: { label: string; name: string; value: unknown; testid: string }) {
  return (
    <Button
      look="small"
      testid={testid}
      disabled={value === undefined || value === null}
      onClick={() => download(name, `${JSON.stringify(value, null, 2)}\n`, "application/json")}
    >
      {label}
    </Button>
  );
}
