// Where everything of a graph is drawn. Elk lays out each row; rows are stacked, loops are boxes around theirs.
// The drawing depends on the graph alone, so it stays as it is while a cast runs.
import type { ELK, ElkExtendedEdge, ElkNode, ElkPort } from "elkjs/lib/elk-api";
import { isEnd } from "../api/ends";
import type { Grid } from "../api/generated";
import { type Line, linesOf, type Row, rowsIn } from "./rows";

export interface Point {
  x: number;
  y: number;
}
export interface Box extends Point {
  width: number;
  height: number;
}
export interface Drawn {
  sockets: Record<string, Box>;
  regions: { id: string; box: Box }[];
  ends: { id: string; box: Box }[];
  lines: { line: Line; points: Point[]; label: Point; double: boolean }[];
  width: number;
  height: number;
}
export interface Sizes {
  card: { width: number; height: number };
  /** Between two cards of a row: room for a label. */
  gap: number;
  lane: number;
  region: { left: number; top: number; right: number; bottom: number };
  rowGap: number;
}
export const FULL: Sizes = {
  card: { width: 212, height: 88 },
  gap: 92,
  lane: 28,
  region: { left: 20, top: 84, right: 20, bottom: 20 },
  rowGap: 44,
};
export const SMALL: Sizes = {
  card: { width: 104, height: 26 },
  gap: 28,
  lane: 9,
  region: { left: 8, top: 8, right: 8, bottom: 8 },
  rowGap: 20,
};
export const MIDDLE: Sizes = {
  card: { width: 144, height: 52 },
  gap: 60,
  lane: 26,
  region: { left: 14, top: 40, right: 14, bottom: 14 },
  rowGap: 36,
};

export const EDITOR: Sizes = {
  card: { width: 176, height: 56 },
  gap: 84,
  lane: 28,
  region: { left: 22, top: 58, right: 22, bottom: 20 },
  rowGap: 48,
};

const RING = 26;
/** A row with more sockets than this is laid out in a quicker way. */
const LARGE = 60;
/** A row with more sockets than this goes on below its beginning, so that it is readable where all of it is seen. */
export const WRAPPED = 12;

type Level = Pick<Box, "width" | "height">;
interface Work {
  elk: ELK;
  grid: Grid;
  sizes: Sizes;
  lines: Line[];
  done: Set<string>;
  drawn: Drawn;
  /** The box of the row that each socket is in, for lines between rows. */
  rowOf: Record<string, Box>;
}

export async function layout(elk: ELK, grid: Grid, sizes: Sizes = FULL): Promise<Drawn> {
  const drawn: Drawn = { sockets: {}, regions: [], ends: [], lines: [], width: 0, height: 0 };
  const work: Work = { elk, grid, sizes, lines: linesOf(grid), done: new Set(), drawn, rowOf: {} };
  const size = await level(work, null, { x: 0, y: 0 });
  crossLines(work);
  const right = Math.max(size.width, ...drawn.ends.map((end) => end.box.x + end.box.width));
  return { ...drawn, width: right, height: size.height };
}

async function level(work: Work, inside: string | null, at: Point): Promise<Level> {
  const rows = rowsIn(work.grid, inside, work.lines);
  const { sizes } = work;
  let y = at.y;
  let width = 0;
  const indent = rows.some((row) => row.kind === "loop") ? sizes.region.left : 0;
  for (const [index, row] of rows.entries()) {
    if (index > 0) y += sizes.rowGap;
    const size =
      row.kind === "loop"
        ? await loopRow(work, row.loop, { x: at.x, y })
        : await socketRow(work, row, { x: at.x + indent, y });
    width = Math.max(width, size.width + (row.kind === "loop" ? 0 : indent));
    y += size.height;
  }
  return { width, height: y - at.y };
}

