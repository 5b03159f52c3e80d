// What the server does not have yet, kept in this tab: a reload at any moment, or without a server, loses nothing.
import { fits, type History } from "../../document";
import { draftId, type EditorState } from "./state";

interface InTab {
  version: number;
  hash: string;
  text: string;
  history: History;
}
const keyOf = (state: EditorState) => `materia.tab.${state.project}.${draftId(state.subject)}`;

export function noteInTab(state: EditorState): void {
  const { text, history, hash, kept } = state;
  try {
    sessionStorage.setItem(keyOf(state), JSON.stringify({ version: kept.version, hash, text, history }));
  } catch {
    // There is no room for it; the server has all but the newest moment.
  }
}

export function forgetInTab(state: EditorState): void {
  try {
    sessionStorage.removeItem(keyOf(state));
  } catch {
    // Nothing was kept then.
  }
}

/** The state with what this tab had last, where it goes on from just what the server has. */
export function withTab(state: EditorState): EditorState {
  try {
    const one = JSON.parse(sessionStorage.getItem(keyOf(state)) ?? "null") as InTab | null;
    if (!one || state.readOnly || state.conflict || one.hash !== state.hash || one.version !== state.kept.version)
      return state;
    if (!fits(one.text, one.history)) return state;
    return { ...state, text: one.text, history: one.history, kept: { ...state.kept, state: "keeping" } };
  } catch {
    return state;
  }
}
