// The loadout as a tree: the equal of the canvas for keyboards and screen readers. Arrows walk, the page's keys act.
import { type KeyboardEvent, useEffect, useMemo, useRef } from "react";
import { exitEdgeId, type Loadout, type Selected } from "../../document";
import { cx } from "../../shared/cx";
import { oneLine } from "../../shared/text";
import { orderEdge } from "./acts";
import css from "./editor.module.css";
import { type EditorStore, useEditor } from "./store";
import { edgeNote, keyOf, type Marks, marksOf } from "./views";

const plural = (count: number, word: string) => `${count} ${word}${count === 1 ? "" : "s"}`;

interface Item {
  thing: Selected;
  level: number;
  text: string;
  note: string;
  /** For an edge: its socket and place. */
  edge?: { socket: string; index: number };
}

function itemsOf(loadout: Loadout): Item[] {
  const items: Item[] = [{ thing: { kind: "loadout" }, level: 1, text: loadout.name, note: "loadout" }];
  const title = (id: string) => {
    const materia = loadout.sockets.find((socket) => socket.id === id)?.materia;
    return materia ? `${materia} (${id})` : id;
  };
  for (const socket of loadout.sockets) {
    const loops = loadout.loops.filter((loop) => loop.sockets.includes(socket.id)).map((loop) => loop.id);
    const notes = [loadout.entry === socket.id ? "entry" : "", ...loops.map((loop) => `in ${loop}`)].filter(Boolean);
    items.push({
      thing: { kind: "socket", id: socket.id },
      level: 2,
      text: title(socket.id),
      note: notes.join(", "),
    });
    for (const edge of socket.edges)
      items.push({
        thing: { kind: "edge", id: edge.id },
        level: 3,
        text: `${edge.index + 1}. ${edge.when.replace("_", " ")} to ${title(edge.to)}`,
        note: edgeNote(edge.raw),
        edge: { socket: socket.id, index: edge.index },
      });
  }
  for (const loop of loadout.loops) {
    const from = loop.consumes ? `for each item of ${title(loop.consumes)}` : "";
    items.push({ thing: { kind: "loop", id: loop.id }, level: 2, text: `Loop ${loop.id}`, note: from });
    for (const exit of loop.exits)
      items.push({
        thing: { kind: "edge", id: exitEdgeId(loop.id, exit.id) },
        level: 3,
        text: `exit from ${title(exit.from)}, ${exit.condition.replace("_", " ")}, to ${title(exit.to)}`,
        note: "",
      });
  }
  return items;
}

export function Outline({ store }: { store: EditorStore }) {
  const { loadout, selection, findings } = useEditor(store, "loadout", "selection", "findings");
  const marks = useMemo<Map<string, Marks>>(
    () => (loadout ? marksOf(loadout, findings) : new Map()),
    [loadout, findings],
  );
  const box = useRef<HTMLDivElement>(null);
  const items = useMemo(() => (loadout ? itemsOf(loadout) : []), [loadout]);
  const chosen = new Set(selection.map(keyOf));
  const current = items.findIndex((item) => item.thing.kind !== "loadout" && chosen.has(keyOf(item.thing)));
  const focused = current < 0 ? 0 : items.findLastIndex((item) => chosen.has(keyOf(item.thing)));
  useEffect(() => {
    // The tree follows what is selected elsewhere.
    const row = box.current?.querySelectorAll<HTMLElement>("[role=treeitem]")[focused];
    const tree = box.current;
    if (row && tree) {
      // Only the tree is scrolled, never the page around it.
      const above = row.offsetTop - tree.offsetTop;
      if (above < tree.scrollTop) tree.scrollTop = above;
      else if (above + row.offsetHeight > tree.scrollTop + tree.clientHeight)
        tree.scrollTop = above + row.offsetHeight - tree.clientHeight;
    }
    if (box.current?.contains(document.activeElement)) row?.focus();
  }, [focused]);
  const go = (event: KeyboardEvent, index: number) => {
    const item = items[index];
    if (!item) return;
    event.preventDefault();
    event.stopPropagation();
    const extend = event.shiftKey && item.thing.kind === "socket" && selection.some((one) => one.kind === "socket");
    store.select(extend ? [...selection.filter((one) => keyOf(one) !== keyOf(item.thing)), item.thing] : [item.thing]);
    box.current?.querySelectorAll<HTMLElement>("[role=treeitem]")[index]?.focus();
  };
  const onKey = (event: KeyboardEvent, index: number) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const edge = items[index]?.edge;
    if (step && event.altKey && edge) {
      event.preventDefault();
      event.stopPropagation();
      orderEdge(store, edge.socket, edge.index, edge.index + step);
    } else if (step && !event.altKey) {
      let next = index + step;
      // Sockets are selected together, so what lies between them is left out.
      while (event.shiftKey && items[next] && items[next]?.thing.kind !== "socket") next += step;
      go(event, next);
    } else if (event.key === "Home") go(event, 0);
    else if (event.key === "End") go(event, items.length - 1);
    else if (event.key === "ArrowLeft" && (items[index]?.level ?? 0) > 1)
      go(
        event,
        items.findLastIndex((item, at) => at < index && item.level < (items[index]?.level ?? 0)),
      );
    else if (
      event.key === "ArrowRight" &&
      items[index + 1] &&
      (items[index + 1]?.level ?? 0) > (items[index]?.level ?? 0)
    )
      go(event, index + 1);
    else if (["ArrowLeft", "ArrowRight"].includes(event.key)) event.stopPropagation();
  };
  return (
    <div
      className={css.edOutline}
      role="tree"
      aria-label="Outline"
      aria-multiselectable="true"
      ref={box}
      data-testid="outline"
    >
      {items.map((item, index) => {
        const key = keyOf(item.thing);
        const found = marks.get(key);
        return (
          <div
            key={key}
            role="treeitem"
            aria-level={item.level}
            aria-selected={chosen.has(key) && item.thing.kind !== "loadout"}
            tabIndex={index === focused ? 0 : -1}
            className={css.leaf}
            data-testid={`outline-${key}`}
            data-thing={item.thing.kind}
            onKeyDown={(event) => onKey(event, index)}
            onClick={(event) => {
              const extend = event.ctrlKey || event.shiftKey || event.metaKey;
              store.select(extend && item.thing.kind === "socket" ? [...selection, item.thing] : [item.thing]);
            }}
          >
            <span className="cut">{oneLine(item.text, 160)}</span>
            <span className="faint cut">{item.note}</span>
            {found && found.errors > 0 ? (
              <span className={cx(css.tell, "st failed")}>{plural(found.errors, "error")}</span>
            ) : null}
            {found && found.errors === 0 && found.warnings > 0 ? (
              <span className={cx(css.tell, "st needs_you")}>{plural(found.warnings, "warning")}</span>
            ) : null}
          </div>
        );
      })}
    </div>
  );
}
