// The editor around one open document: bar, palette, canvas, inspector and drawer.
import { X } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Walk } from "../../api/generated";
import { gridOf, type Selected, type Spot } from "../../document";
import { useDrawing } from "../../graph/elk";
import graph from "../../graph/graph.module.css";
import { EDITOR } from "../../graph/layout";
import { withSpots } from "../../graph/pinned";
import { Button, IconButton } from "../../shared/Button";
import { cx } from "../../shared/cx";
import { Input } from "../../shared/Field";
import { keep, kept } from "../../shared/kept";
import { later } from "../../shared/later";
import { useSearch } from "../../shared/router";
import { layOut, removeSelected, type Where } from "./acts";
import { Canvas, type View } from "./Canvas";
import { CopySheet } from "./CopySheet";
import { Drawer, type DrawerTab } from "./Drawer";
import { useExplored } from "./Explore";
import css from "./editor.module.css";
import type { Play } from "./explored";
import { Inspector } from "./Inspector";
import { LinkSheet } from "./LinkSheet";
import { LoopStrip } from "./LoopStrip";
import { loadoutNames } from "./names";
import { PalettePane } from "./PalettePane";
import { Review } from "./Review";
import { SaveBar, saveReason } from "./SaveBar";
import { AddSheet, ConnectSheet, RenameSheet } from "./Sheets";
import { type EditorStore, useCheck, useEditor } from "./store";
import { focusCard, useKeys } from "./useKeys";
import { findingsOf, keyOf, matches, sizesFor, walkedBy } from "./views";

const NOTICE_MS = 8000;

type Sheet =
  | { kind: "add"; where: Where }
  | { kind: "connect"; from: string }
  | { kind: "rename"; id: string }
  | { kind: "loop"; ids: string[] }
  | { kind: "link"; behind: string }
  | { kind: "review" }
  | { kind: "copy" };

const MergeView = later(async () => (await import("./MergeView")).MergeView);

