// The other things that wait: a conversation, a stall, a spent budget.
import { type ReactNode, useEffect, useState } from "react";
import { get, segment } from "../../api/client";
import type { Budget, CastView, InboxItem, JournalEvent, Page } from "../../api/types";
import { ActButton, Confirm } from "../../shared/ActButton";
import { type Act, asAct, commandLine } from "../../shared/acts";
import { count, money } from "../../shared/format";
import { castPath, projectOf, useLive } from "../../shared/live";
import { Cli, ErrorBox, Foreign, Meter } from "../../shared/parts";
import { Link } from "../../shared/router";
import { plain } from "../../shared/text";
import { useLoad } from "../../shared/useLoad";
import type { CardProps } from ".";

function useTarget(item: InboxItem) {
  const { projects } = useLive();
  return { castId: item.castId, project: projectOf(projects, item.project) };
}

function events(item: InboxItem, project: string | null, type: string): Promise<Page<JournalEvent>> {
  return get<Page<JournalEvent>>(`/casts/${segment(item.castId)}/events`, {
    project,
    node: item.node,
    type,
    order: "asc",
    limit: 200,
  });
}

/** What an answer says, where it is an object with a context; else all of it. */
export function spoken(output: string): { text: string; items: string[] } {
  try {
    const value = JSON.parse(output) as { context?: unknown; workItems?: { title?: unknown }[] };
    const items = Array.isArray(value.workItems) ? value.workItems.map((one) => String(one?.title ?? "")) : [];
    if (typeof value.context === "string" || items.length > 0)
      return { text: typeof value.context === "string" ? value.context : "", items };
  } catch {
    // Not an object: shown as it is.
  }
  return { text: output, items: [] };
}

function Said({ output }: { output: string }) {
  const { text, items } = spoken(output);
  return (
    <>
      {text ? <div className="text prose">{plain(text)}</div> : null}
      {items.length > 0 ? (
        <ol className="plan">
          {items.map((title, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: items are named by their place
            <li key={index}>
              <span className="faint">WI-{index + 1}</span> <Foreign text={title} />
            </li>
          ))}
        </ol>
      ) : null}
    </>
  );
}

export function Conversation({ item, onAnswered }: CardProps) {
  const target = useTarget(item);
  const draft = `materia.answer.${item.castId}`;
  const [text, setText] = useState(() => sessionStorage.getItem(draft) ?? "");
  const [sent, setSent] = useState(0);
  const keep = (value: string) => {
    setText(value);
    sessionStorage.setItem(draft, value);
  };
  const talk = useLoad(async () => {
    const [said, told] = await Promise.all([
      events(item, target.project, "turn.completed"),
      events(item, target.project, "message.received"),
    ]);
    return [...said.items, ...told.items].sort((a, b) => a.seq - b.seq);
  }, `${item.castId}:${item.since}:${sent}`);
  const say: Act = { do: "say", ...(item.node ? { node: item.node } : {}), text };
  const finish: Act = { do: "continue", ...(item.node ? { node: item.node } : {}) };
  return (
    <>
      <div className="ibody talk">
        {talk.error ? <ErrorBox error={talk.error} /> : null}
        {(talk.value ?? []).map((event) => (
          <div key={event.seq} className={event.type === "message.received" ? "you" : ""}>
            <span className="who">
              <strong>{event.type === "message.received" ? "You" : item.node}</strong>
              <span className="faint sm">event {event.seq}</span>
            </span>
            <div>
              {event.type === "message.received" ? (
                <div className="text prose">{plain(event.data.text)}</div>
              ) : (
                <Said output={String(event.data.output)} />
              )}
            </div>
          </div>
        ))}
        {talk.value === null && item.said ? <Said output={item.said} /> : null}
        <label className="sr" htmlFor={`answer-${item.castId}`}>
          Your answer
        </label>
        <textarea
          id={`answer-${item.castId}`}
          className="field"
          rows={3}
          value={text}
          placeholder="Your answer. It is one more input of the socket, which answers and waits again."
          data-testid="answer"
          onChange={(event) => keep(event.target.value)}
        />
      </div>
      <footer>
        <ActButton
          className="btn primary"
          target={target}
          act={say}
          disabled={!text.trim()}
          testid="say"
          onDone={() => {
            keep("");
            setSent(sent + 1);
            onAnswered(`Answered: ${item.node}`);
          }}
        >
          Send the answer
        </ActButton>
        <ActButton target={target} act={finish} testid="continue" onDone={() => onAnswered(`Finished: ${item.node}`)}>
          Accept and go on
        </ActButton>
        <span className="grow" />
        <Cli bare words={commandLine(item.castId, text.trim() ? say : finish)} />
      </footer>
    </>
  );
}

