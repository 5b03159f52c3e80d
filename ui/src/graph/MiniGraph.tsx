// A small picture of a loadout: names and lines, nothing to press.
import type { Grid } from "../api/types";
import { useDrawing } from "./elk";
import { type Sizes, SMALL } from "./layout";
import { Arrow, pathThrough } from "./lines";

export function MiniGraph({ grid, sizes = SMALL, label }: { grid: Grid; sizes?: Sizes; label: string }) {
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
      {drawn.lines.map(({ line, points, double }) => (
        <g key={line.id}>
          <path className={`ln ${line.kind}${line.feed ? " feed" : ""}`} d={pathThrough(points, 3)} />
          {double ? null : <Arrow className="arrow" points={points} />}
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
              className="mini-card"
              x={box.x}
              y={box.y}
              width={box.width}
              height={box.height}
              rx={socket?.type === "utility" ? 1 : 4}
            />
            <text x={box.x + box.width / 2} y={box.y + box.height / 2 + 3.5} textAnchor="middle">
              {name.length > 17 ? `${name.slice(0, 16)}…` : name}
            </text>
          </g>
        );
      })}
    </svg>
  );
}
