// A small picture of a loadout: names and lines, nothing to press.
import type { Grid, GridSocket } from "../api/generated";
import { cx } from "../shared/cx";
import { useDrawing } from "./elk";
import css from "./graph.module.css";
import { KindSign } from "./KindIcon";
import { type Box, type Sizes, SMALL } from "./layout";
import { Arrow, lineWords, pathThrough } from "./lines";

interface MiniProps {
  grid: Grid;
  sizes?: Sizes;
  label: string;
  /** What stands on a line, and whether it is drawn thick. */
  counts?: Record<string, { text: string; differs: boolean }>;
  /** A second line on each card. */
  notes?: Record<string, string>;
  /** Whether cards have their sign and id, loops their name and lines their words. */
  detail?: boolean;
  /** The card that is looked at. */
  picked?: string | undefined;
}

export function MiniGraph({ grid, sizes = SMALL, label, counts = {}, notes = {}, picked, detail = false }: MiniProps) {
  const drawn = useDrawing(grid, sizes);
  if (!drawn) return <div className={css.mini} />;
  const left = Math.min(0, ...drawn.lines.flatMap((one) => one.points.map((point) => point.x)));
  const byId = new Map(grid.sockets.map((socket) => [socket.id, socket]));
  return (
    <svg
      className={css.mini}
      role="img"
      aria-label={label}
      viewBox={`${left - 2} -2 ${drawn.width - left + 6} ${drawn.height + 4}`}
      preserveAspectRatio="xMidYMid meet"
    >
      {drawn.regions.map(({ id, box }) => (
        <g key={id}>
          <rect className={css.miniRegion} x={box.x} y={box.y} width={box.width} height={box.height} rx="5" />
          {detail ? (
            <text className={css.miniName} x={box.x + 52} y={box.y + 20}>
              {cut(id, 40)}
            </text>
          ) : null}
        </g>
      ))}
      {drawn.lines.map(({ line, points, double, label: at }) => (
        <g key={line.id}>
          <path
            className={cx(css.ln, line.kind, line.feed && css.feed, counts[line.id]?.differs && css.differs)}
            d={pathThrough(points, 3)}
          />
          {double ? null : <Arrow className={css.arrow} points={points} />}
          {counts[line.id] ? (
            <text
              className={cx(css.count, counts[line.id]?.differs && css.differs)}
              x={at.x}
              y={at.y - 5}
              textAnchor="middle"
            >
              {detail && (line.next || line.kind === "not_satisfied")
                ? `${line.next ? "next item" : lineWords[line.kind]} `
                : ""}
              {counts[line.id]?.text}
            </text>
          ) : null}
        </g>
      ))}
      {drawn.ends.map(({ id, box }) => (
        <circle key={id} className={css.miniEnd} cx={box.x + box.width / 2} cy={box.y + box.height / 2} r="5" />
      ))}
      {Object.entries(drawn.sockets).map(([id, box]) => {
        const socket = byId.get(id);
        return (
          <g key={id}>
            <rect
              className={cx(css.miniCard, id === picked && css.picked)}
              x={box.x}
              y={box.y}
              width={box.width}
              height={box.height}
              rx={socket?.type === "utility" ? 1 : 4}
            />
            {detail ? (
              <Detail socket={socket} id={id} box={box} note={notes[id] ?? ""} />
            ) : (
              <text x={box.x + box.width / 2} y={box.y + box.height / 2 + 3.5} textAnchor="middle">
                {cut(socket?.materia ?? id, 17)}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function Detail({ socket, id, box, note }: { socket: GridSocket | undefined; id: string; box: Box; note: string }) {
  const kind = socket?.generator ? "generator" : (socket?.type ?? "agent");
  return (
    <>
      <KindSign kind={kind} x={box.x + 10} y={box.y + 10} color={socket?.color} />
      <text className={css.miniName} x={box.x + 30} y={box.y + 21}>
        {cut(socket?.materia ?? id, 15)}
      </text>
      <text className={css.miniId} x={box.x + 11} y={box.y + 40}>
        {cut(id, 10)}
      </text>
      <text className={css.count} x={box.x + box.width - 10} y={box.y + 40} textAnchor="end">
        {note}
      </text>
    </>
  );
}