async function loopRow(work: Work, loop: string, at: Point): Promise<Level> {
  const pad = work.sizes.region;
  const inner = await level(work, loop, { x: at.x + pad.left, y: at.y + pad.top });
  const box: Box = { ...at, width: inner.width + pad.left + pad.right, height: inner.height + pad.top + pad.bottom };
  // Outer regions come first, so that inner ones are drawn on top of them.
  work.drawn.regions.unshift({ id: loop, box });
  const members = work.grid.loops?.[loop]?.sockets ?? [];
  const leaving = work.lines.filter((line) => line.loop === loop && isEnd(line.to));
  for (const word of ["end", "fail"]) {
    const exit = leaving.find((line) => line.to === word);
    const last = exit && work.drawn.sockets[exit.from];
    if (!exit || !last) continue;
    const below = word === "fail" && leaving.some((line) => line.to === "end") ? 2 * RING : 0;
    const middle = last.y + last.height / 2 + below;
    const ring: Box = { x: box.x + box.width + work.sizes.gap / 3, y: middle - RING / 2, width: RING, height: RING };
    work.drawn.ends.push({ id: `${word}:${loop}`, box: ring });
    const points = [
      { x: box.x + box.width, y: middle },
      { x: ring.x, y: middle },
    ];
    work.drawn.lines.push({ line: exit, points, label: { x: (points[0]?.x ?? 0) + 14, y: middle - 16 }, double: true });
    work.done.add(exit.id);
  }
  for (const socket of members) work.rowOf[socket] = box;
  return { width: box.width, height: box.height };
}

async function socketRow(work: Work, row: Extract<Row, { kind: "sockets" }>, at: Point): Promise<Level> {
  const { sizes } = work;
  const inRow = new Set(row.sockets);
  const own = work.lines.filter(
    (line) => line.kind !== "exit" && inRow.has(line.from) && (inRow.has(line.to) || isEnd(line.to)),
  );
  const endOf = (word: string) => `${word}:${row.sockets[0]}`;
  const ends = [...new Set(own.filter((line) => isEnd(line.to)).map((line) => endOf(line.to)))];
  const ports = new Map<string, ElkPort[]>();
  const port = (socket: string, id: string, side: string) => {
    const list = ports.get(socket) ?? [];
    list.push({ id, width: 1, height: 1, layoutOptions: { "elk.port.side": side } });
    ports.set(socket, list);
    return id;
  };
  const place = new Map(row.sockets.map((id, index) => [id, index]));
  const edges: ElkExtendedEdge[] = own.map((line) => {
    const target = isEnd(line.to) ? endOf(line.to) : line.to;
    const back =
      line.back ||
      line.from === line.to ||
      (place.get(line.to) ?? Number.POSITIVE_INFINITY) < (place.get(line.from) ?? 0);
    return {
      id: line.id,
      sources: [port(line.from, `${line.id}#out`, back ? "SOUTH" : "EAST")],
      targets: [port(target, `${line.id}#in`, back ? "SOUTH" : "WEST")],
      layoutOptions: { "elk.layered.priority.direction": back ? "0" : "10" },
    };
  });
  const child = (id: string, width: number, height: number): ElkNode => ({
    id,
    width,
    height,
    ports: ports.get(id) ?? [],
    layoutOptions: {
      "elk.portConstraints": "FIXED_SIDE",
      "elk.portAlignment.east": "CENTER",
      "elk.portAlignment.west": "CENTER",
    },
  });
  const children = row.sockets.map((id) => child(id, sizes.card.width, sizes.card.height));
  for (const end of ends) children.push(child(end, RING, RING));
  const layoutOptions = {
    "elk.algorithm": "layered",
    "elk.direction": "RIGHT",
    "elk.edgeRouting": "ORTHOGONAL",
    "elk.padding": "[top=0,left=0,bottom=0,right=0]",
    "elk.layered.cycleBreaking.strategy": "MODEL_ORDER",
    "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
    // The finest placement takes too long for what nobody sees whole at once.
    "elk.layered.nodePlacement.strategy": children.length > LARGE ? "BRANDES_KOEPF" : "NETWORK_SIMPLEX",
    ...(children.length > LARGE ? { "elk.layered.thoroughness": "1" } : {}),
    "elk.layered.feedbackEdges": "true",
    "elk.layered.spacing.nodeNodeBetweenLayers": String(sizes.gap),
    "elk.layered.spacing.edgeNodeBetweenLayers": String(sizes.lane * 0.7),
    "elk.spacing.nodeNode": String(sizes.lane * 1.4),
    "elk.spacing.edgeNode": String(sizes.lane),
    "elk.spacing.edgeEdge": String(sizes.lane),
    "elk.layered.spacing.edgeEdgeBetweenLayers": String(sizes.lane / 2),
  };
  const lay = (more: object) =>
    work.elk.layout<ElkNode>({ id: "row", children, edges, layoutOptions: { ...layoutOptions, ...more } });
  // The more sockets, the more rows: each is about as wide as a window.
  const ratio = String(44 / row.sockets.length);
  const wrapped = { "elk.layered.wrapping.strategy": "MULTI_EDGE", "elk.aspectRatio": ratio };
  // Elk cannot wrap every graph; one that it cannot wrap stays one long row.
  const result = row.sockets.length > WRAPPED ? await lay(wrapped).catch(() => lay({})) : await lay({});
  const box: Box = { x: at.x, y: at.y, width: result.width ?? 0, height: result.height ?? 0 };
  for (const node of result.children ?? []) {
    const { x = 0, y = 0, width = 0, height = 0 } = node;
    const place = { x: at.x + x, y: at.y + y, width, height };
    if (ends.includes(node.id)) work.drawn.ends.push({ id: node.id, box: place });
    else work.drawn.sockets[node.id] = place;
    work.rowOf[node.id] = box;
  }
  for (const edge of result.edges ?? []) {
    const section = edge.sections?.[0];
    const line = own.find((one) => one.id === edge.id);
    if (!section || !line) continue;
    const points = [section.startPoint, ...(section.bendPoints ?? []), section.endPoint].map((point) => ({
      x: point.x + at.x,
      y: point.y + at.y,
    }));
    work.drawn.lines.push({ line, points, label: labelPlace(points), double: false });
    work.done.add(line.id);
  }
  return { width: box.width, height: box.height };
}

