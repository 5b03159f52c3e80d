// The graph of a cast: cards with their state, loops with their items, lines that count.

import { Panel, ReactFlow, ReactFlowProvider, useReactFlow, useStore } from "@xyflow/react";
import { isEnd } from "../api/ends";
import { Button } from "../shared/Button";
import { ringOf } from "./rows";
import "@xyflow/react/dist/base.css";
import { Maximize, Minus, Plus } from "lucide-react";
import { type KeyboardEvent, memo, useEffect } from "react";
import type { Grid } from "../api/generated";
import { typing } from "../shared/typing";
import { useKeydown } from "../shared/useKeydown";
import { useSettled } from "../shared/useSettled";
import { useDrawing } from "./elk";
import css from "./graph.module.css";
import { Legend } from "./Legend";
import { LineDrawn } from "./LineDrawn";
import { type Drawn, FULL, type Point, WRAPPED } from "./layout";
import { End, Region, SocketCard } from "./nodes";
import { loopOf } from "./rows";
import {
  type CardNode,
  type CardView,
  type EndNode,
  type LineEdge,
  type LineView,
  NO_ITEMS,
  type RegionNode,
  type RegionView,
} from "./types";

export { Badges, KindIcon } from "./KindIcon";
export type { CardView, LineView, RegionView } from "./types";

export interface GraphProps {
  grid: Grid;
  cards: Record<string, CardView>;
  lines: Record<string, LineView>;
  regions: Record<string, RegionView>;
  selected: string | null;
  /** The line that is looked at. */
  line: string | null;
  item: string | null;
  onSelect: (socket: string) => void;
  onLine: (line: string) => void;
  onItem: (item: string | null) => void;
}

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
      view: props.regions[id] ?? NO_ITEMS,
      item: props.item,
      onItem: props.onItem,
    },
  }));
  for (const { id, box } of drawn.ends)
    nodes.push({ id, type: "end", ...place(box), ...fixed, data: { fails: id.startsWith("fail:") } });
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
        generator: socket.generator ?? false,
        consumer: loopOf(props.grid, socket.id) !== null,
        entry: socket.id === props.grid.entry,
        selected: props.selected === socket.id,
        onSelect: props.onSelect,
      },
    });
  }
  return nodes;
}

/** Where a line enters a region from above. */
export function borderCrossing(drawn: Drawn, points: Point[]): Point | null {
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
  const name = (id: string) => props.grid.sockets.find((one) => one.id === id)?.materia ?? "the end";
  return drawn.lines.map(({ line, points, label, double }) => ({
    id: line.id,
    type: "line",
    source: line.loop ? `region:${line.loop}` : line.from,
    target: isEnd(line.to) ? (ringOf(drawn.ends, line)?.id ?? line.from) : line.to,
    zIndex: props.lines[line.id]?.lit ? 2 : 1,
    focusable: false,
    // Its path can be pressed, so it is no picture.
    ariaRole: "group",
    data: {
      line,
      points,
      label,
      double,
      view: props.lines[line.id],
      inside: members.has(line.from) && members.has(line.to) && !double,
      feedBead: line.feed ? borderCrossing(drawn, points) : null,
      name: `Line from ${name(line.from)} to ${name(line.to)}`,
      selected: props.line === line.id,
      onSelect: props.onLine,
    },
  }));
}

function Flow(props: GraphProps & { drawn: Drawn }) {
  const { drawn } = props;
  const flow = useReactFlow();
  const nodes = useSettled(nodesOf(props, drawn));
  const edges = useSettled(edgesOf(props, drawn));
  const width = useStore((store) => store.width);
  const height = useStore((store) => store.height);
  useEffect(() => {
    if (width && height) void showAll(flow, drawn, width, height);
  }, [flow, drawn, width, height]);
  useKeydown((event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event)) return;
    if (event.key === "1") void showAll(flow, drawn, width, height);
    else if (event.key === "0") void flow.zoomTo(1);
  });
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
      <Zoom onFit={() => void showAll(flow, drawn, width, height)} />
      <Panel position="bottom-right" className={css.legend} aria-hidden="true">
        <Legend />
      </Panel>
    </ReactFlow>
  );
}

/** How large the graph is drawn. */
export function Zoom({ onFit }: { onFit: () => void }) {
  const flow = useReactFlow();
  const zoom = useStore((store) => store.transform[2]);
  return (
    <Panel position="bottom-left" className={css.zoom}>
      <Button icon={Minus} look="quiet icon" aria-label="Zoom out" onClick={() => void flow.zoomOut()} />
      <span className={css.pc}>{Math.round(zoom * 100)} %</span>
      <Button icon={Plus} look="quiet icon" aria-label="Zoom in" onClick={() => void flow.zoomIn()} />
      <Button icon={Maximize} look="quiet icon" aria-label="Fit the graph to the window" onClick={onFit} />
    </Panel>
  );
}

const CONTROLS = 60;
const MARGIN = 28;
const READABLE = 0.6;

/** All of it, but not larger than it is, and from the top left where it is large enough to scroll. */
export function showAll(flow: ReturnType<typeof useReactFlow>, drawn: Drawn, width: number, height: number) {
  const left = Math.min(0, ...drawn.lines.flatMap((one) => one.points.map((point) => point.x)));
  const across = drawn.width - left;
  const whole = { width: across + 2 * MARGIN, height: drawn.height + 80 };
  // What does not fit ends above the controls at the lower edge.
  const tight = (height - 24 - CONTROLS) / drawn.height;
  // Many rows go on below the window at a size that can be read.
  const least = Object.keys(drawn.sockets).length > WRAPPED ? READABLE : 0;
  const zoom = Math.max(
    0.25,
    Math.min(1, (width - 2 * MARGIN) / across, Math.max(least, Math.min(height / whole.height, tight))),
  );
  const x = Math.max(MARGIN, (width - whole.width * zoom) / 4) - left * zoom;
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

export const Graph = memo(function Graph(props: GraphProps) {
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
    <section className={css.graph} aria-label="Graph" data-testid="graph" onKeyDown={walk}>
      {drawn ? (
        <ReactFlowProvider>
          <Flow {...props} drawn={drawn} />
        </ReactFlowProvider>
      ) : null}
    </section>
  );
});
