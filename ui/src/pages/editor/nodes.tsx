// Cards, regions and the end, as the editor draws them.
import { Handle, type Node, type NodeProps, Position } from "@xyflow/react";
import { CircleAlert, Route, TriangleAlert } from "lucide-react";
import { memo } from "react";
import { Badges, KindIcon } from "../../graph/Graph";
import graph from "../../graph/graph.module.css";
import { cx } from "../../shared/cx";
import { oneLine } from "../../shared/text";
import css from "./editor.module.css";
import type { Marks } from "./views";

export interface CardData extends Record<string, unknown> {
  id: string;
  title: string;
  note: string;
  kind: string;
  generator: boolean;
  consumer: boolean;
  entry: boolean;
  gate: boolean;
  color: string;
  selected: boolean;
  dim: boolean;
  lit: boolean;
  now: boolean;
  marks: Marks | undefined;
}
export interface RegionData extends Record<string, unknown> {
  id: string;
  text: string;
  note: string;
  selected: boolean;
  marks: Marks | undefined;
  onSelect: (id: string) => void;
}
export type CardNode = Node<CardData, "socket">;
export type RegionNode = Node<RegionData, "region">;
export type EndNode = Node<{ fails: boolean }, "end">;
export type EditorNode = CardNode | RegionNode | EndNode;

export function Badge({ marks }: { marks: Marks | undefined }) {
  if (!marks) return null;
  const { explored = 0, notable } = marks;
  const errors = marks.errors > 0;
  const count = errors ? marks.errors : marks.warnings;
  if (count + explored === 0) return null;
  const Icon = errors ? CircleAlert : TriangleAlert;
  return (
    <span className={css.founds}>
      {explored > 0 ? (
        <span
          className={cx(css.found, "st", notable ? "needs_you" : "idle")}
          title="Found by Explore"
          data-testid="explored-mark"
        >
          <Route className="ico s" />
          {explored}
          <span className="sr"> found by Explore</span>
        </span>
      ) : null}
      {count > 0 ? (
        <span className={cx(css.found, "st", errors ? "failed" : "needs_you")}>
          <Icon className="ico s" />
          {count}
          <span className="sr">{errors ? " errors" : " warnings"}</span>
        </span>
      ) : null}
    </span>
  );
}

const Card = memo(({ data }: NodeProps<CardNode>) => {
  const { id, title, note, kind, generator, consumer, entry, gate, color, selected, dim, lit, now, marks } = data;
  return (
    <>
      <div
        role="button"
        tabIndex={0}
        className={cx(
          graph.card,
          "st idle",
          kind,
          selected && graph.sel,
          entry && graph.entry,
          dim && css.dimmed,
          lit && graph.lit,
          now && css.now,
          "nopan",
        )}
        aria-pressed={selected}
        data-testid={`card-${id}`}
        data-socket={id}
      >
        {entry ? (
          <i className={graph.start}>
            <span className="sr">entry</span>
          </i>
        ) : null}
        <Badges generator={generator} consumer={consumer} />
        {color ? <i className={graph.spine} style={{ background: color }} /> : null}
        {gate ? (
          <svg className={graph.gate} viewBox="0 0 18 18" aria-hidden="true">
            <path d="M9 1.500 15.500 5.250v7.500L9 16.500 2.500 12.750v-7.500z" />
          </svg>
        ) : null}
        <Badge marks={marks} />
        <span className={graph.h}>
          <KindIcon kind={kind} color={color} />
          <span className={graph.t}>{oneLine(title, 80)}</span>
        </span>
        <span className={graph.m}>
          <span className="mono cut">{id}</span>
          <span className="cut">{note}</span>
        </span>
      </div>
      <Handle type="target" position={Position.Left} className={css.port} aria-hidden="true" />
      <Handle type="source" position={Position.Right} className={css.port} aria-hidden="true" />
    </>
  );
});

const Region = memo(({ data }: NodeProps<RegionNode>) => (
  <div className={cx(graph.region, data.selected && graph.sel)} data-testid={`region-${data.id}`}>
    <Handle type="source" position={Position.Right} isConnectable={false} aria-hidden="true" />
    <button
      type="button"
      className={cx(graph.rtitle, "nopan")}
      aria-pressed={data.selected}
      data-testid={`loop-${data.id}`}
      onClick={() => data.onSelect(data.id)}
    >
      <strong>{oneLine(data.id, 60)}</strong>
      <span className="cut">{data.text}</span>
      <span className="faint cut">{data.note}</span>
      <Badge marks={data.marks} />
    </button>
  </div>
));

const End = memo(({ data }: NodeProps<EndNode>) => (
  <div className={cx(graph.ringBox, data.fails && graph.fails)} data-testid={data.fails ? "fail" : "end"}>
    <Handle type="target" position={Position.Left} className={css.port} aria-hidden="true" />
    <div className={graph.ring} />
    <span className="faint xs">{data.fails ? "fail" : "end"}</span>
  </div>
));

export const nodeTypes = { socket: Card, region: Region, end: End };
