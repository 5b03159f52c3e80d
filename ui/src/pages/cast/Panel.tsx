// The focus panel: one socket, one item, one turn.
import { ChevronLeft, ChevronRight } from "lucide-react";
import { useState } from "react";
import { get, getText, segment } from "../../api/client";
import type { TurnView, Why } from "../../api/types";
import { type CastState, nameOf, type Turn } from "../../fold";
import { KindIcon } from "../../graph/Graph";
import { Confirm, type Target } from "../../shared/ActButton";
import type { CastStore } from "../../shared/cast-store";
import { DiffView } from "../../shared/DiffView";
import { isExported } from "../../shared/exported";
import { bytes, count, duration, money } from "../../shared/format";
import { JsonText } from "../../shared/JsonTree";
import { EventLink, Linked } from "../../shared/Linked";
import { Cli, CopyButton, ErrorBox, Foreign, Pick, Seg, State, Tabs } from "../../shared/parts";
import { plain } from "../../shared/text";
import { type Loaded, useLoad } from "../../shared/useLoad";
import { InputTab } from "./Input";
import { cardOf } from "./views";

export type PanelTab = "now" | "input" | "output" | "why" | "history" | "files";

interface PanelProps {
  store: CastStore;
  state: CastState;
  past: boolean;
  socket: string;
  item: string | null;
  search: URLSearchParams;
  change: (changes: Record<string, string | number | null>, push?: boolean) => void;
  onEvent: (seq: number) => void;
  now: number;
  target: Target;
}

export function FocusPanel(props: PanelProps) {
  const { store, state, past, socket, item, search, change, onEvent, now, target } = props;
  const turns = state.turns.filter((turn) => turn.socket === socket);
  const ofItem = item ? turns.filter((turn) => turn.item === item) : turns;
  const wanted = Number(search.get("turn") ?? 0);
  const turn = turns.find((one) => one.seq === wanted) ?? ofItem.at(-1);
  const live = store.get().live[socket];
  const card = cardOf(state, socket, live, now, past);
  const fallback: PanelTab = !turn ? "why" : turn.outcome === "running" ? "input" : "output";
  const tab = (search.get("tab") as PanelTab | null) ?? fallback;
  const kind = state.plan?.nodes[socket]?.generator
    ? "generator"
    : (state.plan?.nodes[socket]?.behavior.type ?? "agent");
  const loaded = useLoad(
    turn ? () => get<TurnView>(`/casts/${segment(store.id)}/turns/${turn.seq}`, { project: store.project }) : null,
    `${store.id}:${turn?.seq}:${turn?.endSeq ?? ""}`,
  );
  const full = turn && loaded.value?.seq === turn.seq ? loaded.value : null;
  const place = turn ? turns.indexOf(turn) : -1;
  const items = [...new Set(turns.map((one) => one.item).filter((key): key is string => key !== null))];
  const files = turn?.endSeq ? (full?.artifacts.length ?? 0) : 0;
  return (
    <aside
      className="panel"
      aria-label={`${nameOf(state, socket)}${turn ? `, visit ${turn.visit}` : ""}`}
      data-testid="panel"
    >
      <div className="phead">
        <div className="row">
          <KindIcon kind={kind} />
          <h2 className="cut">
            <Foreign text={nameOf(state, socket)} />
          </h2>
          <span className="mono faint">{socket}</span>
          <span className="grow" />
          <State state={card.state} word={card.word} testid="panel-state" />
        </div>
        <div className="turn">
          {items.length > 0 ? (
            <Pick
              label="Item"
              value={item ?? turn?.item ?? ""}
              testid="pick-item"
              onPick={(value) => change({ item: value, turn: null })}
              options={items.map((key) => ({ value: key, label: key }))}
            />
          ) : null}
          {turn ? (
            <Pick
              label="Visit"
              value={String(turn.seq)}
              testid="pick-turn"
              onPick={(value) => change({ turn: value, item: null })}
              options={turns.map((one) => ({
                value: String(one.seq),
                label: `${one.visit}${one.attempt > 1 ? `, attempt ${one.attempt}` : ""} of ${turns.at(-1)?.visit}`,
              }))}
            />
          ) : (
            <span className="faint sm">No turn yet</span>
          )}
          {turn ? (
            <span className="faint sm nowrap">
              event <EventLink seq={turn.seq} onEvent={onEvent} />
            </span>
          ) : null}
          <span className="grow" />
          <button
            type="button"
            className="btn quiet small icon"
            aria-label="Turn before"
            disabled={place <= 0}
            onClick={() => change({ turn: turns[place - 1]?.seq ?? null, item: null })}
          >
            <ChevronLeft className="ico" />
          </button>
          <button
            type="button"
            className="btn quiet small icon"
            aria-label="Turn after"
            disabled={place < 0 || place >= turns.length - 1}
            onClick={() => change({ turn: turns[place + 1]?.seq ?? null, item: null })}
          >
            <ChevronRight className="ico" />
          </button>
        </div>
        <Tabs<PanelTab>
          name="tab"
          label="Turn"
          now={tab}
          onPick={(id) => change({ tab: id })}
          items={[
            { id: "now", label: "Now" },
            { id: "input", label: "Input" },
            { id: "output", label: "Output" },
            { id: "why", label: "Why" },
            { id: "history", label: "History", count: turns.length },
            { id: "files", label: "Files", count: files || undefined },
          ]}
        />
      </div>
      <div
        className="pbody"
        id="tab-body"
        role="tabpanel"
        aria-labelledby={`tab-${tab}`}
        data-testid={`panel-${tab}`}
        tabIndex={0}
      >
        {loaded.error && (tab === "input" || tab === "output" || tab === "files") ? (
          <ErrorBox error={loaded.error} />
        ) : null}
        {tab === "now" ? <NowTab {...props} turn={turn} full={full} /> : null}
        {tab === "input" ? <InputTab turn={turn} full={full} turns={turns} onEvent={onEvent} store={store} /> : null}
        {tab === "output" ? (
          <OutputTab turn={turn} full={full} onEvent={onEvent} search={search} change={change} />
        ) : null}
        {tab === "why" ? <WhyTab {...props} target={target} /> : null}
        {tab === "history" ? (
          <HistoryTab turns={turns} now={turn} pick={(seq) => change({ turn: seq, item: null })} time={now} />
        ) : null}
        {tab === "files" ? (
          <FilesTab full={turn?.endSeq ? full : null} store={store} search={search} change={change} />
        ) : null}
      </div>
    </aside>
  );
}

