// All turns of a socket, the newest first.
import type { Turn } from "../../../fold";
import { count, duration } from "../../../shared/format";
import { Item, State } from "../../../shared/parts";

export function HistoryTab({
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
            <td className="cut">{turn.item ? <Item itemKey={turn.item} title={turn.itemLabel} /> : null}</td>
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
            <td className="r">{turn.tokens > 0 ? count(turn.tokens) : <span className="faint">not reported</span>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
