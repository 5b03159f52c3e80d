// The graph of a cast: cards with their state, loops with their items, lines that count.
import {
  type Edge,
  EdgeLabelRenderer,
  type EdgeProps,
  Handle,
  type Node,
  type NodeProps,
  Panel,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { Crosshair, Maximize, Minus, Plus } from "lucide-react";
import { type KeyboardEvent, memo, type ReactNode, useEffect, useMemo } from "react";
import type { Grid, SocketState } from "../api/types";
import type { LoopItem } from "../fold";
import { Mark, State } from "../shared/parts";
import { oneLine } from "../shared/text";
import { useDrawing } from "./elk";
import { KindIcon } from "./KindIcon";
import { type Drawn, FULL, type Point } from "./layout";
import { Arrow, lineWords, pathThrough } from "./lines";
import type { Line } from "./rows";

export interface CardView {
  state: SocketState;
  word: string;
  /** Small print at the right: item and visit. */
  note: string;
  /** The newest line that it put out. */
  live: string;
  /** A hexagon: it asks before it runs. */
  gate: boolean;
  /** The materia's own colour, already found to be one. */
  color?: string | null;
}
export interface LineView {
  lit: boolean;
  flash: boolean;
  taken: number;
  partial: boolean;
  note: string;
  spent: boolean;
}
export interface RegionView {
  items: LoopItem[];
  text: string;
  note: string;
  current: string | null;
}
export interface GraphProps {
  grid: Grid;
  cards: Record<string, CardView>;
  lines: Record<string, LineView>;
  regions: Record<string, RegionView>;
  selected: string | null;
  item: string | null;
  onSelect: (socket: string) => void;
  onItem: (item: string | null) => void;
}

type CardNode = Node<
  {
    card: CardView;
    id: string;
    name: string;
    kind: string;
    entry: boolean;
    selected: boolean;
    onSelect: (id: string) => void;
  },
  "socket"
>;
type RegionNode = Node<
  { id: string; view: RegionView; item: string | null; onItem: (item: string | null) => void },
  "region"
>;
type EndNode = Node<Record<string, never>, "end">;
type LineEdge = Edge<
  {
    line: Line;
    points: Point[];
    label: Point;
    double: boolean;
    view: LineView | undefined;
    inside: boolean;
    feedBead: Point | null;
  },
  "line"
>;

/** Lines are tied to these; where they really begin and end, the layout says. */
const Ties = () => (
  <>
    <Handle type="target" position={Position.Left} isConnectable={false} />
    <Handle type="source" position={Position.Right} isConnectable={false} />
  </>
);

export { KindIcon };

const SocketCard = memo(({ data }: NodeProps<CardNode>) => {
  const { card, id, name, kind, entry, selected, onSelect } = data;
  return (
    <>
      <Ties />
      <button
        type="button"
        className={`card st ${card.state} ${kind}${selected ? " sel" : ""}${entry ? " entry" : ""} nopan`}
        aria-pressed={selected}
        data-testid={`card-${id}`}
        data-state={card.state}
        data-socket={id}
        onClick={() => onSelect(id)}
      >
        {entry ? <i className="start" /> : null}
        {card.color ? <i className="spine" style={{ background: card.color }} /> : null}
        {card.gate ? (
          <svg className="gate" viewBox="0 0 18 18" aria-label="asks before it runs" role="img">
            <path d="M9 1.500 15.500 5.250v7.500L9 16.500 2.500 12.750v-7.500z" />
          </svg>
        ) : null}
        <span className="h">
          <KindIcon kind={kind} color={card.color} />
          <span className="t">{oneLine(name, 80)}</span>
          <State state={card.state} word={card.word} />
        </span>
        <span className="m">
          <span className="mono cut">{id}</span>
          <span className="cut">{card.note}</span>
        </span>
        <span className="live cut">{card.live || "\u00a0"}</span>
      </button>
    </>
  );
});

const Region = memo(({ data }: NodeProps<RegionNode>) => {
  const { id, view, item, onItem } = data;
  const words = view.items.length <= 24;
  return (
    <div className="region" data-testid={`region-${id}`}>
      <Ties />
      <div className="rtitle">
        <strong>{id}</strong>
        <span className="cut">{view.text}</span>
        <span className="faint cut">{view.note}</span>
        <span className="grow" />
        {view.items.length > 0 ? (
          <button
            type="button"
            className="btn quiet small nopan"
            onClick={() => onItem(item ? null : view.current)}
            data-testid="follow"
          >
            <Crosshair className="ico s" />
            {item ? `Locked on ${item}` : "Following"}
          </button>
        ) : null}
      </div>
      {view.items.length > 120 ? null : (
        <div className={`rstrip${words ? "" : " tight"}`} role="group" aria-label={`Items of ${id}`}>
          {view.items.map((one) => (
            <button
              key={one.key}
              type="button"
              className={`st ${one.state} nopan`}
              aria-pressed={(item ?? view.current) === one.key}
              aria-label={`${one.key} ${oneLine(one.label ?? "", 80)}: ${one.state.replace("_", " ")}`}
              data-testid={`item-${one.key}`}
              data-state={one.state}
              title={`${one.key} ${oneLine(one.label ?? "", 120)}`}
              onClick={() => onItem(one.key)}
            >
              {words ? (
                <>
                  <Mark state={one.state} />
                  <span className="cut">
                    {one.key} {oneLine(one.label ?? "", 80)}
                  </span>
                </>
              ) : null}
            </button>
          ))}
        </div>
      )}
    </div>
  );
});

const End = memo(() => (
  <div className="ring-box">
    <Ties />
    <div className="ring" />
    <span className="faint xs">end</span>
  </div>
));

function Label({ at, className, children }: { at: Point; className: string; children: ReactNode }) {
  return (
    <div className={className} style={{ transform: `translate(-50%, -50%) translate(${at.x}px, ${at.y}px)` }}>
      {children}
    </div>
  );
}

const LineDrawn = memo(({ data }: EdgeProps<LineEdge>) => {
  if (!data) return null;
  const { line, points, label, double, view, inside, feedBead } = data;
  const path = pathThrough(points);
  const words = line.feed ? "" : line.next ? "next item" : lineWords[line.kind];
  const taken = view?.note || (view && view.taken > 0 ? `×${view.taken}${view.partial ? "+" : ""}` : "");
  const lit = view?.lit ? " lit" : view?.spent ? " spent" : "";
  const start = points[0];
  const second = points[1];
  // A short line has its words above and its count below; a long one carries both.
  const level = points.length === 2 && start !== undefined && second !== undefined && start.y === second.y;
  const bead = line.feed ? feedBead : line.kind === "satisfied" ? label : null;
  const above = level && !double ? -15 : 0;
  const look = `elab${line.feed ? " side" : ""}${inside ? " in" : ""}${lit}${double || level ? " over" : ""}`;
  return (
    <>
      {double ? (
        <>
          <path className={`ln exit wide${lit}`} d={path} />
          <path className={`ln exit hollow${inside ? " in" : ""}`} d={path} />
        </>
      ) : (
        <path className={`ln ${line.kind}${line.feed ? " feed" : ""}${lit}${view?.flash ? " flash" : ""}`} d={path} />
      )}
      {double ? null : <Arrow points={points} className={`arrow${lit}`} />}
      {bead ? (
        <g className={`bead-g${lit}`} transform={`translate(${bead.x} ${bead.y})`}>
          <circle className="bead" r="8.5" />
          <path
            d={
              line.feed
                ? "M0-4.500 5-2 0 .5-5-2zM-5 .6 0 3.100 5 .6M-5 3 0 5.500 5 3"
                : "m-3.500 .3 2.400 2.500L3.500-2.800"
            }
          />
        </g>
      ) : null}
      <EdgeLabelRenderer>
        {words || (taken && !level) ? (
          <Label at={{ x: label.x, y: label.y + (bead && !line.feed && !level ? -16 : above) }} className={look}>
            {line.kind === "not_satisfied" ? <span aria-hidden="true">↺</span> : null}
            {words ? <span>{words}</span> : null}
            {taken && !level ? <span className="x">{taken}</span> : null}
          </Label>
        ) : null}
        {taken && level ? (
          <Label at={{ x: label.x, y: label.y + (words ? 17 : -11) }} className={look}>
            <span className="x">{taken}</span>
          </Label>
        ) : null}
        {line.order > 0 && start && second ? (
          <div
            className="ord"
            style={{
              transform: `translate(-50%, -50%) translate(${start.x + 8}px, ${start.y + (second.y > start.y ? 10 : -8)}px)`,
            }}
          >
            {line.order}
          </div>
        ) : null}
      </EdgeLabelRenderer>
    </>
  );
});

const nodeTypes = { socket: SocketCard, region: Region, end: End };
const edgeTypes = { line: LineDrawn };

function nodesOf(props: GraphProps, drawn: Drawn): (CardNode | RegionNode | EndNode)[] {
  const fixed = { draggable: false, selectable: false, focusable: false } as const;
  const place = (box: { x: number; y: number; width: number; height: number }) => ({
    position: { x: box.x, y: box.y },
    width: box.width,
    height: box.height,
    measured: { width: box.width, height: box.height },
  });
  const nodes: (CardNode | RegionNode | EndNode)[] = drawn.regions.map(({ id, box }, index) => ({
    id: `region:${id}`,
    type: "region" as const,
    ...place(box),
    ...fixed,
    zIndex: -10 + index,
    data: {
      id,
      view: props.regions[id] ?? { items: [], text: "", note: "", current: null },
      item: props.item,
      onItem: props.onItem,
    },
  }));
  for (const { id, box } of drawn.ends) nodes.push({ id, type: "end", ...place(box), ...fixed, data: {} });
  for (const socket of props.grid.sockets) {
    const box = drawn.sockets[socket.id];
    const card = props.cards[socket.id];
    if (!box || !card) continue;
    nodes.push({
      id: socket.id,
      type: "socket",
      ...place(box),
      ...fixed,
      data: {
        card,
        id: socket.id,
        name: socket.materia,
        kind: socket.generator ? "generator" : socket.type,
        entry: socket.id === props.grid.entry,
        selected: props.selected === socket.id,
        onSelect: props.onSelect,
      },
    });
  }
  return nodes;
}

/** Where a line enters a region from above. */
function borderCrossing(drawn: Drawn, points: Point[]): Point | null {
  const tip = points.at(-1);
  const region =
    tip &&
    drawn.regions.findLast(
      ({ box }) => tip.x >= box.x && tip.x <= box.x + box.width && tip.y >= box.y && tip.y <= box.y + box.height,
    );
  return tip && region ? { x: tip.x, y: region.box.y } : null;
}

function edgesOf(props: GraphProps, drawn: Drawn): LineEdge[] {
  const members = new Set(Object.values(props.grid.loops ?? {}).flatMap((loop) => loop.sockets));
  return drawn.lines.map(({ line, points, label, double }) => ({
    id: line.id,
    type: "line",
    source: line.loop ? `region:${line.loop}` : line.from,
    target:
      line.to === "end"
        ? (drawn.ends.find((end) => end.id === `end:${line.loop}`)?.id ?? drawn.ends[0]?.id ?? line.from)
        : line.to,
    zIndex: props.lines[line.id]?.lit ? 2 : 1,
    focusable: false,
    data: {
      line,
      points,
      label,
      double,
      view: props.lines[line.id],
      inside: members.has(line.from) && members.has(line.to) && !double,
      feedBead: line.feed ? borderCrossing(drawn, points) : null,
    },
  }));
}

function Flow(props: GraphProps & { drawn: Drawn }) {
  const { drawn } = props;
  const flow = useReactFlow();
  const nodes = useMemo(() => nodesOf(props, drawn), [props, drawn]);
  const edges = useMemo(() => edgesOf(props, drawn), [props, drawn]);
  const width = useStore((store) => store.width);
  const height = useStore((store) => store.height);
  useEffect(() => {
    if (width && height) void showAll(flow, drawn, width, height);
  }, [flow, drawn, width, height]);
  return (
    <ReactFlow
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      edgeTypes={edgeTypes}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      edgesFocusable={false}
      elementsSelectable={false}
      zoomOnDoubleClick={false}
      minZoom={0.05}
      maxZoom={2}
      onlyRenderVisibleElements={props.grid.sockets.length > 60}
      proOptions={{ hideAttribution: true }}
    >
      <Panel position="bottom-left" className="zoom">
        <button type="button" className="btn quiet icon" aria-label="Zoom out" onClick={() => void flow.zoomOut()}>
          <Minus className="ico" />
        </button>
        <Zoom />
        <button type="button" className="btn quiet icon" aria-label="Zoom in" onClick={() => void flow.zoomIn()}>
          <Plus className="ico" />
        </button>
        <button
          type="button"
          className="btn quiet icon"
          aria-label="Show all of it"
          onClick={() => void showAll(flow, drawn, width, height)}
        >
          <Maximize className="ico" />
        </button>
      </Panel>
      <Panel position="bottom-right" className="legend" aria-hidden="true">
        {(["always", "satisfied", "not_satisfied", "feed", "exit", "lit"] as const).map((kind) => (
          <span key={kind}>
            <svg width="26" height="8" aria-hidden="true">
              {kind === "exit" ? <path className="ln exit wide" d="M0 4h26" /> : null}
              <path className={kind === "exit" ? "ln exit hollow" : `ln ${kind}`} d="M0 4h26" />
              {kind === "satisfied" ? <circle className="bead" cx="13" cy="4" r="3" /> : null}
            </svg>
            {
              {
                always: "always",
                satisfied: "satisfied",
                not_satisfied: "not satisfied",
                feed: "items",
                exit: "loop exit",
                lit: "started this turn",
              }[kind]
            }
          </span>
        ))}
      </Panel>
    </ReactFlow>
  );
}

function Zoom() {
  const zoom = useStore((store) => store.transform[2]);
  return <span className="pc">{Math.round(zoom * 100)} %</span>;
}

/** All of it, but not larger than it is, and from the top left where it is large enough to scroll. */
function showAll(flow: ReturnType<typeof useReactFlow>, drawn: Drawn, width: number, height: number) {
  const left = Math.min(0, ...drawn.lines.flatMap((one) => one.points.map((point) => point.x)));
  const whole = { width: drawn.width - left + 56, height: drawn.height + 80 };
  const zoom = Math.max(0.25, Math.min(1, width / whole.width, height / whole.height));
  const x = Math.max(28, (width - whole.width * zoom) / 4) - left * zoom;
  const y = Math.max(24, Math.min(40, (height - whole.height * zoom) / 2));
  return flow.setViewport({ x, y, zoom });
}

const ways: Record<string, Point> = {
  ArrowRight: { x: 1, y: 0 },
  ArrowLeft: { x: -1, y: 0 },
  ArrowDown: { x: 0, y: 1 },
  ArrowUp: { x: 0, y: -1 },
};

/** The nearest card in a direction. */
export function neighbour(drawn: Drawn, from: string, key: string): string | null {
  const way = ways[key];
  const start = drawn.sockets[from];
  if (!way || !start) return null;
  let best: { id: string; far: number } | null = null;
  for (const [id, box] of Object.entries(drawn.sockets)) {
    const [dx, dy] = [box.x - start.x, box.y - start.y];
    const along = dx * way.x + dy * way.y;
    if (along <= 0) continue;
    const far = along + 3 * Math.abs(dx * way.y + dy * way.x);
    if (!best || far < best.far) best = { id, far };
  }
  return best?.id ?? null;
}

export function Graph(props: GraphProps) {
  const drawn = useDrawing(props.grid, FULL);
  const walk = (event: KeyboardEvent<HTMLElement>) => {
    const card = (event.target as HTMLElement).closest<HTMLElement>("[data-socket]");
    const next = card?.dataset.socket && drawn ? neighbour(drawn, card.dataset.socket, event.key) : null;
    if (!next) return;
    event.preventDefault();
    props.onSelect(next);
    requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-socket="${CSS.escape(next)}"]`)?.focus());
  };
  return (
    <section className="graph" aria-label="Graph" data-testid="graph" onKeyDown={walk}>
      {drawn ? (
        <ReactFlowProvider>
          <Flow {...props} drawn={drawn} />
        </ReactFlowProvider>
      ) : null}
    </section>
  );
}
