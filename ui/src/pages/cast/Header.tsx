// The head of a cast: what was asked, where it stands, what it has spent, what can be done.
import { memo, useState } from "react";
import { type CastState, castState, sentence } from "../../fold";
import { type Act, commandLine, type Done } from "../../shared/acts";
import { Button } from "../../shared/Button";
import { Cli } from "../../shared/Cli";
import { cx } from "../../shared/cx";
import { isExported } from "../../shared/exported";
import { count, duration, money, short } from "../../shared/format";
import { Jump } from "../../shared/Linked";
import { CopyButton, Foreign, Meter, State } from "../../shared/parts";
import { Link, navigate } from "../../shared/router";
import { oneLine } from "../../shared/text";
import { Acts } from "./Acts";
import { BudgetAct } from "./BudgetAct";
import { Lines } from "./Lines";
import type { PanelProps } from "./props";
import css from "./style.module.css";

/** What workers do for a cast on NATS. */
export interface Work {
  worker?: string | null | undefined;
  waitsForWorker?: boolean | undefined;
}

interface HeaderProps extends Pick<PanelProps, "state" | "past" | "now" | "target" | "socket" | "change"> {
  tip: CastState;
  driven: boolean | undefined;
  work: Work;
}

export const Header = memo(function Header(props: HeaderProps) {
  const { state, tip, past, driven, work, now, target, socket, change } = props;
  const [last, setLast] = useState<{ act: Act; events: number[] } | null>(null);
  const look = castState({
    ...state,
    ...(driven === undefined || past || tip.seq !== state.seq
      ? {}
      : { driven: driven || state.status !== "running" || tip.seq > 0 }),
  });
  const done = (result: Done, act: Act) => {
    setLast({ act, events: result.events ?? [] });
    if (result.castId) navigate(`/casts/${encodeURIComponent(result.castId)}`);
  };
  const elapsed = state.status === "running" && !past ? now - state.startTs / 1000 : (state.ts - state.startTs) / 1000;
  return (
    <header className={css.head}>
      <div className={css.ask}>
        <Foreign
          as="h1"
          className="cut"
          title={oneLine(state.request, 500)}
          text={oneLine(state.request.split("\n")[0] ?? "") || state.castId}
        />
        <span className="faint nowrap sm">
          of{" "}
          <Link to={`/loadouts/${encodeURIComponent(state.loadout)}`} className="dim">
            {oneLine(state.loadout, 40)}
          </Link>
          {state.planHash ? (
            <button
              type="button"
              className={cx(css.planHash, "mono")}
              title="The loadout at the start of the cast: the first event contains its plan"
              onClick={() =>
                change({ dock: "events", event: 1, kind: null, node: null, find: null, evfrom: null, evto: null })
              }
            >
              @{state.planHash.replace(/^[a-z0-9]+:/, "").slice(0, 8)}
            </button>
          ) : null}
        </span>
        <CopyButton text={state.castId} label="Copy the cast's id" />
        {isExported() ? null : <Lines castId={state.castId} />}
      </div>
      {isExported() ? (
        <div className={css.acts} />
      ) : (
        <Acts state={state} past={past} target={target} socket={socket} onDone={done} />
      )}
      <div className={css.sent}>
        <State state={look.state} word={look.word} testid="cast-state" />
        <span className="cut" data-testid="cast-sentence">
          {past ? <strong>As of event {count(state.seq)}: </strong> : null}
          <Foreign text={oneLine(sentence(state), 400)} />
        </span>
        {past ? null : <Worker {...work} />}
        {state.fork ? (
          <span className="faint nowrap sm">
            fork of <Link to={`/casts/${encodeURIComponent(state.fork.castId)}`}>{state.fork.castId}</Link> at event{" "}
            {state.fork.seq}
            {isExported() ? null : (
              <>
                ,{" "}
                <Link
                  to={`/casts/${encodeURIComponent(state.fork.castId)}/compare/${encodeURIComponent(state.castId)}`}
                  data-testid="compare-link"
                >
                  compare
                </Link>
              </>
            )}
          </span>
        ) : state.fromCastId ? (
          <span className="faint nowrap sm">
            from <Link to={`/casts/${encodeURIComponent(state.fromCastId)}`}>{state.fromCastId}</Link>
          </span>
        ) : null}
      </div>
      <div className={css.spend}>
        <dl className={css.budget} data-testid="budget">
          <Spent name="Turns" spent={state.usage.turns} limit={state.budget.maxTurns} show={count} />
          <Spent name="Tokens" spent={state.usage.tokens} limit={state.budget.maxTokens} show={short} />
          <Spent name="Cost" spent={state.usage.cost ?? null} limit={state.budget.maxCost} show={money} />
          <div className={css.free}>
            <dt>Elapsed</dt> <dd>{duration(elapsed)}</dd>
          </div>
        </dl>
        {past || isExported() || state.status === "completed" || state.status === "aborted" ? null : (
          <BudgetAct state={state} target={target} onDone={done} />
        )}
      </div>
      {last ? (
        <div className={css.did} role="status" data-testid="did">
          <span className="faint sm">
            Done
            {last.events.length === 2 ? (
              <>
                , events <Jump onClick={() => change({ dock: "events", at: null })}>{last.events.join("–")}</Jump>
              </>
            ) : null}
            . The same as
          </span>
          <Cli bare words={commandLine(target.castId, last.act)} />
          <Button look="quiet small" onClick={() => setLast(null)}>
            Close
          </Button>
        </div>
      ) : null}
    </header>
  );
});

/** The worker that runs the cast, or that it waits for one. */
function Worker({ worker, waitsForWorker }: Work) {
  if (!worker && !waitsForWorker) return null;
  return (
    <span className={cx(css.worker, "faint sm")} data-testid="cast-worker">
      {worker ? "on " : "waits for "}
      <Link to="/workers" title={worker ?? "Workers"}>
        {worker ? <Foreign text={oneLine(worker, 100)} /> : "a worker"}
      </Link>
    </span>
  );
}

function Spent(props: {
  name: string;
  spent: number | null;
  limit: number | null | undefined;
  show: (value: number) => string;
}) {
  const { name, spent, limit, show } = props;
  return (
    <div>
      <dt>{name}</dt>{" "}
      <dd data-testid={`total-${name.toLowerCase()}`} data-value={spent ?? ""}>
        {spent === null ? "unknown" : show(spent)}
        {limit ? <span> of {show(limit)}</span> : null}
        {limit && spent !== null ? <Meter spent={spent} limit={limit} /> : null}
      </dd>
    </div>
  );
}
