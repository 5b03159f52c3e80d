// Cards, regions and the end: what stands in a graph.
import { Handle, type NodeProps, Position } from "@xyflow/react";
import { Crosshair } from "lucide-react";
import { memo } from "react";
import { Button } from "../shared/Button";
import { cx } from "../shared/cx";
import { Item, Mark, State } from "../shared/parts";
import { oneLine } from "../shared/text";
import css from "./graph.module.css";
import { Badges, KindIcon } from "./KindIcon";
import type { CardNode, EndNode, RegionNode } from "./types";

/** Lines are tied to these; where they really begin and end, the layout says. */
const Ties = () => (
  <>
    <Handle type="target" position={Position.Left} isConnectable={false} />
    <Handle type="source" position={Position.Right} isConnectable={false} />
  </>
);

export const SocketCard = memo(({ data }: NodeProps<CardNode>) => {
  const { card, id, name, kind, generator, consumer, entry, selected, onSelect } = data;
  return (
    <>
      <Ties />
      <button
        type="button"
        className={cx(css.card, "st", card.state, kind, selected && css.sel, entry && css.entry, "nopan")}
        aria-pressed={selected}
        data-testid={`card-${id}`}
        data-state={card.state}
        data-socket={id}
        onClick={() => onSelect(id)}
      >
        {entry ? <i className={css.start} /> : null}
        <Badges generator={generator} consumer={consumer} />
        {card.color ? <i className={css.spine} style={{ background: card.color }} /> : null}
        {card.gate ? (
          <svg className={css.gate} viewBox="0 0 18 18" aria-label="asks before it runs" role="img">
            <path d="M9 1.500 15.500 5.250v7.500L9 16.500 2.500 12.750v-7.500z" />
          </svg>
        ) : null}
        <span className={css.h}>
          <KindIcon kind={kind} color={card.color} />
          <span className={css.t}>{oneLine(name, 80)}</span>
          <State state={card.state} word={card.word} />
        </span>
        <span className={css.m}>
          <span className="mono cut">{id}</span>
          <span className="cut">{card.note}</span>
        </span>
        <span className={cx(css.live, "cut")}>{card.live || "\u00a0"}</span>
      </button>
    </>
  );
});

/** Words up to 24 items, cells up to 120, then neighbours share one. */
function ItemStrip({ id, view, item, onItem }: RegionNode["data"]) {
  const { cells } = view;
  const words = cells.length <= 24;
  const shared = (cells[0]?.size ?? 1) > 1;
  const here = item ?? view.current;
  return (
    <div className={cx(css.rstrip, !words && css.tight)} role="group" aria-label={`Items of ${id}`}>
      {cells.map(({ first, last, label, state, done, size, pick }) => {
        const group = `${first} to ${last}: ${done} of ${size} done`;
        const named = `${oneLine(label ?? "", 80)} ${first}: ${state.replace("_", " ")}`.trim();
        return (
          <button
            key={first}
            type="button"
            className={cx("st", state, "nopan")}
            aria-pressed={here === pick}
            aria-label={shared ? group : named}
            title={shared ? group : `${oneLine(label ?? "", 120)} ${first}`.trim()}
            data-testid={shared ? `items-${first}` : `item-${first}`}
            data-state={state}
            onClick={() => onItem(pick)}
          >
            {words ? (
              <>
                <Mark state={state} />
                <span className="cut">
                  <Item itemKey={first} title={label} />
                </span>
              </>
            ) : null}
          </button>
        );
      })}
    </div>
  );
}

export const Region = memo(({ data }: NodeProps<RegionNode>) => {
  const { id, view, item, onItem } = data;
  return (
    <div className={css.region} data-testid={`region-${id}`}>
      <Ties />
      <div className={css.rtitle}>
        <strong>{id}</strong>
        <span className="cut">{view.text}</span>
        <span className="faint cut">{view.note}</span>
        <span className="grow" />
        {view.cells.length > 0 ? (
          <Button
            className="nopan"
            look="quiet small"
            onClick={() => onItem(item ? null : view.current)}
            data-testid="follow"
          >
            <Crosshair className="ico s" />
            {item ? `Locked on ${oneLine(view.locked || item, 40)}` : "Following"}
          </Button>
        ) : null}
      </div>
      <ItemStrip id={id} view={view} item={item} onItem={onItem} />
    </div>
  );
});

export const End = memo(({ data }: NodeProps<EndNode>) => (
  <div className={cx(css.ringBox, data.fails && css.fails)}>
    <Ties />
    <div className={css.ring} />
    <span className="faint xs">{data.fails ? "fail" : "end"}</span>
  </div>
));