function NowTab({
  store,
  socket,
  state,
  past,
  turn,
  full,
}: PanelProps & { turn: Turn | undefined; full: TurnView | null }) {
  const live = store.get().live[socket];
  if (turn?.outcome === "running" && !past) {
    if (!live || live.lines.length === 0)
      return <p className="dim">The turn is under way since event {turn.seq}. Nothing was heard of it yet.</p>;
    return (
      <>
        <p className="dim sm">
          Live, {count(live.lines.length + live.dropped)} lines, {count(live.chars)} characters
          {live.dropped > 0 ? (
            <strong data-testid="truncated"> · the first {count(live.dropped)} lines are not shown here</strong>
          ) : null}
        </p>
        <div className="text" data-testid="live-output" role="log" aria-live="off">
          {live.lines.join("\n")}
        </div>
      </>
    );
  }
  const waits = state.waits[socket]?.length ?? 0;
  return (
    <>
      <p className="dim">
        {turn?.outcome === "running"
          ? `As of event ${state.seq} the turn is under way.`
          : turn
            ? `Nothing runs here. The last turn ended at event ${turn.endSeq}.`
            : "Nothing has run here yet."}
      </p>
      {waits > 0 ? (
        <p className="dim">
          {waits} {waits === 1 ? "input waits" : "inputs wait"} here.
        </p>
      ) : null}
      {full?.output && !past ? <div className="text faint-top">{plain(full.output)}</div> : null}
    </>
  );
}