/** Lines from one row into another: down through the gap between them, or around on the left. */
function crossLines(work: Work): void {
  const { drawn, sizes } = work;
  const used = new Map<string, number>();
  const step = (key: string) => {
    const n = used.get(key) ?? 0;
    used.set(key, n + 1);
    return n * Math.min(14, sizes.card.width / 8);
  };
  let lane = -sizes.lane;
  for (const line of work.lines) {
    if (work.done.has(line.id)) continue;
    const target = drawn.sockets[line.to];
    const region = line.loop ? drawn.regions.find((one) => one.id === line.loop)?.box : undefined;
    const source = region ?? drawn.sockets[line.from];
    if (!target || !source) continue;
    const targetRow = work.rowOf[line.to] ?? target;
    const sourceRow = region ?? work.rowOf[line.from] ?? source;
    const drop = Math.min(28, sizes.card.width / 4);
    const tx = target.x + drop + step(`in:${line.to}`);
    const ty = target.y;
    const sx = region
      ? Math.min(Math.max(tx, region.x + 20), region.x + region.width - 20)
      : source.x + drop + step(`out:${line.from}`);
    const sy = source.y + source.height;
    const bottom = sourceRow.y + sourceRow.height;
    const adjacent = targetRow.y >= bottom && targetRow.y - bottom <= sizes.rowGap + 1;
    const above = targetRow.y - sizes.rowGap / 2;
    const low = bottom + sizes.rowGap / 3;
    const straight = adjacent && Math.abs(sx - tx) < 1;
    const by: [number, number][] = straight
      ? []
      : adjacent
        ? [
            [sx, above],
            [tx, above],
          ]
        : [
            [sx, low],
            [lane, low],
            [lane, above],
            [tx, above],
          ];
    const points = [[straight ? tx : sx, sy] as const, ...by, [tx, ty] as const].map(([x, y]) => ({ x, y }));
    if (!adjacent) lane -= sizes.lane;
    const label = adjacent
      ? { x: (sx + tx) / 2 + (straight ? 50 : 0), y: straight ? (sy + targetRow.y) / 2 : above }
      : labelPlace(points);
    drawn.lines.push({ line, points, label, double: Boolean(region) });
    work.done.add(line.id);
  }
}

/** The middle of the longest level piece of a line. */
function labelPlace(points: Point[]): Point {
  let best = -1;
  let place = points[0] ?? { x: 0, y: 0 };
  for (let index = 1; index < points.length; index += 1) {
    const a = points[index - 1];
    const b = points[index];
    if (!a || !b) continue;
    const length = Math.abs(a.y - b.y) < 1 ? Math.abs(a.x - b.x) : Math.abs(a.y - b.y) / 4;
    if (length > best) {
      best = length;
      place = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    }
  }
  return place;
}
