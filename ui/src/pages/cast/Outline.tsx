// The graph as a list: what a narrow screen shows in its place.
import { memo } from "react";
import type { Grid, GridSocket } from "../../api/generated";
import type { CardView, LineView, RegionView } from "../../graph/Graph";
import { Badges, KindIcon } from "../../graph/KindIcon";
import { linesOf, loopOf, rowsIn } from "../../graph/rows";
import { cx } from "../../shared/cx";
import { State, Strip } from "../../shared/parts";
import { oneLine } from "../../shared/text";
import css from "./style.module.css";

interface OutlineProps {
  grid: Grid;
  cards: Record<string, CardView>;
  lines: Record<string, LineView>;
  regions: Record<string, RegionView>;
  selected: string;
  onSelect: (socket: string) => void;
  onLine: (line: string) => void;
}

export const Outline = memo(function Outline(props: OutlineProps) {
  return (
    <section className={css.outline} aria-label="Sockets" data-testid="outline">
      <Rows {...props} inside={null} />
    </section>
  );
});

function Rows(props: OutlineProps & { inside: string | null }) {
  const { grid, inside } = props;
  const byId = new Map(grid.sockets.map((socket) => [socket.id, socket]));
  return rowsIn(grid, inside, linesOf(grid)).map((row) => {
    if (row.kind === "sockets")
      return row.sockets.map((id) => {
        const socket = byId.get(id);
        return socket ? <One key={id} {...props} socket={socket} /> : null;
      });
    const region = props.regions[row.loop];
    return (
      <div className={css.oRegion} key={row.loop}>
        <header>
          <strong>{row.loop}</strong> {region?.text}
          <div className="faint">{region?.note}</div>
        </header>
        {region && region.cells.length > 0 ? (
          <Strip cells={region.cells.map(({ first, state }) => ({ key: first, state }))} label={region.note} />
        ) : null}
        <Rows {...props} inside={row.loop} />
      </div>
    );
  });
}

function One({ grid, socket, cards, lines, selected, onSelect, onLine }: OutlineProps & { socket: GridSocket }) {
  const card = cards[socket.id];
  if (!card) return null;
  const name = (id: string) =>
    id === "end" ? "the end" : id === "fail" ? "failure" : (grid.sockets.find((one) => one.id === id)?.materia ?? id);
  return (
    <>
      <button
        type="button"
        className={cx(css.oCard, "st", card.state, socket.type)}
        aria-pressed={selected === socket.id}
        onClick={() => onSelect(socket.id)}
      >
        <span className={css.h}>
          <KindIcon kind={socket.generator ? "generator" : socket.type} color={card.color} />
          <strong className="grow cut">{oneLine(socket.materia, 60)}</strong>
          <Badges generator={socket.generator ?? false} consumer={loopOf(grid, socket.id) !== null} />
          <State state={card.state} word={card.word} />
        </span>
        <span className={css.m}>
          <span className="mono">{socket.id}</span>
          <span>{card.note}</span>
        </span>
        {card.live ? <span className={cx(css.live, "cut")}>{card.live}</span> : null}
      </button>
      {socket.edges.map((edge) => {
        const line = lines[edge.id];
        const count = line?.note || (line && line.taken > 0 ? `×${line.taken}` : "");
        const words = edge.when === "always" ? "" : `${edge.when.replace("_", " ")} `;
        const inner = loopOf(grid, edge.to);
        const feeds = socket.generator && inner && inner !== loopOf(grid, socket.id);
        return (
          <button
            type="button"
            className={cx(css.oEdge, line?.lit && css.lit)}
            key={edge.id}
            onClick={() => onLine(edge.id)}
          >
            {edge.back ? "↺" : "↓"} {words}
            {feeds ? `feeds ${inner}` : `${edge.back ? "back " : ""}to ${oneLine(name(edge.to), 40)}`}{" "}
            <span className="faint">{count}</span>
          </button>
        );
      })}
    </>
  );
}