function OutputTab({
  turn,
  full,
  onEvent,
  search,
  change,
}: {
  turn: Turn | undefined;
  full: TurnView | null;
  onEvent: (seq: number) => void;
  search: URLSearchParams;
  change: PanelProps["change"];
}) {
  if (!turn) return <p className="dim">No turn has run here yet.</p>;
  if (turn.outcome === "running")
    return (
      <p className="dim">
        No output yet: the turn is under way since event <EventLink seq={turn.seq} onEvent={onEvent} />.
      </p>
    );
  if (!full)
    return (
      <p className="dim" role="status">
        Reading…
      </p>
    );
  const parsed = full.parsed !== undefined && full.parsed !== null;
  const mode = search.get("show") === "raw" || !parsed ? "raw" : "parsed";
  const tokens = (full.usage?.inputTokens ?? 0) + (full.usage?.outputTokens ?? 0);
  return (
    <>
      <div className="row">
        <span className="dim sm grow cut">
          {turn.outcome}
          {turn.satisfied === null ? "" : turn.satisfied ? ", satisfied" : ", not satisfied"} after{" "}
          {duration(turn.durationMs ?? 0, true)}
          {tokens > 0 ? `, ${count(tokens)} tokens` : ""}
          {full.usage?.cost === null || full.usage?.cost === undefined ? "" : `, ${money(full.usage.cost)}`}
        </span>
        {parsed ? (
          <Seg
            small
            label="View"
            now={mode}
            onPick={(show) => change({ show })}
            items={[
              { id: "parsed", label: "Parsed" },
              { id: "raw", label: "Raw" },
            ]}
          />
        ) : null}
        <CopyButton text={full.output ?? ""} label="Copy the output" />
      </div>
      {turn.reason ? (
        <blockquote className="reason">
          <Foreign text={plain(turn.reason)} />
        </blockquote>
      ) : null}
      <div className="out" data-testid="output-text">
        {mode === "parsed" ? <JsonText value={full.parsed} /> : <pre className="text">{plain(full.output ?? "")}</pre>}
      </div>
      <dl className="facts">
        {full.provider ? (
          <div>
            <dt>Answered by</dt>
            <dd>
              {full.provider}
              {full.model ? ` ${full.model}` : ""}
            </dd>
          </div>
        ) : null}
        {full.session ? (
          <div>
            <dt>Session</dt>
            <dd className="mono">
              {full.session.id.slice(0, 8)}
              {full.session.resume ? ", continued" : ""}
            </dd>
          </div>
        ) : null}
        {full.endSeq ? (
          <div>
            <dt>Ended at</dt>
            <dd>
              event <EventLink seq={full.endSeq} onEvent={onEvent} />
            </dd>
          </div>
        ) : null}
      </dl>
    </>
  );
}

function WhyTab({ store, state, socket, past, onEvent, target }: PanelProps) {
  const why: Loaded<Why> = useLoad(
    () =>
      get<Why>(`/casts/${segment(store.id)}/nodes/${segment(socket)}/why`, {
        project: store.project,
        at: past ? state.seq : null,
      }),
    `${store.id}:${socket}:${state.seq}`,
  );
  if (why.error) return <ErrorBox error={why.error} />;
  if (!why.value)
    return (
      <p className="dim" role="status">
        Reading…
      </p>
    );
  const answer = why.value;
  const names = (id: string) => state.plan?.nodes[id]?.materia;
  const unmet = answer.conditions.filter((one) => !one.holds);
  const met = answer.conditions.filter((one) => one.holds);
  const shown = met.filter((one) => one.events.length > 0 && /\d/.test(one.text));
  const quiet = met.filter((one) => !shown.includes(one));
  return (
    <>
      <p className="why-s" data-testid="why-sentence">
        <Linked text={answer.sentence} onEvent={onEvent} names={names} />
      </p>
      {answer.because.length > 0 ? (
        <>
          <h3 className="sub">{answer.ran ? "How it came to run" : "What is known"}</h3>
          <ol className="chain">
            {answer.because.map((one) => (
              <li key={`${one.seq}${one.text}`}>
                {one.seq ? <EventLink seq={one.seq} onEvent={onEvent} /> : <span />}
                <div>
                  <Linked text={one.text} onEvent={onEvent} names={names} />
                </div>
              </li>
            ))}
          </ol>
        </>
      ) : null}
      <h3 className="sub">
        Would another turn start now?{" "}
        {answer.runnable ? "Yes" : `No, ${unmet.length} of ${answer.conditions.length} conditions do not hold`}
      </h3>
      <ul className="cond">
        {[...unmet, ...shown].map((one) => (
          <li key={one.name} className={one.holds ? "ok" : "no"}>
            <span aria-hidden="true">{one.holds ? "✓" : "×"}</span>
            <span className="k">{one.name}</span>
            <span>
              <Linked text={one.text} onEvent={onEvent} names={names} />
              {one.of?.map((part) => (
                <span key={part.name} className="part">
                  <Linked text={part.text} onEvent={onEvent} names={names} />
                </span>
              ))}
            </span>
            <span className="evs">
              {one.events.slice(0, 4).map((seq) => (
                <EventLink key={seq} seq={seq} onEvent={onEvent} />
              ))}
            </span>
          </li>
        ))}
        {quiet.length > 0 ? (
          <li className="ok">
            <span aria-hidden="true">✓</span>
            <span className="rest">{quiet.map((one) => one.name).join(", ")}</span>
          </li>
        ) : null}
      </ul>
      {answer.suggestion ? (
        <>
          <h3 className="sub">What would let it run</h3>
          {answer.suggestion.steps.map((step) => (
            <div key={step.text} className="step">
              <span className="dim sm">
                <Linked text={step.text} onEvent={onEvent} names={names} />
              </span>
              {step.command ? <Cli words={step.command.split(" ")} /> : null}
            </div>
          ))}
        </>
      ) : null}
      {!past && !isExported() && (state.status === "running" || state.status === "waiting") ? (
        <div className="step">
          <Trigger state={state} target={target} socket={socket} />
        </div>
      ) : null}
    </>
  );
}