export function Workbench({ store }: { store: EditorStore }) {
  const state = useEditor(store);
  useCheck(store);
  const [search, change] = useSearch();
  const [sheet, setSheet] = useState<Sheet | null>(() => (search.get("copy") ? { kind: "copy" } : null));
  const [walk, setWalk] = useState<Walk | null>(null);
  const [play, setPlay] = useState<Play | null>(null);
  const [dragged, setDragged] = useState<Record<string, Spot> | null>(null);
  const view = useRef<View | null>(null);
  const finder = useRef<HTMLInputElement>(null);
  const palette = useRef<HTMLInputElement>(null);
  const { loadout, materia, conflict, notice } = state;
  const words = search.get("find");
  const tab = (search.get("drawer") ?? "outline") as DrawerTab;
  const grid = useMemo(() => (loadout ? gridOf(loadout, materia) : null), [loadout, materia]);
  const gap = sizesFor(loadout).gap;
  const sizes = useMemo(() => ({ ...EDITOR, gap }), [gap]);
  const laid = useDrawing(grid, sizes);
  const drawn = useMemo(
    () => (laid && grid && loadout ? withSpots(laid, grid, { ...loadout.layout, ...dragged }, sizes) : laid),
    [laid, grid, loadout, dragged, sizes],
  );
  const findings = useMemo(() => findingsOf(state), [state]);
  const found = useMemo(() => (words === null ? null : matches(state, words)), [state, words]);
  const walked = useMemo(() => walkedBy(walk), [walk]);
  const explored = useExplored(state, tab === "explore");
  const others = useMemo(() => loadoutNames(state.files), [state.files]);
  const close = useCallback(() => {
    setSheet(null);
    change({ copy: null });
  }, [change]);
  const review = () => {
    if (state.readOnly) setSheet({ kind: "copy" });
    else if (state.text !== state.base && saveReason(state, findings) === null) setSheet({ kind: "review" });
    else if (state.text === state.base) store.say("Everything is saved.");
    else store.say(`Not saved: ${saveReason(state, findings)}.`);
  };
  useKeys({
    store,
    drawn,
    view,
    onAdd: (where) => setSheet({ kind: "add", where }),
    onConnect: (from) => setSheet({ kind: "connect", from }),
    onRename: (id) => setSheet({ kind: "rename", id }),
    onLoop: (ids) => {
      store.patch({ notice: null });
      setSheet({ kind: "loop", ids });
    },
    onReview: review,
    onFind: () => {
      change({ find: words ?? " " });
      requestAnimationFrame(() => finder.current?.select());
    },
  });
  useSelection(state.selection, change);
  useEffect(() => {
    if (!notice || notice.undo) return;
    const timer = setTimeout(() => store.patch({ notice: null }), NOTICE_MS);
    return () => clearTimeout(timer);
  }, [store, notice]);
  useEffect(() => {
    document.title = `${state.text === state.base ? "" : "• "}${state.subject.name} · Materia`;
  }, [state.text, state.base, state.subject.name]);

  const [narrow, setNarrow] = useState(
    () => (kept("materia.palette") ?? (innerWidth < 1100 ? "closed" : "open")) === "closed",
  );
  const fold = () => {
    keep("materia.palette", narrow ? "open" : "closed");
    setNarrow(!narrow);
  };

  return (
    <div className={cx(css.editor, narrow && css.narrow)} data-testid="editor">
      <SaveBar
        store={store}
        state={state}
        findings={findings}
        onReview={review}
        onLayOut={() => layOut(store)}
        onSimulate={() => change({ drawer: "simulate" })}
        onCopy={() => setSheet({ kind: "copy" })}
      />
      <PalettePane
        store={store}
        state={state}
        loadouts={others}
        folded={narrow}
        onFold={fold}
        input={palette}
        onLink={(behind) => setSheet({ kind: "link", behind })}
      />
      <section className={cx(css.canvas, graph.graph)} aria-label="Graph" data-testid="canvas">
        {drawn ? (
          <Canvas
            store={store}
            state={state}
            drawn={drawn}
            findings={findings}
            explored={explored.rows}
            found={found}
            walked={walked}
            view={view}
            onDrag={setDragged}
            onAsk={(where) => setSheet({ kind: "add", where })}
            onLink={(behind) => setSheet({ kind: "link", behind })}
          />
        ) : null}
        {state.selection.length > 1 && !sheet && !state.readOnly ? (
          <div className={css.many} role="group" aria-label="Selection">
            <span className="sm">{state.selection.length} selected</span>
            <Button
              look="small"
              data-testid="make-loop-button"
              onClick={() => {
                store.patch({ notice: null });
                setSheet({ kind: "loop", ids: store.selectedSockets() });
              }}
            >
              Make a loop
            </Button>
            <Button look="small" onClick={() => removeSelected(store)}>
              Delete
            </Button>
          </div>
        ) : null}
        {loadout && loadout.sockets.length === 0 ? (
          <p className={css.blank} data-testid="blank">
            The loadout is empty. Press <kbd>A</kbd>, or drag a materia from the left.
          </p>
        ) : null}
        {sheet?.kind === "loop" ? <LoopStrip store={store} state={state} ids={sheet.ids} onClose={close} /> : null}
        {words === null ? null : (
          <label className={css.finder}>
            <span className="sr">Find in the loadout</span>
            <Input
              ref={finder}
              data-testid="find"
              placeholder="Find in ids, names and prompts"
              value={words.trim() === "" ? "" : words}
              onChange={(event) => change({ find: event.target.value || " " })}
              onKeyDown={(event) => {
                if (event.key === "Escape") change({ find: null });
                if (event.key === "Enter" && found) {
                  const first = [...found][0];
                  if (first) store.select([{ kind: "socket", id: first }]);
                }
              }}
            />
            <span className="faint sm" role="status" data-testid="found">
              {found ? `${found.size} of ${loadout?.sockets.length ?? 0}` : ""}
            </span>
            <IconButton icon={X} label="Close" onClick={() => change({ find: null })} />
          </label>
        )}
        {notice ? (
          <div className={css.toast} role="status" data-testid="notice">
            <span>{notice.text}</span>
            {notice.undo ? (
              <Button look="small" testid="toast-undo" onClick={() => store.undo()}>
                Undo
              </Button>
            ) : null}
            <IconButton icon={X} label="Close" onClick={() => store.patch({ notice: null })} />
          </div>
        ) : null}
      </section>
      <Inspector store={store} state={state} findings={findings} />
      <Drawer
        store={store}
        state={state}
        findings={findings}
        tab={tab}
        onTab={(id) => change({ drawer: id })}
        onWalk={setWalk}
        play={play}
        onPlay={(next) => {
          setPlay(next);
          if (next) change({ drawer: "simulate" });
        }}
        explored={explored}
      />
      {sheet?.kind === "add" ? <AddSheet store={store} state={state} where={sheet.where} onClose={close} /> : null}
      {sheet?.kind === "connect" ? (
        <ConnectSheet store={store} state={state} from={sheet.from} onClose={close} />
      ) : null}
      {sheet?.kind === "rename" ? <RenameSheet store={store} state={state} id={sheet.id} onClose={close} /> : null}
      {sheet?.kind === "link" ? <LinkSheet state={state} behind={sheet.behind} onClose={close} /> : null}
      {sheet?.kind === "copy" ? <CopySheet state={state} onClose={close} /> : null}
      {sheet?.kind === "review" ? <Review store={store} state={state} onClose={close} /> : null}
      {conflict ? (
        <MergeView store={store} conflict={conflict} key={`${conflict.mark}${conflict.yours.length}`} />
      ) : null}
    </div>
  );
}

/** What is selected is in the address, and its card has the focus unless a person is elsewhere. */
function useSelection(selection: Selected[], change: (changes: Record<string, string | null>) => void): void {
  const last = selection.at(-1);
  const key = last && last.kind !== "loadout" ? keyOf(last) : null;
  const first = useRef(true);
  useEffect(() => {
    change({ sel: key });
    const now = document.activeElement;
    const free = !now || now === document.body || now.closest(".react-flow");
    if (last?.kind === "socket" && free && !first.current) focusLater(last.id);
    first.current = false;
  }, [key, last, change]);
}
/** A card that was just added is drawn a moment later. */
function focusLater(id: string, tries = 20): void {
  const card = document.querySelector(`.${css.editor} [data-socket="${CSS.escape(id)}"]`);
  if (card) focusCard(id);
  else if (tries > 0) setTimeout(() => focusLater(id, tries - 1), 30);
}
