// A socket that goes round in circles: two outputs that are the same, and the ways out of it.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { segment } from "../../api/client";
import { field } from "../../api/events";
import type { CastView, EventLine } from "../../api/generated";
import { itemKey, titleOf } from "../../fold/fold";
import { ActButton, Confirm } from "../../shared/ActButton";
import { type Act, commandLine } from "../../shared/acts";
import { useGet } from "../../shared/ask";
import { LinkButton } from "../../shared/Button";
import { Cli } from "../../shared/Cli";
import { TextArea } from "../../shared/Field";
import { JumpLink } from "../../shared/Linked";
import { castPath } from "../../shared/live";
import { ErrorBox, Foreign, Tag } from "../../shared/parts";
import { oneLine, plain } from "../../shared/text";
import css from "./inbox.module.css";
import type { CardProps } from "./props";
import { StopCast } from "./StopCast";
import { events, targetOf } from "./target";

export function Stall({ item, onAnswered }: CardProps) {
  const target = targetOf(item);
  const [text, setText] = useState("");
  const evidence = useQuery({
    queryKey: ["evidence", item.castId, target.project, item.since],
    queryFn: async ({ signal }) => {
      const changed = await events(item, "mode.changed", signal);
      const seqs =
        field(
          changed.findLast((event) => field(event, "reason") === "stall"),
          "evidence",
        ) ?? [];
      const ended = await events(item, "turn", signal);
      return seqs.map((seq) => ({ seq, end: ended.find((event) => field(event, "turn") === seq) }));
    },
  });
  const view = useGet<CastView>(`/casts/${segment(item.castId)}`, { project: target.project }, { since: item.since });
  const loop = view.data ? itemUnderWay(view.data, item.node ?? "") : null;
  const skip: Act = { do: "skip", ...(loop ? { loop: loop.id } : {}) };
  const say: Act = { do: "say", ...(item.node ? { node: item.node } : {}), text };
  const shown = (evidence.data ?? []).slice(-2);
  const same = shown.length === 2 && output(shown[0]?.end) === output(shown[1]?.end);
  return (
    <>
      <div className={css.ibody}>
        <Foreign as="p" text={item.message} />
        {evidence.error ? <ErrorBox error={evidence.error} /> : null}
        <div className={css.pair} data-testid="evidence">
          {shown.map((one) => (
            <figure key={one.seq}>
              <figcaption className="row sm">
                <span className="grow">
                  Turn of event{" "}
                  <JumpLink to={castPath(item, { turn: one.seq, socket: item.node ?? "" })}>{one.seq}</JumpLink>
                </span>
                {same ? <Tag>= the same</Tag> : null}
              </figcaption>
              <pre>{plain(output(one.end))}</pre>
            </figure>
          ))}
        </div>
        <label className="sm dim">
          Tell it what to do differently
          <TextArea rows={2} value={text} data-testid="guide-stall" onChange={(event) => setText(event.target.value)} />
        </label>
      </div>
      <footer>
        <ActButton
          look="primary"
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
        {loop ? (
          <Confirm
            target={target}
            act={skip}
            testid="skip"
            title={`Stop item ${loop.key}`}
            text={
              <>
                {loop.label ? (
                  <>
                    “<Foreign text={oneLine(loop.label, 80)} />”{" "}
                  </>
                ) : null}
                ends as not satisfied. The cast goes on with what follows; other items are not touched.
              </>
            }
            verb={`Stop item ${loop.key}`}
            onDone={() => onAnswered(`Stopped item ${loop.key}: ${item.castId}`)}
          >
            Stop item {loop.key}
          </Confirm>
        ) : null}
        {shown[0] ? (
          <LinkButton to={castPath(item, { at: Math.max(1, shown[0].seq - 1) })} data-testid="fork-stall">
            Fork from before
          </LinkButton>
        ) : null}
        <StopCast item={item} testid="stop-stall" onAnswered={onAnswered} />
        <span className="grow" />
        <Cli bare words={commandLine(item.castId, text.trim() ? say : { do: "resume" })} project={target.project} />
      </footer>
    </>
  );
}

function output(event: EventLine | undefined): string {
  return field(event, "output") ?? field(event, "message") ?? "";
}

/** The item that the loop around a socket is at. */
export function itemUnderWay(view: CastView, socket: string): { id: string; key: string; label: string } | null {
  const around = [...(view.plan.nodes[socket]?.loops ?? [])].reverse();
  for (const id of around) {
    const loop = view.loops?.find((one) => one.id === id);
    if (loop && loop.index < loop.total)
      return {
        id,
        key: itemKey(loop.index),
        label: titleOf(loop.items[loop.index] ?? null),
      };
  }
  return null;
}
