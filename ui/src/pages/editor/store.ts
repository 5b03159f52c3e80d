// The editor's one store: edits go through it, are noted for undo, kept on the server and checked.
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { createStore, type StoreApi, useStore } from "zustand";
import { useShallow } from "zustand/react/shallow";
import { check } from "../../api/editor";
import {
  type Change,
  difference,
  noted,
  redone,
  type Selected,
  socketParams,
  typedInto,
  undone,
  Writer,
} from "../../document";
import { pause } from "../../shared/ask";
import { Keeper } from "./keeper";
import { type EditorState, worked } from "./state";
import { findingsOf } from "./views";

const CHECK_AFTER_MS = 60;
const TYPING_PAUSE_MS = 1200;

export class EditorStore {
  readonly held: StoreApi<EditorState>;
  private readonly keeper: Keeper;
  private typedAt = 0;
  private typings = 0;

  constructor(state: EditorState) {
    this.held = createStore(() => worked(state));
    this.keeper = new Keeper(this);
  }

  get state(): EditorState {
    return this.held.getState();
  }
  patch(part: Partial<EditorState>): void {
    this.held.setState(part);
  }

  close(): void {
    this.keeper.close();
  }

  /** Does one thing to the document. Answers with what `act` answers, or nothing where it cannot be done now. */
  edit<T>(label: string, act: (writer: Writer) => T, mark?: string): T | null {
    const { text, fault, readOnly } = this.state;
    if (readOnly) {
      this.say(`This ${this.state.subject.kind} is shipped. Make a copy to change it.`);
      return null;
    }
    if (fault) {
      this.say(`Line ${fault.line}: ${fault.message}. Fix the text first.`);
      return null;
    }
    const writer = new Writer(text);
    const result = act(writer);
    if (writer.text !== text)
      this.write(writer.text, { label, splices: writer.splices, ...(mark ? { mark: this.withoutPause(mark) } : {}) });
    return result;
  }

  /** What is typed without a pause is one change. */
  private withoutPause(mark: string): string {
    const now = Date.now();
    if (now - this.typedAt > TYPING_PAUSE_MS) this.typings += 1;
    this.typedAt = now;
    return `${mark} ${this.typings}`;
  }

  /** What a person typed into the text itself. */
  type(typed: string): void {
    const splice = typedInto(this.state.text, typed);
    if (!splice || this.state.readOnly) return;
    const change = { label: "edit the text", splices: [splice], mark: this.withoutPause("text") };
    this.write(redone(this.state.text, change), change);
  }

  /** Puts another text in the place of this one, as one change. */
  replace(label: string, text: string): void {
    const splice = difference(this.state.text, text);
    if (splice) this.write(text, { label, splices: [splice] });
  }

  private write(text: string, change: Change): void {
    this.change({ text, history: noted(this.state.history, change), notice: null });
  }
  private change(part: Partial<EditorState>): void {
    this.patch(worked({ ...this.state, ...part }));
    this.keeper.soon();
  }

  undo(): void {
    const { past, future } = this.state.history;
    const last = past.at(-1);
    if (last) this.go(undone(this.state.text, last), past.slice(0, -1), [...future, last]);
  }
  redo(): void {
    const { past, future } = this.state.history;
    const next = future.at(-1);
    if (next) this.go(redone(this.state.text, next), [...past, next], future.slice(0, -1));
  }
  private go(text: string, past: Change[], future: Change[]): void {
    this.change({ text, history: { past, future }, notice: null });
  }

  select(selection: Selected[]): void {
    this.patch({ selection });
  }
  selectedSockets(): string[] {
    return this.state.selection.flatMap((one) => (one.kind === "socket" ? [one.id] : []));
  }
  say(text: string, undo = false): void {
    this.patch({ notice: { text, undo } });
  }
  params = (materia: string): string[] => socketParams(this.state.materia.get(materia)?.value);

  keepNow(): Promise<void> {
    return this.keeper.now();
  }
  /** The file is saved: there is no draft of it any more. */
  saved(text: string, hash: string): Promise<void> {
    const { files, layer, file } = this.state;
    const one = { layer, file, text, hash, editable: true };
    const known = files.some((other) => other.layer === layer && other.file === file);
    this.patch({
      base: text,
      hash,
      conflict: null,
      files: known
        ? files.map((other) => (other.layer === layer && other.file === file ? one : other))
        : [...files, one],
    });
    return this.keeper.drop();
  }
  /** Goes on from another base, with a text that has what both changed. */
  settle(text: string, base: string, hash: string, version?: number): void {
    const label = "merge";
    const splice = difference(this.state.text, text);
    const history = splice ? noted(this.state.history, { label, splices: [splice] }) : this.state.history;
    const kept = version === undefined ? this.state.kept : { ...this.state.kept, version };
    this.change({ text, base, hash, history, conflict: null, kept });
  }
}

/** The parts of the state that a component shows: it is drawn again only when one of them changes. */
export function useEditor<K extends keyof EditorState>(store: EditorStore, ...parts: K[]): Pick<EditorState, K> {
  const picked = (state: EditorState): Pick<EditorState, K> =>
    Object.fromEntries(parts.map((part) => [part, state[part]])) as Pick<EditorState, K>;
  return useStore(store.held, useShallow(picked));
}

/** Has the text checked as it is edited. Without the server nothing is known about it; the page says so at its top. */
export function useCheck(store: EditorStore): void {
  const { project, file, text, subject } = useEditor(store, "project", "file", "text", "subject");
  const { data } = useQuery({
    queryKey: ["check", project, file, subject, text],
    queryFn: async ({ signal }) => {
      await pause(CHECK_AFTER_MS, signal);
      const loadout = subject.kind === "loadout" ? subject.name : null;
      const { findings } = await check(project, { [file]: text }, loadout, signal);
      return { findings: findingsOf(findings, file, subject), checked: text };
    },
  });
  useEffect(() => {
    if (data) store.patch(data);
  }, [store, data]);
}
