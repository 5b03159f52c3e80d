// Lines of a graph: how they run, and what they look like by condition.

import css from "./graph.module.css";
import type { Point } from "./layout";
import type { Line, LineKind } from "./rows";

/** A path through points with rounded corners. */
export function pathThrough(points: Point[], radius = 6): string {
  const [first, ...rest] = points;
  if (!first) return "";
  let path = `M${first.x} ${first.y}`;
  rest.forEach((point, index) => {
    const before = points[index] ?? first;
    const after = points[index + 2];
    if (!after) {
      path += `L${point.x} ${point.y}`;
      return;
    }
    const cut = Math.min(radius, distance(before, point) / 2, distance(point, after) / 2);
    const a = toward(point, before, cut);
    const b = toward(point, after, cut);
    path += `L${a.x} ${a.y}Q${point.x} ${point.y} ${b.x} ${b.y}`;
  });
  return path;
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
function toward(from: Point, to: Point, by: number): Point {
  const length = distance(from, to) || 1;
  return { x: from.x + ((to.x - from.x) * by) / length, y: from.y + ((to.y - from.y) * by) / length };
}

export function Arrow({ points, className }: { points: Point[]; className: string }) {
  const tip = points.at(-1);
  const before = points.at(-2);
  if (!tip || !before) return null;
  const angle = (Math.atan2(tip.y - before.y, tip.x - before.x) * 180) / Math.PI;
  return (
    <path className={className} d="M0 0-7-3.500V3.500Z" transform={`translate(${tip.x} ${tip.y}) rotate(${angle})`} />
  );
}

/** The sign on a line: a stack where work items are fed, a tick where satisfaction leads on. */
export function Bead({ at, feed, className }: { at: Point; feed: boolean; className: string }) {
  return (
    <g className={className} transform={`translate(${at.x} ${at.y})`}>
      <circle className={css.bead} r="8.5" />
      <path
        d={feed ? "M0-4.500 5-2 0 .5-5-2zM-5 .6 0 3.100 5 .6M-5 3 0 5.500 5 3" : "m-3.500 .3 2.400 2.500L3.500-2.800"}
      />
    </g>
  );
}

/** Which of several lines is tried first, where it begins. */
export function Order({ line, points }: { line: Line; points: Point[] }) {
  const [start, second] = points;
  if (line.order <= 0 || !start || !second) return null;
  const at = `translate(${start.x + 8}px, ${start.y + (second.y > start.y ? 10 : -8)}px)`;
  return (
    <div className={css.ord} data-testid={`order-${line.id}`} style={{ transform: `translate(-50%, -50%) ${at}` }}>
      {line.order}
    </div>
  );
}

export const lineWords: Record<LineKind, string> = {
  always: "",
  satisfied: "satisfied",
  not_satisfied: "not satisfied",
  failure: "on failure",
  exit: "exit",
};