export function Stall({ item, onAnswered }: CardProps) {
  const target = useTarget(item);
  const [text, setText] = useState("");
  const { projects } = useLive();
  const evidence = useLoad(async () => {
    const changed = await events(item, target.project, "mode.changed");
    const seqs: number[] = changed.items.findLast((event) => event.data.reason === "stall")?.data.evidence ?? [];
    const ended = await events(item, target.project, "turn");
    return seqs.map((seq) => ({ seq, end: ended.items.find((event) => event.data.turn === seq) }));
  }, `${item.castId}:${item.since}`);
  const say: Act = { do: "say", ...(item.node ? { node: item.node } : {}), text };
  const shown = (evidence.value ?? []).slice(-2);
  const same = shown.length === 2 && output(shown[0]?.end) === output(shown[1]?.end);
  return (
    <>
      <div className="ibody">
        <p>
          <Foreign text={item.message} />
        </p>
        {evidence.error ? <ErrorBox error={evidence.error} /> : null}
        <div className="pair" data-testid="evidence">
          {shown.map((one) => (
            <figure key={one.seq}>
              <figcaption className="row sm">
                <span className="grow">
                  Turn of event{" "}
                  <Link
                    to={`${castPath(item, projects)}?turn=${one.seq}&socket=${encodeURIComponent(item.node ?? "")}`}
                    className="ev"
                  >
                    {one.seq}
                  </Link>
                </span>
                {same ? <span className="tag">= the same</span> : null}
              </figcaption>
              <pre className="text">{plain(output(one.end))}</pre>
            </figure>
          ))}
        </div>
        <label className="sm dim">
          Tell it what to do differently
          <textarea
            className="field"
            rows={2}
            value={text}
            data-testid="guide-stall"
            onChange={(event) => setText(event.target.value)}
          />
        </label>
      </div>
      <footer>
        <ActButton
          className="btn primary"
          target={target}
          act={say}
          disabled={!text.trim()}
          testid="say"
          onDone={() => {
            setText("");
            onAnswered(`Told: ${item.node}`);
          }}
        >
          Tell it
        </ActButton>
        <ActButton
          target={target}
          act={{ do: "resume" }}
          testid="resume-stall"
          onDone={() => onAnswered(`Went on: ${item.castId}`)}
        >
          Go on as it is
        </ActButton>
        <Confirm
          className="btn danger"
          target={target}
          act={{ do: "abort" }}
          testid="stop-stall"
          title="Stop this cast"
          text="It ends for good. What it made and its log stay."
          verb="Stop this cast"
          danger
          onDone={() => onAnswered(`Stopped: ${item.castId}`)}
        >
          Stop this cast
        </Confirm>
        <span className="grow" />
        <Cli bare words={commandLine(item.castId, text.trim() ? say : { do: "resume" })} />
      </footer>
    </>
  );
}

function output(event: JournalEvent | undefined): string {
  return String(event?.data.output ?? event?.data.message ?? "");
}

