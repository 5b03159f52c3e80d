// The lane of a loop: its items, one behind the other.
import { memo } from "react";
import { type CastState, itemIndex, itemKey, itemStates, type Turn } from "../../../fold";
import { cx } from "../../../shared/cx";
import { Item } from "../../../shared/parts";
import { oneLine } from "../../../shared/text";
import css from "../style.module.css";
import { type Places, shared } from "./scale";

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
    <div className={css.laneRow}>
      <span className={css.laneL} style={{ paddingLeft: depth * 16 }}>
        <span className="faint" aria-hidden="true">
          ↺
        </span>
        <span className="cut">{oneLine(id, 40)}</span>
      </span>
      <div className={css.lane}>
        {shared(bars, places.room).map(({ key, label, kind, from, to, last }) => (
          <ItemBar
            key={key}
            name={key}
            label={last.key === key ? label : null}
            until={last.key}
            kind={kind}
            left={places.left(from)}
            width={places.wide(from, to)}
            named={places.room(from, to) >= LABEL}
          />
        ))}
      </div>
    </div>
  );
}

interface ItemBarProps {
  name: string;
  /** The last item that shares it. */
  until: string;
  label: string | null;
  kind: string;
  left: string;
  width: string;
  named: boolean;
}

const ItemBar = memo(function ItemBar({ name, until, label, kind, left, width, named }: ItemBarProps) {
  return (
    <>
      <span
        className={cx(css.bar, css.item, "st", kind)}
        title={`${oneLine(label ?? "", 120)} ${name}${until === name ? "" : ` to ${until}`}`.trim()}
        style={{ left, width }}
      />
      {named ? (
        <span className={cx(css.itlab, "cut")} style={{ left, maxWidth: width }}>
          <Item itemKey={name} title={label} />
        </span>
      ) : null}
    </>
  );
});
