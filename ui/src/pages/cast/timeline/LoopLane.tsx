// The lane of a loop: its items, one behind the other.
import { type CastState, loopItems, type Turn } from "../../../fold";
import { Item } from "../../../shared/parts";
import { oneLine } from "../../../shared/text";
import type { Places } from ".";

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
  const items = loop ? loopItems(state, loop) : [];
  const byItem = new Map<string | null, Turn[]>();
  for (const turn of state.turns)
    if (members.has(turn.socket)) byItem.set(turn.item, [...(byItem.get(turn.item) ?? []), turn]);
  return (
    <div className="lane-row">
      <span className="lane-l" style={{ paddingLeft: depth * 16 }}>
        <span className="faint" aria-hidden="true">
          ↺
        </span>
        <span className="cut">{oneLine(id, 40)}</span>
      </span>
      <div className="lane">
        {items.map((item) => {
          const turns = byItem.get(item.key) ?? [];
          const first = turns[0];
          if (!first) return null;
          const from = first.start / 1000;
          const to = item.state === "done" ? Math.max(...turns.map((turn) => (turn.end ?? turn.start) / 1000)) : end;
          return (
            <span key={item.key}>
              <span
                className={`bar item st ${item.state}`}
                title={`${oneLine(item.label ?? "", 120)} ${item.key}`.trim()}
                style={{ left: places.left(from), width: places.wide(from, to) }}
              />
              {places.room(from, to) >= LABEL ? (
                <span className="itlab cut" style={{ left: places.left(from), maxWidth: places.wide(from, to) }}>
                  <Item itemKey={item.key} title={item.label} />
                </span>
              ) : null}
            </span>
          );
        })}
      </div>
    </div>
  );
}
