// From the document and its drawing to what the canvas is made of.

import { isEnd } from "../../api/ends";
import type { Finding } from "../../api/generated";
import { exitEdgeId, thingAt } from "../../document";
import { borderCrossing } from "../../graph/Graph";
import type { Box, Drawn, Point } from "../../graph/layout";
import { ringOf } from "../../graph/rows";
import { materiaColor } from "../../shared/color";
import { type LineEdge, wordsOf } from "./EditorLine";
import type { EditorNode } from "./nodes";
import type { EditorState } from "./state";
import { cardNote, edgeNote, type Marks, rank, type Walked, wordsWidth } from "./views";

const place = (box: Box) => ({
  position: { x: box.x, y: box.y },
  width: box.width,
  height: box.height,
  measured: { width: box.width, height: box.height },
});
const fixed = { draggable: false, selectable: false, focusable: false } as const;

interface NodesProps extends Pick<EditorState, "loadout" | "materia" | "selection"> {
  drawn: Drawn;
  marks: Map<string, Marks>;
  found: Set<string> | null;
  walked: Walked | null;
  onLoop: (id: string) => void;
}
export function nodesOf(props: NodesProps): EditorNode[] {
  const { loadout, materia, selection, drawn, marks, found, walked } = props;
  if (!loadout) return [];
  const chosen = new Set(selection.flatMap((one) => ("id" in one ? [`${one.kind}:${one.id}`] : [])));
  const nodes: EditorNode[] = [];
  drawn.regions.forEach(({ id, box }, index) => {
    const loop = loadout.loops.find((one) => one.id === id);
    if (!loop) return;
    const from = loadout.sockets.find((socket) => socket.id === loop.consumes);
    const mover = loadout.sockets.find((socket) => loop.sockets.includes(socket.id) && socket.raw.advance);
    const when = (mover?.raw.advance as { when?: string } | undefined)?.when;
    nodes.push({
      id: `region:${id}`,
      type: "region",
      ...place(box),
      ...fixed,
      zIndex: -10 + index,
      style: { pointerEvents: "none" },
      data: {
        id,
        text: from ? `for each work item of ${from.materia}` : "",
        note: mover
          ? `${mover.materia} moves it on${when && when !== "always" ? ` if ${when.replace("_", " ")}` : ""}`
          : "",
        selected: chosen.has(`loop:${id}`),
        marks: marks.get(`loop:${id}`),
        onSelect: props.onLoop,
      },
    });
  });
  for (const { id, box } of drawn.ends)
    nodes.push({ id, type: "end", ...place(box), ...fixed, data: { fails: id.startsWith("fail:") } });
  const members = new Set(loadout.loops.flatMap((loop) => loop.sockets));
  for (const socket of loadout.sockets) {
    const box = drawn.sockets[socket.id];
    if (!box) continue;
    const info = materia.get(socket.materia);
    const selected = chosen.has(`socket:${socket.id}`);
    nodes.push({
      id: socket.id,
      type: "socket",
      ...place(box),
      selected,
      data: {
        id: socket.id,
        title: info?.label || socket.materia || "no materia",
        note: cardNote(socket.raw, info),
        kind: info?.generator ? "generator" : (info?.kind ?? "agent"),
        generator: info?.generator ?? false,
        consumer: members.has(socket.id),
        entry: loadout.entry === socket.id,
        gate: socket.raw.approval === "before",
        color: materiaColor(info?.color) ?? "",
        selected,
        dim: Boolean(found && !found.has(socket.id)),
        lit: walked?.sockets.has(socket.id) ?? false,
        now: walked?.now.has(socket.id) ?? false,
        marks: marks.get(`socket:${socket.id}`),
      },
    });
  }
  return nodes;
}

interface EdgesProps extends Pick<EditorState, "loadout" | "selection" | "findings"> {
  drawn: Drawn;
  /** Words of an exploration. */
  explored: Map<string, string>;
  found: Set<string> | null;
  walked: Walked | null;
}
export function edgesOf(props: EdgesProps): LineEdge[] {
  const { loadout, selection, findings, drawn, explored, found, walked } = props;
  if (!loadout) return [];
  const members = new Set(loadout.loops.flatMap((loop) => loop.sockets));
  const chosen = new Set(selection.flatMap((one) => (one.kind === "edge" ? [one.id] : [])));
  const faults = new Map<string, Finding>();
  for (const finding of findings) {
    const thing = rank(finding) < 2 ? thingAt(loadout, finding.pointer) : null;
    if (thing?.kind === "edge" && !faults.has(thing.id)) faults.set(thing.id, finding);
  }
  const raws = new Map(loadout.sockets.flatMap((socket) => socket.edges.map((edge) => [edge.id, edge.raw] as const)));
  const exits = new Map(
    loadout.loops.flatMap((loop) => loop.exits.map((exit) => [exitEdgeId(loop.id, exit.id), exit] as const)),
  );
  const spread = spreader();
  return drawn.lines.map(({ line, points, label, double }) => {
    const finding = faults.get(line.id);
    const selected = chosen.has(line.id);
    const lit = walked?.edges.has(line.id) ?? false;
    const words = wordsOf(line, exits.get(line.id)?.condition ?? null);
    // There is room for one of them.
    const note = explored.has(line.id) ? "" : edgeNote(raws.get(line.id) ?? {});
    const faultWords = finding?.code === "graph::unreachable-edge" ? "never taken" : (explored.get(line.id) ?? "");
    // What no edge of the document stands for cannot be changed here.
    const written = raws.has(line.id) || exits.has(line.id);
    return {
      id: line.id,
      type: "line",
      source: line.loop ? `region:${line.loop}` : line.from,
      target: isEnd(line.to) ? (ringOf(drawn.ends, line)?.id ?? line.from) : line.to,
      zIndex: lit || selected ? 2 : 1,
      focusable: false,
      selectable: written,
      selected,
      data: {
        line,
        points,
        label,
        double,
        words,
        note,
        wordsAt: spread(label, `${words} ${faultWords} ${note}`.trim()),
        inside: members.has(line.from) && members.has(line.to) && !double,
        feedBead: line.feed ? borderCrossing(drawn, points) : null,
        selected,
        lit,
        dim: Boolean(found),
        fault: finding && rank(finding) === 0 ? "failed" : finding || explored.has(line.id) ? "needs_you" : "",
        faultWords,
      },
    };
  });
}

/** Words of lines that would lie on each other are put below each other. */
function spreader(): (at: Point, text: string) => Point {
  const taken: Box[] = [];
  return (at, text) => {
    if (!text) return at;
    const width = wordsWidth(text);
    let box = { x: at.x - width / 2, y: at.y - 8, width, height: 15 };
    const hits = (one: Box) =>
      taken.some(
        (other) =>
          one.x < other.x + other.width &&
          other.x < one.x + one.width &&
          one.y < other.y + other.height &&
          other.y < one.y + one.height,
      );
    for (let tries = 0; tries < 4 && hits(box); tries += 1) box = { ...box, y: box.y + 15 };
    taken.push(box);
    return { x: at.x, y: box.y + 8 };
  };
}
