// What a socket puts out right now.
import type { TurnView } from "../../../api/generated";
import { type Turn, waitsAt } from "../../../fold";
import { count } from "../../../shared/format";
import { plain } from "../../../shared/text";
import type { PanelProps } from "../props";

type NowProps = PanelProps & { turn: Turn | undefined; full: TurnView | null };

export function NowTab({ socket, live, state, past, turn, full }: NowProps) {
  if (turn?.outcome === "running" && !past) {
    if (!live || live.lines.length === 0)
      return <p className="dim">The turn has been running since event {turn.seq}. It has no output yet.</p>;
    return (
      <>
        <p className="dim sm">
          Live, {count(live.lines.length + live.dropped)} lines, {count(live.chars)} characters
          {live.dropped > 0 ? (
            <strong data-testid="truncated"> · the first {count(live.dropped)} lines are not shown here</strong>
          ) : null}
        </p>
        <pre data-testid="live-output" role="log" aria-live="off">
          {live.lines.join("\n")}
        </pre>
      </>
    );
  }
  const waits = waitsAt(state, socket);
  return (
    <>
      <p className="dim">
        {turn?.outcome === "running"
          ? `At event ${state.seq} the turn is running.`
          : turn
            ? `Nothing runs here. The last turn ended at event ${turn.endSeq}.`
            : "Nothing has run here yet."}
      </p>
      {waits > 0 ? (
        <p className="dim">
          {waits} {waits === 1 ? "input waits" : "inputs wait"} here.
        </p>
      ) : null}
      {full?.output && !past ? <pre>{plain(full.output)}</pre> : null}
    </>
  );
}
