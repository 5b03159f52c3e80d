// The editor's keys. Letters do nothing while somebody types or a question is open; only Delete deletes.
import { useEffect, useRef } from "react";
import { neighbour } from "../../graph/Graph";
import type { Drawn } from "../../graph/layout";
import { typing } from "../../shared/typing";
import { above, breakLoop, chosenSockets, copyText, layOut, pasteText, place, removeSelected } from "./acts";
import type { View } from "./Canvas";
import css from "./editor.module.css";
import type { EditorStore } from "./store";

export interface KeyActs {
  store: EditorStore;
  drawn: Drawn | null;
  view: { current: View | null };
  onReview: () => void;
  onFind: () => void;
}

const STEP = 16;
const ways: Record<string, [number, number]> = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowDown: [0, 1],
  ArrowUp: [0, -1],
};

/** Gives a card the focus, unless the person has gone on meanwhile: a question is open, or something is typed. */
export function focusCard(id: string, from: Element | null = null): void {
  requestAnimationFrame(() => {
    const now = document.activeElement as HTMLElement | null;
    if (document.querySelector("dialog[open]")) return;
    if ((now?.isContentEditable || now?.matches("input, textarea, select")) && now !== from) return;
    document
      .querySelector<HTMLElement>(`.${css.editor} [data-socket="${CSS.escape(id)}"]`)
      ?.focus({ preventScroll: true });
  });
}

export function useKeys(acts: KeyActs): void {
  const now = useRef(acts);
  now.current = acts;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      const handled = event.ctrlKey || event.metaKey ? withControl(event, now.current) : plainKey(event, now.current);
      if (handled) event.preventDefault();
    };
    const quiet = (event: Event) => typing(event as KeyboardEvent);
    const onCopy = (event: ClipboardEvent) => {
      // Words that were marked on the page are copied as ever.
      if (quiet(event) || getSelection()?.toString()) return;
      const text = copyText(now.current.store);
      if (!text) return;
      event.clipboardData?.setData("text/plain", text);
      event.preventDefault();
      if (event.type === "cut") removeSelected(now.current.store);
      else now.current.store.say("Copied as JSON.");
    };
    const onPaste = (event: ClipboardEvent) => {
      if (quiet(event)) return;
      event.preventDefault();
      pasteText(now.current.store, event.clipboardData?.getData("text/plain") ?? "");
    };
    addEventListener("keydown", onKey);
    document.addEventListener("copy", onCopy);
    document.addEventListener("cut", onCopy);
    document.addEventListener("paste", onPaste);
    return () => {
      removeEventListener("keydown", onKey);
      document.removeEventListener("copy", onCopy);
      document.removeEventListener("cut", onCopy);
      document.removeEventListener("paste", onPaste);
    };
  }, []);
}

function withControl(event: KeyboardEvent, acts: KeyActs): boolean {
  const key = event.key.toLowerCase();
  if (key === "s") {
    if (!document.querySelector("dialog[open]")) acts.onReview();
    return true;
  }
  // A field of the inspector is part of the document, so its undo is the document's.
  const field = (event.target as HTMLElement | null)?.closest?.("[data-inspector]");
  if (typing(event) && !(field && (key === "z" || key === "y"))) return false;
  if (key === "z" && event.shiftKey) acts.store.redo();
  else if (key === "z") acts.store.undo();
  else if (key === "y") acts.store.redo();
  else if (key === "g" && event.shiftKey) breakLoop(acts.store);
  else if (key === "g") acts.store.patch({ notice: null, sheet: { kind: "loop", ids: chosenSockets(acts.store) } });
  else if (key === "f") acts.onFind();
  else if (key === "a") {
    const { loadout } = acts.store.state;
    acts.store.select((loadout?.sockets ?? []).map((socket) => ({ kind: "socket", id: socket.id })));
  } else if (key === "d") {
    const text = copyText(acts.store);
    if (text) pasteText(acts.store, text);
  } else return false;
  return true;
}

function plainKey(event: KeyboardEvent, acts: KeyActs): boolean {
  // Out of the inspector, also from a field of it.
  const inside = (event.target as HTMLElement | null)?.closest?.("[data-inspector]");
  if (event.key === "Escape" && inside && !document.querySelector("dialog[open]")) return goUp(acts.store);
  if (typing(event)) return false;
  const { store } = acts;
  const { selection } = store.state;
  const sockets = store.selectedSockets();
  const last = selection.at(-1);
  const from = sockets.at(-1) ?? null;
  if (ways[event.key]) return arrow(event, acts, from);
  if (event.altKey) return false;
  const { key } = event;
  if (key === "Enter") return enterInspector(event);
  if (key === "Escape") return goUp(store);
  if (key === "a" || key === "A")
    store.patch({ sheet: { kind: "add", where: last?.kind === "edge" ? { edge: last.id } : { after: from } } });
  else if ((key === "e" || key === "E") && from) store.patch({ sheet: { kind: "connect", from } });
  else if (key === "e" || key === "E") store.say("Select the socket that the edge leaves.");
  else if (key === "F2" && from) store.patch({ sheet: { kind: "rename", id: from } });
  else if (key === "Delete") removeSelected(store);
  else if (key === "L") layOut(store);
  else if (key === "1") acts.view.current?.fit();
  else if (key === "0") acts.view.current?.whole();
  else return false;
  return true;
}

/** Into the inspector, unless a button was pressed. */
function enterInspector(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement;
  if (target.closest("button, a, summary") || !target.closest(`.${css.editor}, body`)) return false;
  document.querySelector<HTMLElement>("[data-inspector] [role=tabpanel] :is(select, input, textarea, button)")?.focus();
  return true;
}

function goUp(store: EditorStore): boolean {
  if (document.activeElement?.closest("[data-inspector]")) {
    const id = store.selectedSockets().at(-1);
    if (id) focusCard(id, document.activeElement);
    return true;
  }
  store.select(above(store));
  return true;
}

function arrow(event: KeyboardEvent, acts: KeyActs, from: string | null): boolean {
  const { store, drawn } = acts;
  if (!drawn || (event.target as HTMLElement).closest("[role=tablist], [role=tree]")) return false;
  const way = ways[event.key];
  if (event.altKey && way) {
    const spots = Object.fromEntries(
      store.selectedSockets().flatMap((id) => {
        const box = drawn.sockets[id];
        return box ? [[id, { x: box.x + way[0] * STEP, y: box.y + way[1] * STEP }]] : [];
      }),
    );
    if (Object.keys(spots).length > 0) place(store, spots);
    return true;
  }
  const first = store.state.loadout?.entry ?? store.state.loadout?.sockets[0]?.id ?? null;
  const next = from ? neighbour(drawn, from, event.key) : first;
  if (!next) return true;
  const one = { kind: "socket" as const, id: next };
  const kept = store.state.selection.filter((other) => other.kind === "socket" && other.id !== next);
  store.select(event.shiftKey ? [...kept, one] : [one]);
  focusCard(next);
  return true;
}
