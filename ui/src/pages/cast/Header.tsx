// The head of a cast: what was asked, where it stands, what it has spent, what can be done.
import { GitFork, MessageSquare, Pause, Play, RotateCcw, Square } from "lucide-react";
import { useState } from "react";
import { type CastState, castState, nameOf, sentence } from "../../fold";
import { ActButton, Confirm, type Target } from "../../shared/ActButton";
import { type Act, commandLine, type Done } from "../../shared/acts";
import { isExported } from "../../shared/exported";
import { count, duration, money, short } from "../../shared/format";
import { Cli, CopyButton, Foreign, Meter, Pick, Seg, State } from "../../shared/parts";
import { Link, navigate } from "../../shared/router";
import { oneLine } from "../../shared/text";
import { BudgetAct } from "./BudgetAct";

interface HeaderProps {
  state: CastState;
  tip: CastState;
  past: boolean;
  driven: boolean | undefined;
  now: number;
  target: Target;
  socket: string;
  change: (changes: Record<string, string | number | null>, push?: boolean) => void;
}

export function Header({ state, tip, past, driven, now, target, socket, change }: HeaderProps) {
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
    <header className="head">
      <div className="ask">
        <h1 className="cut" title={oneLine(state.request, 500)}>
          <Foreign text={oneLine(state.request.split("\n")[0] ?? "") || state.castId} />
        </h1>
        <span className="faint nowrap sm">
          of{" "}
          <Link to={`/loadouts/${encodeURIComponent(state.loadout)}`} className="dim">
            {oneLine(state.loadout, 40)}
          </Link>
          {state.planHash ? (
            <span className="mono">@{state.planHash.replace(/^[a-z0-9]+:/, "").slice(0, 8)}</span>
          ) : null}
        </span>
        <CopyButton text={state.castId} label="Copy the cast's id" />
      </div>
      {isExported() ? null : <Acts state={state} past={past} target={target} socket={socket} onDone={done} />}
      <div className="sent">
        <State state={look.state} word={look.word} testid="cast-state" />
        <span className="cut" data-testid="cast-sentence">
          <Foreign text={oneLine(sentence(state), 400)} />
        </span>
        {state.fork ? (
          <span className="faint nowrap sm">
            fork of <Link to={`/casts/${encodeURIComponent(state.fork.castId)}`}>{state.fork.castId}</Link> at event{" "}
            {state.fork.seq},{" "}
            <Link
              to={`/casts/${encodeURIComponent(state.fork.castId)}/compare/${encodeURIComponent(state.castId)}`}
              data-testid="compare-link"
            >
              compare
            </Link>
          </span>
        ) : state.fromCastId ? (
          <span className="faint nowrap sm">
            from <Link to={`/casts/${encodeURIComponent(state.fromCastId)}`}>{state.fromCastId}</Link>
          </span>
        ) : null}
      </div>
      <div className="spend">
        <dl className="budget" data-testid="budget">
          <Spent
            name="Turns"
            spent={state.usage.turns}
            limit={state.budget.maxTurns}
            show={count}
            testid="total-turns"
          />
          <Spent
            name="Tokens"
            spent={state.usage.tokens}
            limit={state.budget.maxTokens}
            show={short}
            testid="total-tokens"
          />
          <Spent
            name="Cost"
            spent={state.usage.cost ?? null}
            limit={state.budget.maxCost}
            show={money}
            testid="total-cost"
          />
          <div className="free">
            <dt>Elapsed</dt> <dd>{duration(elapsed)}</dd>
          </div>
        </dl>
        {past || isExported() || state.status === "completed" || state.status === "aborted" ? null : (
          <BudgetAct state={state} target={target} onDone={done} />
        )}
      </div>
      {last ? (
        <div className="did" role="status" data-testid="did">
          <span className="faint sm">
            Done
            {last.events.length === 2 ? (
              <>
                , events{" "}
                <button type="button" className="ev" onClick={() => change({ dock: "events", at: null })}>
                  {last.events.join("–")}
                </button>
              </>
            ) : null}
            . The same as
          </span>
          <Cli bare words={commandLine(target.castId, last.act)} />
          <button type="button" className="btn quiet small" onClick={() => setLast(null)}>
            Close
          </button>
        </div>
      ) : null}
    </header>
  );
}

function Spent(props: {
  name: string;
  spent: number | null;
  limit: number | null | undefined;
  show: (value: number) => string;
  testid: string;
}) {
  const { name, spent, limit, show, testid } = props;
  return (
    <div>
      <dt>{name}</dt>{" "}
      <dd data-testid={testid} data-value={spent ?? ""}>
        {spent === null ? "unknown" : show(spent)}
        {limit ? <span> of {show(limit)}</span> : null}
        {limit && spent !== null ? <Meter spent={spent} limit={limit} /> : null}
      </dd>
    </div>
  );
}

