// The document as text: what is typed is the document, and what is wrong stands beside its line.
import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from "@codemirror/autocomplete";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { type EditorState as CodeState, type Range, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, hoverTooltip, keymap, WidgetType } from "@codemirror/view";
import { getLocation } from "jsonc-parser";
import { useEffect, useState } from "react";
import type { Finding } from "../../api/generated";
import { describe, type Names, pathOf, proposals, rangeOf, type Selected } from "../../document";
import { Code } from "../../shared/code/Code";
import { cx } from "../../shared/cx";
import { oneLine } from "../../shared/text";
import css from "./editor.module.css";
import type { EditorState } from "./state";
import { type EditorStore, useEditor } from "./store";

export function JsonPane({ store }: { store: EditorStore }) {
  const { text, file, readOnly } = useEditor(store, "text", "file", "readOnly");
  const [view, setView] = useState<EditorView | null>(null);
  const names = () => ({ loadout: store.state.loadout, materia: [...store.state.materia.keys()] });
  const [extensions] = useState(() => [
    autocompletion({ override: [(context) => proposed(context, names())], icons: false, interactionDelay: 0 }),
    keymap.of([...completionKeymap, ...lintKeymap]),
    hoverTooltip((shown, at) => described(shown.state, at)),
    lintGutter(),
    notes,
  ]);
  return (
    <>
      <Code
        className={css.json}
        language="json"
        label={`Text of ${file}`}
        testid="json-text"
        text={text}
        readOnly={readOnly}
        onType={(typed) => store.type(typed)}
        onUndo={() => store.undo()}
        onRedo={() => store.redo()}
        extensions={extensions}
        onView={setView}
      />
      {view ? <Shown store={store} view={view} /> : null}
    </>
  );
}

/** What the text shows of the rest of the editor: findings beside their lines, and the place of what is selected. */
function Shown({ store, view }: { store: EditorStore; view: EditorView }) {
  const { findings, fault, selection } = useEditor(store, "findings", "fault", "selection");
  useEffect(() => {
    const found = diagnostics(view.state, findings, fault);
    view.dispatch(setDiagnostics(view.state, found), { effects: setNotes.of(found) });
  }, [view, findings, fault]);

  // A thing that is selected elsewhere is brought into view, unless the text itself is being edited.
  const key = JSON.stringify(selection.at(-1) ?? null);
  useEffect(() => {
    const picked = JSON.parse(key) as Selected | null;
    const { loadout } = store.state;
    if (!picked || !loadout || view.hasFocus) return;
    const range = rangeOf(view.state.doc.toString(), pathOf(loadout, picked));
    if (!range) return;
    const effects = EditorView.scrollIntoView(range.offset, { y: "start", yMargin: 54 });
    view.dispatch({ selection: { anchor: range.offset }, effects });
  }, [store, view, key]);
  return null;
}

function proposed(context: CompletionContext, names: Names): CompletionResult | null {
  const text = context.state.doc.toString();
  if (!context.explicit && !/[\w"]$/.test(text.slice(Math.max(0, context.pos - 1), context.pos))) return null;
  const list = proposals(text, context.pos, names);
  const [first] = list;
  if (!first || (list.length === 1 && text.slice(first.from, first.to) === first.insert)) return null;
  return {
    from: first.from,
    filter: false,
    options: list.map((one) => ({
      label: one.label,
      detail: oneLine(one.detail, 100),
      apply: (view: EditorView) => {
        const inside = /(""|\[\]|\{\})$/.test(one.insert) ? 1 : 0;
        view.dispatch({
          changes: { from: one.from, to: one.to, insert: one.insert },
          selection: { anchor: one.from + one.insert.length - inside },
          userEvent: "input.complete",
        });
      },
    })),
  };
}

/** The words of the schema about the field below the pointer. */
function described(state: CodeState, at: number) {
  const { path, previousNode: node } = getLocation(state.doc.toString(), at);
  const words = describe(path);
  if (!words || !node || at < node.offset || at > node.offset + node.length) return null;
  const create = () => {
    const dom = document.createElement("div");
    dom.className = "cm-described";
    dom.textContent = words;
    return { dom };
  };
  return { pos: node.offset, end: node.offset + node.length, above: true, create };
}

/** One for each line: the first finding about it. */
function diagnostics(state: CodeState, findings: Finding[], fault: EditorState["fault"]): Diagnostic[] {
  const by = new Map<number, { message: string; severity: "error" | "warning" }>();
  for (const { line, severity, message } of findings)
    if (line && severity !== "info" && !by.has(line))
      by.set(line, { message, severity: severity === "error" ? "error" : "warning" });
  if (fault) by.set(fault.line, { message: fault.message, severity: "error" });
  return [...by]
    .filter(([number]) => number <= state.doc.lines)
    .sort(([a], [b]) => a - b)
    .map(([number, found]) => {
      const line = state.doc.line(number);
      return { ...found, from: line.from + (line.text.length - line.text.trimStart().length), to: line.to };
    });
}

const setNotes = StateEffect.define<Diagnostic[]>();
/** The words of a finding at the end of its line. */
const notes = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(now, transaction) {
    const set = transaction.effects.find((effect) => effect.is(setNotes));
    if (!set) return now.map(transaction.changes);
    const found: Range<Decoration>[] = set.value.map((one: Diagnostic) =>
      Decoration.widget({ widget: new Note(one, transaction.newDoc.lineAt(one.to).number), side: 1 }).range(one.to),
    );
    return Decoration.set(found);
  },
  provide: (field) => EditorView.decorations.from(field),
});

class Note extends WidgetType {
  constructor(
    readonly found: Diagnostic,
    readonly line: number,
  ) {
    super();
  }
  override eq(other: Note): boolean {
    return other.line === this.line && other.found.message === this.found.message;
  }
  toDOM(): HTMLElement {
    const dom = document.createElement("span");
    dom.className = cx(css.note, "st", this.found.severity === "error" ? "failed" : "needs_you");
    dom.dataset.testid = `json-note-${this.line}`;
    dom.textContent = oneLine(this.found.message, 90);
    return dom;
  }
}
