// The canvas: the loadout as a graph that can be changed with the mouse. What it shows comes from the document.

import {
  type Connection,
  type EdgeChange,
  type FinalConnectionState,
  type NodeChange,
  Panel,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import {
  type DragEvent,
  memo,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
} from "react";
import { type Selected, type Spot, templates } from "../../document";
import { showAll, Zoom } from "../../graph/Graph";
import type { Drawn } from "../../graph/layout";
import { add, addTemplate, link, place } from "./acts";
import { edgesOf, nodesOf } from "./drawing";
import { edgeTypes, type LineEdge } from "./EditorLine";
import css from "./editor.module.css";
import { linesOf, type Row, withExplored } from "./explored";
import { type EditorNode, nodeTypes } from "./nodes";
import { type EditorStore, useEditor } from "./store";
import { marksOf, walkedBy } from "./views";

export const DRAGGED = "application/x-materia";

export interface View {
  fit: () => void;
  whole: () => void;
}
interface CanvasProps {
  store: EditorStore;
  drawn: Drawn;
  /** What an exploration of this text found. */
  explored: Row[];
  found: Set<string> | null;
  view: RefObject<View | null>;
  onDrag: (spots: Record<string, Spot> | null) => void;
}

export const Canvas = memo(function Canvas(props: CanvasProps) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
});

function Flow(props: CanvasProps) {
  const { store, drawn, found, explored } = props;
  const parts = ["loadout", "materia", "selection", "findings", "readOnly", "walk"] as const;
  const { loadout, materia, selection, findings, readOnly, walk } = useEditor(store, ...parts);
  const walked = useMemo(() => walkedBy(walk), [walk]);
  const marks = useMemo(
    () => (loadout ? withExplored(marksOf(loadout, findings), explored) : new Map()),
    [loadout, findings, explored],
  );
  const onLoop = useCallback((id: string) => store.select([{ kind: "loop", id }]), [store]);
  const nodes = useMemo(
    () => nodesOf({ loadout, materia, selection, drawn, marks, found, walked, onLoop }),
    [loadout, materia, selection, drawn, marks, found, walked, onLoop],
  );
  const edges = useMemo(
    () => edgesOf({ loadout, selection, findings, drawn, explored: linesOf(explored), found, walked }),
    [loadout, selection, findings, drawn, explored, found, walked],
  );
  const [over, setOver] = useState<string | null>(null);
  const moving = useRef<Record<string, Spot>>({});
  useView(props);

  const onNodes = (changes: NodeChange<EditorNode>[]) => {
    let next: Selected[] | null = null;
    for (const change of changes) {
      if (change.type === "select" && !/^(region|end):/.test(change.id)) {
        next ??= [...store.state.selection];
        next = next.filter((one) => one.kind !== "socket" || one.id !== change.id);
        if (change.selected) next = [...next.filter((one) => one.kind === "socket"), { kind: "socket", id: change.id }];
      }
      if (change.type === "position" && change.position && !readOnly)
        moving.current = { ...moving.current, [change.id]: change.position };
    }
    if (next) store.select(next);
    if (changes.some((change) => change.type === "position" && change.dragging)) props.onDrag({ ...moving.current });
  };
  const onEdges = (changes: EdgeChange<LineEdge>[]) => {
    for (const change of changes)
      if (change.type === "select")
        store.select(
          change.selected
            ? [{ kind: "edge", id: change.id }]
            : store.state.selection.filter((one) => one.kind !== "edge" || one.id !== change.id),
        );
  };
  const onStop = () => {
    const spots = moving.current;
    moving.current = {};
    const far = Object.entries(spots).filter(([id, spot]) => {
      const box = drawn.sockets[id];
      return box && (loadout?.layout[id]?.x !== spot.x || loadout?.layout[id]?.y !== spot.y);
    });
    if (far.length > 0) place(store, Object.fromEntries(far));
    props.onDrag(null);
  };
  const onConnect = ({ source, target }: Connection) =>
    link(store, source, /^(end|fail):/.test(target) ? target.slice(0, target.indexOf(":")) : target);
  const onConnectEnd = (_: unknown, { toNode, fromNode, fromHandle }: FinalConnectionState) => {
    if (!toNode && fromNode && fromHandle?.type === "source")
      store.patch({ sheet: { kind: "add", where: { from: fromNode.id } } });
  };
  const edgeUnder = (event: DragEvent) =>
    (event.target as Element).closest<SVGElement>("[data-edge]")?.dataset.edge ?? null;
  const onDrop = (event: DragEvent) => {
    const text = event.dataTransfer.getData(DRAGGED);
    setOver(null);
    if (!text) return;
    event.preventDefault();
    const { kind, name } = JSON.parse(text) as { kind: string; name: string };
    if (kind === "loadout") store.patch({ sheet: { kind: "link", behind: name } });
    else if (kind === "template") {
      const template = templates.find((one) => one.name === name);
      if (template) addTemplate(store, template);
    } else add(store, name, { edge: edgeUnder(event) });
  };

  return (
    <ReactFlow<EditorNode, LineEdge>
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      edgeTypes={edgeTypes}
      className={over ? css.over : ""}
      nodesDraggable={!readOnly}
      nodesConnectable={!readOnly}
      nodesFocusable={false}
      edgesFocusable={false}
      disableKeyboardA11y
      deleteKeyCode={null}
      selectionKeyCode="Shift"
      multiSelectionKeyCode={["Control", "Meta", "Shift"]}
      zoomOnDoubleClick={false}
      nodeDragThreshold={4}
      minZoom={0.05}
      maxZoom={2}
      onlyRenderVisibleElements={(loadout?.sockets.length ?? 0) > 60}
      proOptions={{ hideAttribution: true }}
      onNodesChange={onNodes}
      onEdgesChange={onEdges}
      onNodeDragStop={onStop}
      onSelectionDragStop={onStop}
      onNodeDoubleClick={() =>
        document.querySelector<HTMLElement>("[data-inspector] select, [data-inspector] input")?.focus()
      }
      onPaneClick={() => store.select([])}
      onConnect={onConnect}
      onConnectEnd={onConnectEnd}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes(DRAGGED)) return;
        event.preventDefault();
        const edge = edgeUnder(event);
        if (edge !== over) setOver(edge);
      }}
      onDragLeave={() => setOver(null)}
      onDrop={onDrop}
    >
      <Zoom onFit={() => props.view.current?.fit()} />
      <Panel position="bottom-right" className={css.hints} aria-hidden="true">
        <span>
          <kbd>A</kbd> add
        </span>
        <span>
          <kbd>E</kbd> connect
        </span>
        <span>
          <kbd>Ctrl G</kbd> loop
        </span>
        <span>
          <kbd>Shift L</kbd> lay out
        </span>
      </Panel>
    </ReactFlow>
  );
}