function Trigger({ state, target, socket }: { state: CastState; target: Target; socket: string }) {
  const [message, setMessage] = useState("");
  const asks = state.questions[socket] !== undefined;
  return (
    <Confirm
      target={target}
      act={{ do: "trigger", node: socket, ...(message.trim() ? { message } : {}), ...(asks ? { approve: true } : {}) }}
      testid="trigger"
      title={`Start a turn of ${nameOf(state, socket)}`}
      text={`It takes everything that waits there, whatever the pace or its trigger.${asks ? " Its question is answered with yes, too." : ""}`}
      verb="Start the turn"
      onDone={() => setMessage("")}
      body={
        <textarea
          className="field"
          rows={2}
          aria-label="What it is told, if anything"
          placeholder="What it is told, if anything"
          value={message}
          onChange={(event) => setMessage(event.target.value)}
        />
      }
    >
      Start a turn by hand
    </Confirm>
  );
}

function HistoryTab({
  turns,
  now,
  pick,
  time,
}: {
  turns: Turn[];
  now: Turn | undefined;
  pick: (seq: number) => void;
  time: number;
}) {
  if (turns.length === 0) return <p className="dim">No turn has run here yet.</p>;
  return (
    <table className="tbl history">
      <colgroup>
        <col className="h-v" />
        <col className="h-i" />
        <col />
        <col className="h-t" />
        <col className="h-k" />
      </colgroup>
      <thead>
        <tr>
          <th>Visit</th>
          <th>Item</th>
          <th>Outcome</th>
          <th className="r">Time</th>
          <th className="r">Tokens</th>
        </tr>
      </thead>
      <tbody>
        {turns.toReversed().map((turn) => (
          <tr key={turn.seq} aria-selected={turn === now}>
            <td>
              <button type="button" className="ev" onClick={() => pick(turn.seq)}>
                {turn.visit}
                {turn.attempt > 1 ? `·${turn.attempt}` : ""}
              </button>
            </td>
            <td>{turn.item ?? ""}</td>
            <td>
              <State
                state={
                  turn.outcome === "completed"
                    ? "done"
                    : turn.outcome === "running"
                      ? "running"
                      : turn.outcome === "interrupted"
                        ? "aborted"
                        : "failed"
                }
                word={
                  turn.outcome === "completed"
                    ? turn.satisfied === false
                      ? "Not satisfied"
                      : turn.satisfied
                        ? "Satisfied"
                        : "Done"
                    : turn.outcome
                }
              />
            </td>
            <td className="r">{duration(turn.durationMs ?? time - turn.start / 1000, true)}</td>
            <td className="r">{turn.tokens > 0 ? count(turn.tokens) : <span className="faint">none told</span>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function FilesTab({
  full,
  store,
  search,
  change,
}: {
  full: TurnView | null;
  store: CastStore;
  search: URLSearchParams;
  change: PanelProps["change"];
}) {
  const files = full?.artifacts ?? [];
  const chosen = files.find((file) => file.path === search.get("file"));
  // What the turn made comes before what is kept about it.
  const made = files.find((file) => !/\.(meta|input|output)\.json$|\.prompt\.txt$/.test(file.path));
  const name = (chosen ?? made ?? files[0])?.path ?? null;
  const text = useLoad(
    name
      ? () =>
          getText(`/casts/${segment(store.id)}/files/${name.split("/").map(segment).join("/")}`, {
            project: store.project,
          })
      : null,
    `${store.id}:${name}`,
  );
  if (files.length === 0)
    return <p className="dim">{full ? "This turn left no files." : "No turn has ended here yet."}</p>;
  return (
    <>
      <ul className="files">
        {files.map((file) => (
          <li key={file.path}>
            <button
              type="button"
              className="btn quiet small"
              aria-pressed={file.path === name}
              onClick={() => change({ file: file.path })}
            >
              <span className="mono cut">
                <Foreign text={file.path} />
              </span>
              <span className="faint">{bytes(file.bytes)}</span>
            </button>
          </li>
        ))}
      </ul>
      {text.error ? (
        <ErrorBox error={text.error} />
      ) : text.value !== null ? (
        <DiffView text={text.value} />
      ) : (
        <p className="dim">Reading…</p>
      )}
    </>
  );
}