export function BudgetCard({ item, onAnswered }: CardProps) {
  const target = useTarget(item);
  const view = useLoad(
    () => get<CastView>(`/casts/${segment(item.castId)}`, { project: target.project }),
    `${item.castId}:${item.since}`,
  );
  const [budget, setBudget] = useState<Budget | null>(null);
  const usage = view.value?.usage;
  const now = view.value?.budget;
  useEffect(() => {
    if (!now || !usage || budget) return;
    const double = (limit: number | null | undefined, spent: number) =>
      limit && spent >= limit ? limit * 2 : (limit ?? null);
    setBudget({
      maxTurns: double(now.maxTurns, usage.turns),
      maxTokens: double(now.maxTokens, usage.tokens),
      maxCost: double(now.maxCost, usage.cost ?? 0),
    });
  }, [now, usage, budget]);
  const changed: Budget = {};
  for (const name of ["maxTurns", "maxTokens", "maxCost"] as const)
    if (budget?.[name] && budget[name] !== now?.[name]) changed[name] = budget[name] as number;
  const act: Act = { do: "budget", budget: changed };
  const row = (
    name: "maxTurns" | "maxTokens" | "maxCost",
    label: string,
    spent: number | null,
    show: (value: number) => string,
  ): ReactNode =>
    now?.[name] ? (
      <div className="brow" key={name}>
        <label htmlFor={`${item.castId}-${name}`}>{label}</label>
        <span className="dim sm">
          {spent === null ? "unknown" : show(spent)} of {show(now[name] ?? 0)}
          <Meter spent={spent ?? 0} limit={now[name] ?? 1} />
        </span>
        <input
          id={`${item.castId}-${name}`}
          className="field r"
          type="number"
          min={0}
          step={name === "maxCost" ? 0.5 : 1}
          value={budget?.[name] ?? ""}
          data-testid={`raise-${name}`}
          onChange={(event) => setBudget({ ...budget, [name]: Number(event.target.value) || null })}
        />
      </div>
    ) : null;
  return (
    <>
      <div className="ibody">
        <p>
          <Foreign text={item.message} />. Its inputs are kept.
        </p>
        {view.error ? <ErrorBox error={view.error} /> : null}
        {usage ? (
          <div className="budgets">
            {row("maxTurns", "Turns", usage.turns, count)}
            {row("maxTokens", "Tokens", usage.tokens, count)}
            {row("maxCost", "Cost", usage.cost ?? null, money)}
          </div>
        ) : null}
      </div>
      <footer>
        <ActButton
          className="btn primary"
          target={target}
          act={act}
          disabled={Object.keys(changed).length === 0}
          testid="raise"
          onDone={() => onAnswered(`Raised: ${item.castId}`)}
        >
          Raise and go on
        </ActButton>
        <Confirm
          className="btn danger"
          target={target}
          act={{ do: "abort" }}
          testid="stop-budget"
          title="Stop this cast"
          text="It ends for good. What it made and its log stay."
          verb="Stop this cast"
          danger
          onDone={() => onAnswered(`Stopped: ${item.castId}`)}
        >
          Stop this cast
        </Confirm>
        <span className="grow" />
        <Cli bare words={commandLine(item.castId, act)} />
      </footer>
    </>
  );
}

/** Anything else: what the server says can be done. */
export function OtherCard({ item, onAnswered }: CardProps) {
  const target = useTarget(item);
  const acts = (item.next ?? []).filter((act) => !["say", "nodeBudget"].includes(act.do)).map(asAct);
  return (
    <>
      <div className="ibody">
        <p>
          <Foreign text={item.message} />
        </p>
      </div>
      <footer>
        {acts.map((act) => (
          <ActButton
            key={JSON.stringify(act)}
            className={act.do === "abort" ? "btn danger" : "btn"}
            target={target}
            act={act}
            onDone={() => onAnswered(`${act.do}: ${item.castId}`)}
          >
            {act.do}
          </ActButton>
        ))}
        <span className="grow" />
        {acts[0] ? <Cli bare words={commandLine(item.castId, acts[0])} /> : null}
      </footer>
    </>
  );
}
