// The document as text: what is typed is the document, and what is wrong stands beside its line.
import { type KeyboardEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Finding } from "../../api/types";
import { type Proposal, pathOf, proposals, rangeOf, shownText } from "../../document";
import { oneLine } from "../../shared/text";
import type { EditorState } from "./state";
import type { EditorStore } from "./store";

const LINE = 18;
const LEFT = 52;

interface Open {
  list: Proposal[];
  at: number;
  top: number;
  left: number;
}

export function JsonPane({ store, state, findings }: { store: EditorStore; state: EditorState; findings: Finding[] }) {
  const { fault, selection, loadout } = state;
  const text = useMemo(() => shownText(state.text), [state.text]);
  const box = useRef<HTMLDivElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const [open, setOpen] = useState<Open | null>(null);
  const [line, setLine] = useState(0);
  const caret = useRef<number | null>(null);
  const lines = useMemo(() => text.split("\n"), [text]);
  const widest = useMemo(() => lines.reduce((most, one) => Math.max(most, one.length), 60), [lines]);
  const notes = useMemo(() => {
    const by = new Map<number, { text: string; error: boolean }>();
    for (const finding of findings)
      if (finding.line && finding.severity !== "info" && !by.has(finding.line))
        by.set(finding.line, { text: finding.message, error: finding.severity === "error" });
    if (fault) by.set(fault.line, { text: fault.message, error: true });
    return by;
  }, [findings, fault]);

  // What is selected elsewhere is brought into view, unless the text itself is being edited.
  const picked = selection.at(-1);
  const key = picked ? JSON.stringify(picked) : "";
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another selection scrolls, not each letter
  useEffect(() => {
    if (!picked || !loadout || document.activeElement === area.current) return;
    const range = rangeOf(text, pathOf(loadout, picked));
    if (!range) return;
    setLine(range.line);
    const scroll = box.current;
    if (scroll) scroll.scrollTop = Math.max(0, (range.line - 3) * LINE);
  }, [key]);
  useLayoutEffect(() => {
    if (caret.current === null || !area.current) return;
    area.current.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  });

  const where = () => {
    const at = area.current?.selectionStart ?? 0;
    const before = text.slice(0, at).split("\n");
    return { at, line: before.length, column: before.at(-1)?.length ?? 0 };
  };
  const propose = (now: string, at: number, always: boolean) => {
    const typed = /[\w"]$/.test(now.slice(Math.max(0, at - 1), at));
    const list = always || typed ? proposals(now, at, { loadout, materia: [...state.materia.keys()] }).slice(0, 8) : [];
    const before = now.slice(0, at).split("\n");
    const same = list.length === 1 && list[0] && now.slice(list[0].from, list[0].to) === list[0].insert;
    setOpen(
      list.length === 0 || same
        ? null
        : { list, at: 0, top: before.length * LINE + 4, left: LEFT + (before.at(-1)?.length ?? 0) * charWidth() },
    );
  };
  const take = (proposal: Proposal | undefined) => {
    if (!proposal) return;
    const now = text.slice(0, proposal.from) + proposal.insert + text.slice(proposal.to);
    const inside = /(""|\[\]|\{\})$/.test(proposal.insert) ? 1 : 0;
    caret.current = proposal.from + proposal.insert.length - inside;
    setOpen(null);
    store.type(now);
  };
  const onKey = (event: KeyboardEvent) => {
    const { key: name, ctrlKey, metaKey, shiftKey } = event;
    if (open && (name === "ArrowDown" || name === "ArrowUp")) {
      const count = open.list.length;
      setOpen({ ...open, at: (open.at + (name === "ArrowDown" ? 1 : count - 1)) % count });
    } else if (open && (name === "Enter" || name === "Tab")) take(open.list[open.at]);
    else if (open && name === "Escape") {
      event.stopPropagation();
      setOpen(null);
    } else if (ctrlKey && name === " ") propose(text, where().at, true);
    else if ((ctrlKey || metaKey) && name.toLowerCase() === "z") shiftKey ? store.redo() : store.undo();
    else if ((ctrlKey || metaKey) && name.toLowerCase() === "y") store.redo();
    else if (name === "Enter") {
      const at = where().at;
      const indent = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", at - 1) + 1))?.[0] ?? "";
      const more = /[{[]\s*$/.test(text.slice(Math.max(0, at - 4), at)) ? "  " : "";
      caret.current = at + 1 + indent.length + more.length;
      store.type(`${text.slice(0, at)}\n${indent}${more}${text.slice(area.current?.selectionEnd ?? at)}`);
    } else return;
    event.preventDefault();
  };
  return (
    <div className="json" ref={box} data-testid="json">
      <div className="sheetlet" style={{ height: (lines.length + 1) * LINE, minWidth: LEFT + widest * 7.1 + 260 }}>
        <div className="gutter" aria-hidden="true">
          {lines.map((_, index) => {
            const note = notes.get(index + 1);
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
              <i key={index} className={note ? (note.error ? "bad" : "warn") : index + 1 === line ? "cur" : ""}>
                {index + 1}
              </i>
            );
          })}
        </div>
        {line > 0 ? <div className="curline" style={{ top: (line - 1) * LINE }} /> : null}
        <textarea
          ref={area}
          value={text}
          readOnly={state.readOnly}
          spellCheck={false}
          wrap="off"
          aria-label={`Text of ${state.file}`}
          data-testid="json-text"
          onChange={(event) => {
            store.type(event.target.value);
            propose(event.target.value, event.target.selectionStart, false);
          }}
          onKeyDown={onKey}
          onClick={() => setOpen(null)}
          onSelect={() => setLine(where().line)}
          onBlur={() => setOpen(null)}
        />
        {[...notes].map(([number, note]) => (
          <span
            key={number}
            className={`note st ${note.error ? "failed" : "needs_you"}`}
            data-testid={`json-note-${number}`}
            style={{
              top: (number - 1) * LINE,
              left: LEFT + 14 + (lines[number - 1]?.replaceAll("\t", "  ").length ?? 0) * charWidth(),
            }}
          >
            {oneLine(note.text, 90)}
          </span>
        ))}
        {open ? (
          <div className="complete" role="listbox" aria-label="Suggestions" style={{ top: open.top, left: open.left }}>
            {open.list.map((one, index) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the text choose
              <div
                key={one.label}
                role="option"
                aria-selected={index === open.at}
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => take(one)}
              >
                <span className="mono">{one.label}</span>
                <span className="faint cut">{oneLine(one.detail, 100)}</span>
              </div>
            ))}
          </div>
        ) : null}
      </div>
    </div>
  );
}

let measured = 0;
/** How wide a letter of the text is: all are alike. */
function charWidth(): number {
  if (measured) return measured;
  const context = document.createElement("canvas").getContext("2d");
  const look = document.querySelector(".json textarea");
  if (!context || !look) return 6.9;
  const { fontSize, fontFamily } = getComputedStyle(look);
  context.font = `${fontSize} ${fontFamily}`;
  measured = context.measureText("0".repeat(100)).width / 100;
  return measured;
}
