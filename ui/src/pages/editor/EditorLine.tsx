// A line of the editor's graph: by its condition, wide enough to be pressed, with its order and its bounds.
import { type Edge, EdgeLabelRenderer, type EdgeProps } from "@xyflow/react";
import { memo } from "react";
import graph from "../../graph/graph.module.css";
import { Label } from "../../graph/LineDrawn";
import type { Point } from "../../graph/layout";
import { Arrow, Bead, lineWords, Order, pathThrough } from "../../graph/lines";
import type { Line } from "../../graph/rows";
import { cx } from "../../shared/cx";
import css from "./editor.module.css";

export interface LineData extends Record<string, unknown> {
  line: Line;
  points: Point[];
  label: Point;
  double: boolean;
  words: string;
  /** Where the words stand: apart from those of other lines. */
  wordsAt: Point;
  note: string;
  inside: boolean;
  feedBead: Point | null;
  selected: boolean;
  lit: boolean;
  dim: boolean;
  /** What a finding makes of it. */
  fault: "" | "failed" | "needs_you";
  faultWords: string;
}
export type LineEdge = Edge<LineData, "line">;

const EditorLine = memo(({ data }: EdgeProps<LineEdge>) => {
  if (!data) return null;
  const { line, points, label, double, words, wordsAt, note, inside, feedBead, selected, lit, dim, fault, faultWords } =
    data;
  const path = pathThrough(points);
  const look = cx(selected && graph.sel, lit && graph.lit, dim && css.dimmed, fault && cx("st", fault));
  const start = points[0];
  const second = points[1];
  const level = points.length === 2 && start !== undefined && second !== undefined && start.y === second.y;
  const bead = line.feed ? feedBead : line.kind === "satisfied" ? label : null;
  const above = level && !double ? -15 : bead && !line.feed ? -16 : 0;
  // A line that leads on is short: what bounds it stands below its words.
  const below = note !== "" && (words !== "" || level) && !line.back && points.length <= 4;
  const said = [words, faultWords].filter(Boolean).join(", ");
  return (
    <>
      {double ? (
        <>
          <path className={cx(graph.ln, "exit wide", look)} d={path} />
          <path className={cx(graph.ln, graph.hollow, "exit", inside && graph.in)} d={path} />
        </>
      ) : (
        <path className={cx(graph.ln, line.kind, line.feed && graph.feed, look)} d={path} />
      )}
      {double ? null : <Arrow points={points} className={cx(graph.arrow, look)} />}
      <path className={graph.hit} d={path} data-edge={line.id} data-testid={`edge-${line.id}`} data-kind={line.kind} />
      {bead ? <Bead at={bead} feed={Boolean(line.feed)} className={cx(graph.beadG, look)} /> : null}
      <EdgeLabelRenderer>
        {said || (note && !below) ? (
          <Label
            at={{ x: wordsAt.x, y: wordsAt.y + above }}
            className={cx(
              graph.elab,
              line.feed && graph.side,
              inside && graph.in,
              (double || level) && graph.over,
              look,
            )}
          >
            {line.kind === "not_satisfied" ? <span aria-hidden="true">↺</span> : null}
            {said ? <span>{said}</span> : null}
            {note && !below ? <span className={graph.x}>{note}</span> : null}
          </Label>
        ) : null}
        {note && below ? (
          <Label at={{ x: wordsAt.x, y: wordsAt.y + (level ? 14 : 12) }} className={cx(graph.elab, graph.over, look)}>
            <span className={graph.x}>{note}</span>
          </Label>
        ) : null}
        <Order line={line} points={points} />
      </EdgeLabelRenderer>
    </>
  );
});

export const edgeTypes = { line: EditorLine };

export function wordsOf(line: Line, condition: string | null): string {
  if (line.feed) return "";
  if (line.next) return "next item, or again";
  if (line.loop) return condition === null ? "ends" : `exit, ${condition.replace("_", " ")}`;
  return lineWords[line.kind];
}
