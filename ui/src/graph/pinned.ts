// A drawing in which some cards stand where a person put them. Lines of those cards are led anew, regions grow with
// their members, and cards that nobody placed make room.
import { isEnd } from "../api/ends";
import type { Grid } from "../api/generated";
import type { Box, Drawn, Point, Sizes } from "./layout";
import { parents, ringOf } from "./rows";

const GAP = 16;

const overlap = (a: Box, b: Box) =>
  a.x < b.x + b.width + GAP && b.x < a.x + a.width + GAP && a.y < b.y + b.height + GAP && b.y < a.y + a.height + GAP;

export function withSpots(drawn: Drawn, grid: Grid, spots: Record<string, Point>, sizes: Sizes): Drawn {
  const pinned: Record<string, Box> = {};
  for (const socket of grid.sockets) {
    const spot = Object.hasOwn(spots, socket.id) ? spots[socket.id] : undefined;
    if (!spot || !drawn.sockets[socket.id]) continue;
    const box = { ...spot, ...sizes.card };
    // Two cards on one place cannot both have been put there by a person.
    if (!Object.values(pinned).some((other) => overlap(other, box))) pinned[socket.id] = box;
  }
  if (Object.keys(pinned).length === 0) return drawn;
  const sockets: Record<string, Box> = { ...pinned };
  const moved = new Set(Object.keys(pinned));
  for (const [id, box] of Object.entries(drawn.sockets)) {
    if (pinned[id]) continue;
    let place = box;
    for (let other = hit(sockets, place); other; other = hit(sockets, place)) {
      place = { ...place, y: other.y + other.height + GAP };
      moved.add(id);
    }
    sockets[id] = place;
  }
  const regions = drawn.regions.map(({ id, box }) => ({ id, box: around(grid, id, sockets, moved, sizes) ?? box }));
  const same = (id: string | undefined) =>
    drawn.regions.find((one) => one.id === id)?.box === regions.find((one) => one.id === id)?.box;
  const ends = drawn.ends.map((end) => {
    const loop = end.id.replace(/^(end|fail):/, "");
    const region = regions.find((one) => one.id === loop);
    if (!region || same(loop)) return end;
    const { x, y, width, height } = region.box;
    const below =
      end.id.startsWith("fail:") && drawn.ends.some((one) => one.id === `end:${loop}`) ? 2 * end.box.height : 0;
    return {
      id: end.id,
      box: { ...end.box, x: x + width + sizes.gap / 3, y: y + height / 2 - end.box.height / 2 + below },
    };
  });
  const lines = drawn.lines.map((one) => {
    const { line } = one;
    if (!moved.has(line.from) && !moved.has(line.to) && same(line.loop)) return one;
    const from = line.loop ? regions.find((region) => region.id === line.loop)?.box : sockets[line.from];
    const to = isEnd(line.to) ? ringOf(ends, line)?.box : sockets[line.to];
    if (!from || !to) return one;
    const points = route(from, to, sizes, line.from === line.to);
    return { ...one, points, label: middle(points) };
  });
  const boxes = [...Object.values(sockets), ...regions.map((one) => one.box), ...ends.map((one) => one.box)];
  return {
    sockets,
    regions,
    ends,
    lines,
    width: Math.max(...boxes.map((box) => box.x + box.width)),
    height: Math.max(...boxes.map((box) => box.y + box.height)),
  };
}

function hit(sockets: Record<string, Box>, box: Box): Box | undefined {
  return Object.values(sockets).find((other) => overlap(other, box));
}

/** The box around the members of a loop, where one of them was moved. */
function around(grid: Grid, id: string, sockets: Record<string, Box>, moved: Set<string>, sizes: Sizes): Box | null {
  const members = grid.loops?.[id]?.sockets ?? [];
  const boxes = members.flatMap((socket) => sockets[socket] ?? []);
  if (boxes.length === 0 || !members.some((socket) => moved.has(socket))) return null;
  const { left, top, right, bottom } = sizes.region;
  // A loop inside needs room around itself as well; ways back run below the cards.
  const inner = Object.values(parents(grid)).filter((outer) => outer === id).length;
  const more = inner * Math.max(left, top / 2);
  const x = Math.min(...boxes.map((box) => box.x)) - left - more;
  const y = Math.min(...boxes.map((box) => box.y)) - top - more;
  const width = Math.max(...boxes.map((box) => box.x + box.width)) + right + more - x;
  const height = Math.max(...boxes.map((box) => box.y + box.height)) + bottom + 2 * sizes.lane + more - y;
  return { x, y, width, height };
}

/** From box to box with level and upright pieces only. */
export function route(from: Box, to: Box, sizes: Sizes, self: boolean): Point[] {
  const mid = (box: Box) => ({ x: box.x + box.width / 2, y: box.y + box.height / 2 });
  const [a, b] = [mid(from), mid(to)];
  if (!self && to.x >= from.x + from.width + 12) {
    const start = { x: from.x + from.width, y: a.y };
    const end = { x: to.x, y: b.y };
    if (Math.abs(start.y - end.y) < 1) return [start, end];
    const turn = (start.x + end.x) / 2;
    return [start, { x: turn, y: start.y }, { x: turn, y: end.y }, end];
  }
  if (!self && to.y >= from.y + from.height + 12) {
    const start = { x: a.x, y: from.y + from.height };
    const end = { x: b.x, y: to.y };
    if (Math.abs(start.x - end.x) < 1) return [start, end];
    const turn = (start.y + end.y) / 2;
    return [start, { x: start.x, y: turn }, { x: end.x, y: turn }, end];
  }
  // Back: below both of them.
  const below = Math.max(from.y + from.height, to.y + to.height) + sizes.lane;
  const start = { x: a.x + 12, y: from.y + from.height };
  const end = { x: b.x - 12, y: to.y + to.height };
  return [start, { x: start.x, y: below }, { x: end.x, y: below }, end];
}

function middle(points: Point[]): Point {
  const half = points.slice(Math.max(0, Math.floor(points.length / 2) - 1));
  const [a, b] = [half[0], half[1] ?? half[0]];
  return a && b ? { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 } : { x: 0, y: 0 };
}
