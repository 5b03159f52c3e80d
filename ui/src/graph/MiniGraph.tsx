// A small picture of a loadout: names and lines, nothing to press.
import type { Grid } from "../api/types";
import { useDrawing } from "./elk";
import { type Sizes, SMALL } from "./layout";
import { Arrow, pathThrough } from "./lines";

interface MiniProps {
  grid: Grid;
  sizes?: Sizes;
  label: string;
  /** What stands on a line, and whether it is drawn thick. */
  counts?: Record<string, { text: string; differs: boolean }>;
  /** A second line on each card. */
  notes?: Record<string, string>;
  /** The card that is looked at. */
  picked?: string | undefined;
}

export function MiniGraph({ grid, sizes = SMALL, label, counts = {}, notes = {}, picked }: MiniProps) {
  const drawn = useDrawing(grid, sizes);
  if (!drawn) return <div className="mini" />;
  const left = Math.min(0, ...drawn.lines.flatMap((one) => one.points.map((point) => point.x)));
  const byId = new Map(grid.sockets.map((socket) => [socket.id, socket]));
  return (
    <svg
      className="mini"
      role="img"
      aria-label={label}
      viewBox={`${left - 2} -2 ${drawn.width - left + 6} ${drawn.height + 4}`}
      preserveAspectRatio="xMidYMid meet"
    >
      {drawn.regions.map(({ id, box }) => (
        <rect key={id} className="mini-region" x={box.x} y={box.y} width={box.width} height={box.height} rx="5" />
      ))}
      {drawn.lines.map(({ line, points, double, label: at }) => (
        <g key={line.id}>
          <path
            className={`ln ${line.kind}${line.feed ? " feed" : ""}${counts[line.id]?.differs ? " differs" : ""}`}
            d={pathThrough(points, 3)}
          />
          {double ? null : <Arrow className="arrow" points={points} />}
          {counts[line.id] ? (
            <text
              className={`count${counts[line.id]?.differs ? " differs" : ""}`}
              x={at.x}
              y={at.y - 5}
              textAnchor="middle"
            >
              {counts[line.id]?.text}
            </text>
          ) : null}
        </g>
      ))}
      {drawn.ends.map(({ id, box }) => (
        <circle key={id} className="mini-end" cx={box.x + box.width / 2} cy={box.y + box.height / 2} r="5" />
      ))}
      {Object.entries(drawn.sockets).map(([id, box]) => {
        const socket = byId.get(id);
        const name = socket?.materia ?? id;
        return (
          <g key={id}>
            <rect
              className={`mini-card${id === picked ? " picked" : ""}`}
              x={box.x}
              y={box.y}
              width={box.width}
              height={box.height}
              rx={socket?.type === "utility" ? 1 : 4}
            />
            <text x={box.x + box.width / 2} y={box.y + box.height / 2 + (notes[id] ? -2 : 3.5)} textAnchor="middle">
              {name.length > 17 ? `${name.slice(0, 16)}…` : name}
            </text>
            {notes[id] ? (
              <text className="count" x={box.x + box.width / 2} y={box.y + box.height / 2 + 14} textAnchor="middle">
                {notes[id]}
              </text>
            ) : null}
          </g>
        );
      })}
    </svg>
  );
}
