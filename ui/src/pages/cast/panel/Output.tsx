// What a turn answered: parsed or raw, and what it took.
import type { TurnView } from "../../../api/generated";
import type { Turn } from "../../../fold";
import { count, duration, money } from "../../../shared/format";
import { JsonText } from "../../../shared/JsonTree";
import { EventLink } from "../../../shared/Linked";
import { CopyButton, Foreign, Seg } from "../../../shared/parts";
import { plain } from "../../../shared/text";
import type { PanelProps } from ".";

export function OutputTab({
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
        No output yet: the turn has been running since event <EventLink seq={turn.seq} onEvent={onEvent} />.
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
