// All turns of a socket, the newest first.
import type { SocketState } from "../../../api/generated";
import type { Turn } from "../../../fold";
import { count, duration } from "../../../shared/format";
import { Jump } from "../../../shared/Linked";
import { Item, State } from "../../../shared/parts";
import { Table } from "../../../shared/Table";

const LOOKS: Record<string, SocketState> = { completed: "done", running: "running", interrupted: "aborted" };

interface HistoryProps {
  turns: Turn[];
  now: Turn | undefined;
  pick: (seq: number) => void;
  time: number;
}

export function HistoryTab({ turns, now, pick, time }: HistoryProps) {
  if (turns.length === 0) return <p className="dim">No turn has run here yet.</p>;
  return (
    <Table columns={[["Visit", 56], ["Item", 56], ["Outcome"], ["Time", 64, "r"], ["Tokens", 76, "r"]]}>
      <tbody>
        {turns.toReversed().map((turn) => (
          <tr key={turn.seq} aria-selected={turn === now}>
            <td>
              <Jump onClick={() => pick(turn.seq)}>
                {turn.visit}
                {turn.attempt > 1 ? `·${turn.attempt}` : ""}
              </Jump>
            </td>
            <td className="cut">{turn.item ? <Item itemKey={turn.item} title={turn.itemLabel} /> : null}</td>
            <td>
              <State
                state={LOOKS[turn.outcome] ?? "failed"}
                word={
                  turn.outcome !== "completed"
                    ? turn.outcome
                    : turn.satisfied === false
                      ? "Not satisfied"
                      : turn.satisfied
                        ? "Satisfied"
                        : "Done"
                }
              />
            </td>
            <td className="r">{duration(turn.durationMs ?? time - turn.start / 1000, true)}</td>
            <td className="r">{turn.tokens > 0 ? count(turn.tokens) : <span className="faint">not reported</span>}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