function Acts(props: {
  state: CastState;
  past: boolean;
  target: Target;
  socket: string;
  onDone: (done: Done, act: Act) => void;
}) {
  const { state, past, target, socket, onDone } = props;
  const over = state.status === "completed" || state.status === "aborted" || state.status === "failed";
  const fork = <Fork state={state} target={target} onDone={onDone} past={past} />;
  if (past) return <div className="acts">{fork}</div>;
  const rests = state.status === "waiting" || (state.status === "running" && state.pace === "INTERACTIVE");
  return (
    <div className="acts">
      {over ? null : <Modes state={state} target={target} onDone={onDone} />}
      {over ? null : rests ? (
        <ActButton target={target} act={{ do: "resume" }} onDone={onDone} testid="resume">
          <Play className="ico" />
          Resume
        </ActButton>
      ) : (
        <ActButton target={target} act={{ do: "pause" }} onDone={onDone} testid="pause">
          <Pause className="ico" />
          Pause
        </ActButton>
      )}
      {state.status === "failed" ? (
        ["edge_exhausted", "no_advance"].includes(state.error?.code ?? "") ? (
          <ActButton target={target} act={{ do: "revive" }} onDone={onDone} testid="revive">
            <RotateCcw className="ico" />
            Revive
          </ActButton>
        ) : (
          <ActButton target={target} act={{ do: "recast" }} onDone={onDone} testid="recast">
            <RotateCcw className="ico" />
            Try again
          </ActButton>
        )
      ) : null}
      {over ? null : <Guide key={socket} state={state} target={target} socket={socket} onDone={onDone} />}
      {fork}
      {over ? null : (
        <Confirm
          className="btn danger"
          target={target}
          act={{ do: "abort" }}
          onDone={onDone}
          testid="stop"
          title="Stop this cast"
          text="It ends for good. What it made and its log stay. To stop it for now, pause it instead."
          verb="Stop this cast"
          danger
        >
          <Square className="ico" />
          Stop
        </Confirm>
      )}
    </div>
  );
}

function Modes({
  state,
  target,
  onDone,
}: {
  state: CastState;
  target: Target;
  onDone: (done: Done, act: Act) => void;
}) {
  const [act, setAct] = useState<Act | null>(null);
  return (
    <>
      <span className="modes">
        <Seg
          label="Pace"
          now={state.pace}
          onPick={(value) => setAct({ do: "mode", value })}
          items={[
            { id: "AUTO", label: "Auto" },
            { id: "INTERACTIVE", label: "Interactive" },
          ]}
        />
        <Seg
          label="What turns may write"
          now={state.globalMode}
          onPick={(value) => setAct({ do: "globalMode", value })}
          items={[
            { id: "PLANNING", label: "Planning" },
            { id: "IMPLEMENTATION", label: "Implementation" },
          ]}
        />
      </span>
      {act ? (
        <span className="pop-host">
          <div className="pop" role="group" aria-label="Change the mode">
            <h3>
              {act.do === "mode"
                ? act.value === "AUTO"
                  ? "Let turns start by themselves"
                  : "Start no turn by itself"
                : act.do === "globalMode" && act.value === "PLANNING"
                  ? "Let turns write documents only"
                  : "Let turns write what their socket allows"}
            </h3>
            <div className="stack">
              <div className="dim">Nothing is interrupted and nothing is lost.</div>
              <Cli words={commandLine(target.castId, act)} />
              <div className="foot">
                <button type="button" className="btn" onClick={() => setAct(null)}>
                  Cancel
                </button>
                <ActButton
                  className="btn primary"
                  target={target}
                  act={act}
                  testid="mode-confirm"
                  onDone={(result, what) => {
                    setAct(null);
                    onDone(result, what);
                  }}
                >
                  Change it
                </ActButton>
              </div>
            </div>
          </div>
        </span>
      ) : null}
    </>
  );
}

function Guide({
  state,
  target,
  socket,
  onDone,
}: {
  state: CastState;
  target: Target;
  socket: string;
  onDone: (done: Done, act: Act) => void;
}) {
  const [node, setNode] = useState(socket);
  const draft = `materia.draft.${target.castId}`;
  const [text, setText] = useState(() => sessionStorage.getItem(draft) ?? "");
  const keep = (value: string) => {
    setText(value);
    sessionStorage.setItem(draft, value);
  };
  const act: Act = { do: "say", node, text };
  return (
    <Confirm
      target={target}
      act={act}
      testid="guide"
      title="Tell a socket something"
      text="It is one more input: the socket takes it with its next turn, and you find it in its prompt."
      verb="Send"
      ready={text.trim() !== ""}
      onDone={(result, what) => {
        keep("");
        onDone(result, what);
      }}
      body={
        <>
          <Pick
            label="To"
            value={node}
            onPick={setNode}
            options={Object.entries(state.plan?.nodes ?? {}).map(([id, plan]) => ({
              value: id,
              label: plan.materia === id ? id : `${nameOf(state, id)} (${id})`,
            }))}
          />
          <textarea
            className="field"
            rows={3}
            value={text}
            aria-label="What it is told"
            data-testid="guide-text"
            onChange={(event) => keep(event.target.value)}
            // biome-ignore lint/a11y/noAutofocus: the box was just asked for
            autoFocus
          />
        </>
      }
    >
      <MessageSquare className="ico" />
      Guide
    </Confirm>
  );
}

function Fork({
  state,
  target,
  onDone,
  past,
}: {
  state: CastState;
  target: Target;
  onDone: (done: Done, act: Act) => void;
  past: boolean;
}) {
  return (
    <Confirm
      className={`btn${past ? " primary" : ""}`}
      target={target}
      act={{ do: "fork", at: state.seq }}
      onDone={onDone}
      testid="fork"
      title={`Fork at event ${state.seq}`}
      text="A new cast begins with everything that this one had at that event. This one is not touched."
      verb={`Fork at event ${state.seq}`}
    >
      <GitFork className="ico" />
      {past ? "Fork here" : "Fork"}
    </Confirm>
  );
}
