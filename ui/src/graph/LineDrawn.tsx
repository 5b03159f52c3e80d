// A line of a graph with its words: its condition, and how often it was taken.
import { EdgeLabelRenderer, type EdgeProps } from "@xyflow/react";
import { memo, type ReactNode } from "react";
import { cx } from "../shared/cx";
import css from "./graph.module.css";
import type { Point } from "./layout";
import { Arrow, Bead, lineWords, Order, pathThrough } from "./lines";
import type { LineEdge } from "./types";

export function Label({ at, className, children }: { at: Point; className: string; children: ReactNode }) {
  return (
    <div className={className} style={{ transform: `translate(-50%, -50%) translate(${at.x}px, ${at.y}px)` }}>
      {children}
    </div>
  );
}

export const LineDrawn = memo(({ data }: EdgeProps<LineEdge>) => {
  if (!data) return null;
  const { line, points, label, double, view, inside, feedBead, name, selected, onSelect } = data;
  const path = pathThrough(points);
  const words = line.feed ? "" : line.next ? "next item" : lineWords[line.kind];
  const taken = view?.note || (view && view.taken > 0 ? `×${view.taken}${view.partial ? "+" : ""}` : "");
  const lit = cx(view?.lit ? css.lit : view?.spent && css.spent, selected && css.chosen);
  const start = points[0];
  const second = points[1];
  // A short line has its words above and its count below; a long one carries both.
  const level = points.length === 2 && start !== undefined && second !== undefined && start.y === second.y;
  const bead = line.feed ? feedBead : line.kind === "satisfied" ? label : null;
  const above = level && !double ? -15 : 0;
  const look = cx(css.elab, line.feed && css.side, inside && css.in, lit, (double || level) && css.over);
  return (
    <>
      {double ? (
        <>
          <path className={cx(css.ln, "exit wide", lit)} d={path} />
          <path className={cx(css.ln, css.hollow, "exit", inside && css.in)} d={path} />
        </>
      ) : (
        <path className={cx(css.ln, line.kind, line.feed && css.feed, lit, view?.flash && css.flash)} d={path} />
      )}
      {double ? null : <Arrow points={points} className={cx(css.arrow, lit)} />}
      <path
        className={css.hit}
        d={path}
        role="button"
        tabIndex={0}
        aria-label={name}
        aria-pressed={selected}
        data-testid={`line-${line.id}`}
        onClick={() => onSelect(line.id)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          onSelect(line.id);
        }}
      />
      {bead ? <Bead at={bead} feed={Boolean(line.feed)} className={cx(css.beadG, lit)} /> : null}
      <EdgeLabelRenderer>
        {words || (taken && !level) ? (
          <Label at={{ x: label.x, y: label.y + (bead && !line.feed && !level ? -16 : above) }} className={look}>
            {line.kind === "not_satisfied" ? <span aria-hidden="true">↺</span> : null}
            {words ? <span>{words}</span> : null}
            {taken && !level ? <span className={css.x}>{taken}</span> : null}
          </Label>
        ) : null}
        {taken && level ? (
          <Label at={{ x: label.x, y: label.y + (double ? 30 : words ? 17 : -11) }} className={look}>
            <span className={css.x}>{taken}</span>
          </Label>
        ) : null}
        <Order line={line} points={points} />
      </EdgeLabelRenderer>
    </>
  );
});
