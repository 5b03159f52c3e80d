// The editor around one open document: bar, palette, canvas, inspector and drawer.
import { X } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { gridOf, type Spot } from "../../document";
import { useDrawing } from "../../graph/elk";
import graph from "../../graph/graph.module.css";
import { EDITOR } from "../../graph/layout";
import { withSpots } from "../../graph/pinned";
import { Button, IconButton } from "../../shared/Button";
import { cx } from "../../shared/cx";
import { Input } from "../../shared/Field";
import { keep, kept } from "../../shared/kept";
import { later } from "../../shared/later";
import { changeSearch, useSearch } from "../../shared/router";
import { removeSelected } from "./acts";
import { Canvas, type View } from "./Canvas";
import { CopySheet } from "./CopySheet";
import { Drawer, type DrawerTab } from "./Drawer";
import { useExplored } from "./Explore";
import css from "./editor.module.css";
import { Inspector } from "./Inspector";
import { LinkSheet } from "./LinkSheet";
import { LoopStrip } from "./LoopStrip";
import { PalettePane } from "./PalettePane";
import { Review } from "./Review";
import { SaveBar, saveReason } from "./SaveBar";
import { AddSheet, ConnectSheet, RenameSheet } from "./Sheets";
import { type EditorStore, useCheck, useEditor } from "./store";
import { focusCard, useKeys } from "./useKeys";
import { keyOf, matches, sizesFor } from "./views";

const NOTICE_MS = 8000;

const MergeView = later(async () => (await import("./MergeView")).MergeView);

export function Workbench({ store }: { store: EditorStore }) {
  const parts = ["loadout", "materia", "text", "base", "subject", "sheet", "conflict"] as const;
  const { loadout, materia, text, base, subject, sheet, conflict } = useEditor(store, ...parts);
  useCheck(store);
  const [search, change] = useSearch();
  const [dragged, setDragged] = useState<Record<string, Spot> | null>(null);
  const view = useRef<View | null>(null);
  const finder = useRef<HTMLInputElement>(null);
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
  const found = useMemo(
    () => (words === null ? null : matches({ loadout, materia }, words)),
    [loadout, materia, words],
  );
  const explored = useExplored(store, tab === "explore");
  const close = useCallback(() => {
    store.patch({ sheet: null });
    change({ copy: null });
  }, [store, change]);
  useKeys({
    store,
    drawn,
    view,
    onReview: () => {
      const reason = saveReason(store.state);
      if (store.state.readOnly) store.patch({ sheet: { kind: "copy" } });
      else if (text === base) store.say("Everything is saved.");
      else if (reason) store.say(`Not saved: ${reason}.`);
      else store.patch({ sheet: { kind: "review" } });
    },
    onFind: () => {
      change({ find: words ?? " " });
      requestAnimationFrame(() => finder.current?.select());
    },
  });
  useEffect(() => {
    document.title = `${text === base ? "" : "• "}${subject.name} · Materia`;
  }, [text, base, subject.name]);

  const [narrow, setNarrow] = useState(
    () => (kept("materia.palette") ?? (innerWidth < 1100 ? "closed" : "open")) === "closed",
  );
  const fold = useCallback(() => {
    keep("materia.palette", narrow ? "open" : "closed");
    setNarrow(!narrow);
  }, [narrow]);

  return (
    <div className={cx(css.editor, narrow && css.narrow)} data-testid="editor">
      <SaveBar store={store} />
      <PalettePane store={store} folded={narrow} onFold={fold} />
      <section className={cx(css.canvas, graph.graph)} aria-label="Graph" data-testid="canvas">
        {drawn ? (
          <Canvas store={store} drawn={drawn} explored={explored.rows} found={found} view={view} onDrag={setDragged} />
        ) : null}
        <Chosen store={store} />
        {loadout && loadout.sockets.length === 0 ? (
          <p className={css.blank} data-testid="blank">
            The loadout is empty. Press <kbd>A</kbd>, or drag a materia from the left.
          </p>
        ) : null}
        {sheet?.kind === "loop" ? <LoopStrip store={store} ids={sheet.ids} onClose={close} /> : null}
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
        <Notice store={store} />
      </section>
      <Inspector store={store} />
      <Drawer store={store} tab={tab} />
      {sheet?.kind === "add" ? <AddSheet store={store} where={sheet.where} onClose={close} /> : null}
      {sheet?.kind === "connect" ? <ConnectSheet store={store} from={sheet.from} onClose={close} /> : null}
      {sheet?.kind === "rename" ? <RenameSheet store={store} id={sheet.id} onClose={close} /> : null}
      {sheet?.kind === "link" ? <LinkSheet store={store} behind={sheet.behind} onClose={close} /> : null}
      {sheet?.kind === "copy" ? <CopySheet store={store} onClose={close} /> : null}
      {sheet?.kind === "review" ? <Review store={store} onClose={close} /> : null}
      {conflict ? (
        <MergeView store={store} conflict={conflict} key={`${conflict.mark}${conflict.yours.length}`} />
      ) : null}
    </div>
  );
}

function Notice({ store }: { store: EditorStore }) {
  const { notice } = useEditor(store, "notice");
  useEffect(() => {
    if (!notice || notice.undo) return;
    const timer = setTimeout(() => store.patch({ notice: null }), NOTICE_MS);
    return () => clearTimeout(timer);
  }, [store, notice]);
  if (!notice) return null;
  return (
    <div className={css.toast} role="status" data-testid="notice">
      <span>{notice.text}</span>
      {notice.undo ? (
        <Button look="small" testid="toast-undo" onClick={() => store.undo()}>
          Undo
        </Button>
      ) : null}
      <IconButton icon={X} label="Close" onClick={() => store.patch({ notice: null })} />
    </div>
  );
}

/** The selection: in the address, with the focus on its card unless a person is elsewhere, and a bar for several. */
function Chosen({ store }: { store: EditorStore }) {
  const { selection, sheet, readOnly } = useEditor(store, "selection", "sheet", "readOnly");
  const last = selection.at(-1);
  const key = last && last.kind !== "loadout" ? keyOf(last) : null;
  const first = useRef(true);
  useEffect(() => {
    changeSearch({ sel: key });
    const now = document.activeElement;
    const free = !now || now === document.body || now.closest(".react-flow");
    if (last?.kind === "socket" && free && !first.current) focusLater(last.id);
    first.current = false;
  }, [key, last]);
  if (selection.length < 2 || sheet || readOnly) return null;
  return (
    <div className={css.many} role="group" aria-label="Selection">
      <span className="sm">{selection.length} selected</span>
      <Button
        look="small"
        data-testid="make-loop-button"
        onClick={() => store.patch({ notice: null, sheet: { kind: "loop", ids: store.selectedSockets() } })}
      >
        Make a loop
      </Button>
      <Button look="small" onClick={() => removeSelected(store)}>
        Delete
      </Button>
    </div>
  );
}
/** A card that was just added is drawn a moment later. */
function focusLater(id: string, tries = 20): void {
  const card = document.querySelector(`.${css.editor} [data-socket="${CSS.escape(id)}"]`);
  if (card) focusCard(id);
  else if (tries > 0) setTimeout(() => focusLater(id, tries - 1), 30);
}