/** All of it is shown when it is opened, and stays in view if it was; otherwise the view is the person's. */
function useView({ drawn, view, store }: CanvasProps): void {
  const flow = useReactFlow();
  const width = useStore((store) => store.width);
  const height = useStore((store) => store.height);
  const before = useRef<Drawn | null>(null);
  const fit = useCallback(() => void showAll(flow, drawn, width, height), [flow, drawn, width, height]);
  useEffect(() => {
    if (!width || !height || before.current === drawn) return;
    const last = before.current;
    before.current = drawn;
    const at = flow.getViewport();
    const whole = !last || Object.keys(last.sockets).length === 0 || !outside(last, at, width, height);
    if (whole && (!last || outside(drawn, at, width, height))) void showAll(flow, drawn, width, height);
  }, [flow, drawn, width, height]);
  // What is selected can be seen.
  const chosen = useEditor(store, "selection").selection.at(-1);
  const id = chosen?.kind === "socket" ? chosen.id : null;
  const box = id ? drawn.sockets[id] : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the view moves when another card is selected, not when a person moves the view
  useEffect(() => {
    if (!box || !width || !height) return;
    const { x, y, zoom } = flow.getViewport();
    const [left, top] = [box.x * zoom + x, box.y * zoom + y];
    const dx = left < 0 ? 40 - left : Math.min(0, width - 40 - left - box.width * zoom);
    const dy = top < 0 ? 40 - top : Math.min(0, height - 60 - top - box.height * zoom);
    const hidden = left < 0 || top < 0 || left + box.width * zoom > width || top + box.height * zoom > height;
    if (hidden) void flow.setViewport({ x: x + dx, y: y + dy, zoom });
  }, [id, box?.x, box?.y]);
  useImperativeHandle(view, () => ({ fit, whole: () => void flow.zoomTo(1) }), [fit, flow]);
}

function outside(drawn: Drawn, at: { x: number; y: number; zoom: number }, width: number, height: number): boolean {
  return Object.values(drawn.sockets).some((box) => {
    const [x, y] = [box.x * at.zoom + at.x, box.y * at.zoom + at.y];
    return x < 0 || y < 0 || x + box.width * at.zoom > width || y + box.height * at.zoom > height;
  });
}
