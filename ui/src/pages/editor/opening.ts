// Opens a loadout or a materia: the file that has it, and the draft that was kept of it.
import { listDrafts, NO_FILE, readConfig, readDraft } from "../../api/editor";
import type { ConfigFile, Draft } from "../../api/generated";
import { cleanMerge, difference, EMPTY, fits, type History, object } from "../../document";
import { draftId, type EditorState, readText, type Subject } from "./state";
import { withTab } from "./tab";

const PROJECT_FILE = "materia.json";

export interface Place {
  layer: string;
  file: string;
  text: string;
  hash: string;
  readOnly: boolean;
  exists: boolean;
}

const fieldOf = (subject: Subject) => (subject.kind === "loadout" ? "loadouts" : "materia");
export const hasSubject = (text: string, subject: Subject): boolean =>
  Object.hasOwn(object(object(readText(text).value)[fieldOf(subject)]), subject.name);

/** The file that has it, in the strongest layer; else the project's own file, where it would be written. */
export function placeOf(files: ConfigFile[], subject: Subject): Place {
  const found = files.findLast((one) => hasSubject(one.text, subject));
  if (found) return { ...found, readOnly: !found.editable, exists: true };
  return { ...projectFile(files), exists: false };
}

export function projectFile(files: ConfigFile[]): Omit<Place, "exists"> {
  const own = files.findLast((one) => one.layer === "project" && one.editable);
  return own
    ? { ...own, readOnly: false }
    : { layer: "project", file: PROJECT_FILE, text: "", hash: NO_FILE, readOnly: false };
}

export interface Opened {
  state: EditorState;
  exists: boolean;
}

export async function openSubject(project: string, subject: Subject, signal: AbortSignal): Promise<Opened> {
  const id = draftId(subject);
  const [{ items: files }, { items: drafts }] = await Promise.all([
    readConfig(project, signal),
    listDrafts(project, signal),
  ]);
  const draft = drafts.some((one) => one.id === id) ? await readDraft(project, id, signal) : null;
  let place = placeOf(files, subject);
  // A draft of something new knows where it would be written.
  if (draft && !place.exists) {
    const own = files.find((one) => one.layer === draft.layer && one.file === draft.file);
    if (own) place = { ...own, readOnly: !own.editable, exists: false };
  }
  const state: EditorState = {
    project,
    subject,
    layer: place.layer,
    file: place.file,
    files,
    base: place.text,
    hash: place.hash,
    text: place.text,
    history: EMPTY,
    value: undefined,
    fault: null,
    readOnly: place.readOnly,
    loadout: null,
    materia: new Map(),
    findings: [],
    checked: null,
    selection: [],
    kept: { state: "none", version: 0, at: null, why: "" },
    conflict: null,
    notice: null,
    sheet: null,
    walk: null,
    play: null,
  };
  const usable = draft && !place.readOnly && draft.layer === place.layer && draft.file === place.file;
  const opened = withTab(usable ? withDraft(state, draft) : state);
  return { state: opened, exists: place.exists || hasSubject(opened.text, subject) };
}

function withDraft(state: EditorState, draft: Draft): EditorState {
  const kept = { state: "kept" as const, version: draft.version, at: draft.updatedAt, why: "" };
  const history = draft.history as unknown as (History & { base?: string }) | null;
  const past = fits(draft.text, history) ? { past: history.past, future: history.future } : EMPTY;
  if (draft.base === state.hash) return { ...state, text: draft.text, history: past, kept };
  // The file was changed since the draft began.
  const base = history?.base ?? state.base;
  const merged = cleanMerge(base, draft.text, state.base);
  if (merged === null)
    return {
      ...state,
      text: draft.text,
      history: past,
      kept,
      conflict: { of: "file", base, yours: draft.text, theirs: state.base, mark: state.hash },
    };
  const splice = difference(state.base, merged);
  return {
    ...state,
    text: merged,
    history: splice ? { past: [{ label: "your draft", splices: [splice] }], future: [] } : EMPTY,
    kept,
    notice: splice
      ? { text: "The file changed after this draft was started. Your changes were merged into it.", undo: false }
      : null,
  };
}
