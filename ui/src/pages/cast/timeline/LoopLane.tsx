// The lane of a loop: its items, one behind the other.
import { type CastState, itemIndex, itemKey, itemStates, type Turn } from "../../../fold";
import { Item } from "../../../shared/parts";
import { oneLine } from "../../../shared/text";
import type { Places } from ".";
import { uncovered } from "./scale";

interface LoopLaneProps {
  state: CastState;
  id: string;
  depth: number;
  places: Places;
  end: number;
}

/** The least room for a label: where there is less, only the bar is drawn. */
const LABEL = 44;

export function LoopLane({ state, id, depth, places, end }: LoopLaneProps) {
  const loop = state.loops[id];
  const members = new Set(state.plan?.loops?.[id]?.members ?? []);
  const stateAt = loop ? itemStates(state, loop) : null;
  const byItem = new Map<number, Turn[]>();
  for (const turn of state.turns) {
    const index = turn.item && members.has(turn.socket) ? itemIndex(turn.item) : -1;
    const own = byItem.get(index);
    if (own) own.push(turn);
    else if (loop && index >= 0 && index < loop.total) byItem.set(index, [turn]);
  }
  const bars = [...byItem].map(([index, turns]) => {
    const kind = stateAt?.(index) ?? "idle";
    const from = (turns[0]?.start ?? 0) / 1000;
    const to = kind === "done" ? Math.max(...turns.map((turn) => (turn.end ?? turn.start) / 1000)) : end;
    return { key: itemKey(index), label: loop?.labels[index] ?? null, kind, from, to };
  });
  return (
    <div className="lane-row">
      <span className="lane-l" style={{ paddingLeft: depth * 16 }}>
        <span className="faint" aria-hidden="true">
          ↺
        </span>
        <span className="cut">{oneLine(id, 40)}</span>
      </span>
      <div className="lane">
        {uncovered(bars, places.room).map(({ key, label, kind, from, to }) => (
          <span key={key}>
            <span
              className={`bar item st ${kind}`}
              title={`${oneLine(label ?? "", 120)} ${key}`.trim()}
              style={{ left: places.left(from), width: places.wide(from, to) }}
            />
            {places.room(from, to) >= LABEL ? (
              <span className="itlab cut" style={{ left: places.left(from), maxWidth: places.wide(from, to) }}>
                <Item itemKey={key} title={label} />
              </span>
            ) : null}
          </span>
        ))}
      </div>
    </div>
  );
}
