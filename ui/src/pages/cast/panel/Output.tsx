// What a turn answered: parsed or raw, and what it took.
import type { TurnView } from "../../../api/generated";
import type { Turn } from "../../../fold";
import { count, duration, money } from "../../../shared/format";
import { JsonText } from "../../../shared/JsonTree";
import { EventLink } from "../../../shared/Linked";
import { CopyButton, Foreign, Reading, Seg } from "../../../shared/parts";
import { Fact, Facts } from "../../../shared/Table";
import { plain } from "../../../shared/text";
import type { PanelProps } from "../props";
import css from "../style.module.css";

type OutputProps = Pick<PanelProps, "onEvent" | "search" | "change"> & {
  turn: Turn | undefined;
  full: TurnView | null;
};

export function OutputTab({ turn, full, onEvent, search, change }: OutputProps) {
  if (!turn) return <p className="dim">No turn has run here yet.</p>;
  if (turn.outcome === "running")
    return (
      <p className="dim">
        No output yet: the turn has been running since event <EventLink seq={turn.seq} onEvent={onEvent} />.
      </p>
    );
  if (!full) return <Reading />;
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
            items={{ parsed: "Parsed", raw: "Raw" }}
          />
        ) : null}
        <CopyButton text={full.output ?? ""} label="Copy the output" />
      </div>
      {turn.reason ? <Foreign as="blockquote" className={css.reason} text={plain(turn.reason)} /> : null}
      <div className={css.out} data-testid="output-text">
        {mode === "parsed" ? <JsonText value={full.parsed} /> : <pre>{plain(full.output ?? "")}</pre>}
      </div>
      <Facts>
        <Fact name="Answered by">{full.provider ? [full.provider, full.model].filter(Boolean).join(" ") : null}</Fact>
        <Fact name="Session" className="mono">
          {full.session ? `${full.session.id.slice(0, 8)}${full.session.resume ? ", continued" : ""}` : null}
        </Fact>
        <Fact name="Ended at">
          {full.endSeq ? (
            <>
              event <EventLink seq={full.endSeq} onEvent={onEvent} />
            </>
          ) : null}
        </Fact>
      </Facts>
    </>
  );
}
