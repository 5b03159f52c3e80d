// Why a socket ran, or why it does not run; and how it is started by hand.
import { useState } from "react";
import { segment } from "../../../api/client";
import type { Why } from "../../../api/generated";
import { type Arrival, arrivals, type CastState, itemTitle, nameOf, type Turn } from "../../../fold";
import { Confirm, type Target } from "../../../shared/ActButton";
import { useGet } from "../../../shared/ask";
import { Cli } from "../../../shared/Cli";
import { useCast } from "../../../shared/cast-store";
import { isExported } from "../../../shared/exported";
import { TextArea } from "../../../shared/Field";
import { EventLink, Linked } from "../../../shared/Linked";
import { ErrorBox, Foreign, Reading, Sub } from "../../../shared/parts";
import { oneLine } from "../../../shared/text";
import type { PanelProps } from "../props";
import css from "../style.module.css";

export function WhyTab(props: PanelProps & { turn: Turn | undefined; newest: boolean }) {
  const { store, state, socket, past, onEvent, target, turn, newest } = props;
  // An earlier turn is explained as of when it began.
  const at = turn && !newest ? turn.seq : past ? state.seq : null;
  const path = `/casts/${segment(store.id)}/nodes/${segment(socket)}/why`;
  const why = useGet<Why>(path, { project: store.project, at }, { since: at ?? state.seq });
  const lines = turn ? <Arrivals {...props} turn={turn} /> : null;
  if (why.error)
    return (
      <>
        {lines}
        <ErrorBox error={why.error} />
      </>
    );
  if (!why.data) return <Reading />;
  const answer = why.data;
  const names = (id: string) => state.plan?.nodes[id]?.materia;
  const unmet = answer.conditions.filter((one) => !one.holds);
  const met = answer.conditions.filter((one) => one.holds);
  const shown = met.filter((one) => one.events.length > 0 && /\d/.test(one.text));
  const quiet = met.filter((one) => !shown.includes(one));
  return (
    <>
      <p className={css.whyS} data-testid="why-sentence">
        <Linked text={answer.sentence} onEvent={onEvent} names={names} />
      </p>
      {lines}
      {answer.because.length > 0 ? (
        <>
          <Sub as="h3">{answer.ran ? "Why it ran" : "What is known"}</Sub>
          <ol className={css.chain}>
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
      <Sub as="h3">
        {newest ? "Would another turn start now?" : `Would another have started at event ${at}?`}{" "}
        {answer.runnable ? "Yes" : `No, ${unmet.length} of ${answer.conditions.length} conditions do not hold`}
      </Sub>
      <ul className={css.cond}>
        {[...unmet, ...shown].map((one) => (
          <li key={one.name} className={one.holds ? css.ok : "no"}>
            <span aria-hidden="true">{one.holds ? "✓" : "×"}</span>
            <span className={css.k}>{one.name}</span>
            <span>
              <Linked text={one.text} onEvent={onEvent} names={names} />
              {one.of?.map((part) => (
                <span key={part.name} className={css.part}>
                  <Linked text={part.text} onEvent={onEvent} names={names} />
                </span>
              ))}
            </span>
            <span className={css.evs}>
              {one.events.slice(0, 4).map((seq) => (
                <EventLink key={seq} seq={seq} onEvent={onEvent} />
              ))}
            </span>
          </li>
        ))}
        {quiet.length > 0 ? (
          <li className={css.ok}>
            <span aria-hidden="true">✓</span>
            <span className={css.rest}>{quiet.map((one) => one.name).join(", ")}</span>
          </li>
        ) : null}
      </ul>
      {answer.suggestion ? (
        <>
          <Sub as="h3">To let it run</Sub>
          {answer.suggestion.steps.map((step) => (
            <div key={step.text} className={css.step}>
              <span className="dim sm">
                <Linked text={step.text} onEvent={onEvent} names={names} />
              </span>
              {step.command ? <Cli words={step.command.split(" ")} /> : null}
            </div>
          ))}
        </>
      ) : null}
      {!past && !isExported() && (state.status === "running" || state.status === "waiting") ? (
        <div className={css.step}>
          <Trigger state={state} target={target} socket={socket} />
        </div>
      ) : null}
    </>
  );
}

const conditions: Record<Arrival["when"], string> = {
  always: "always",
  satisfied: "satisfied",
  not_satisfied: "not satisfied",
  failure: "on failure",
  exit: "the exit of its loop",
};

/** What the turn took, line by line. */
function Arrivals({ store, state, turn, onEvent }: PanelProps & { turn: Turn }) {
  const events = useCast(store, (held) => held.events);
  const came = arrivals(events, state.plan, turn);
  if (came.length === 0) return null;
  return (
    <>
      <Sub as="h3">Lines that brought its input</Sub>
      <ul className={css.arrivals} data-testid="arrivals">
        {came.map((one) => (
          <li key={one.seq}>
            <EventLink seq={one.seq} onEvent={onEvent} />
            <span>
              <Foreign as="strong" text={nameOf(state, one.from)} />, <em>{conditions[one.when]}</em>
              {one.limit
                ? `: ${one.taken} of ${one.limit} traversals${one.item ? ` for ${oneLine(itemTitle(state, one.item), 40)}` : ""}`
                : one.taken > 1
                  ? `, taken ${one.taken} times by then${one.item ? ` for ${oneLine(itemTitle(state, one.item), 40)}` : ""}`
                  : ""}
            </span>
          </li>
        ))}
      </ul>
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
      text={`The turn takes all waiting inputs. It starts regardless of the pace and the trigger of the socket.${asks ? " This also approves the turn." : ""}`}
      verb="Start the turn"
      onDone={() => setMessage("")}
      body={
        <TextArea
          rows={2}
          aria-label="Text for the turn (optional)"
          placeholder="Text for the turn (optional)"
          value={message}
          onChange={(event) => setMessage(event.target.value)}
        />
      }
    >
      Start a turn by hand
    </Confirm>
  );
}
