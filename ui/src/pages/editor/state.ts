// What the editor holds. The text is the truth; everything else is worked out from it or is what a person looks at.
import { getNodeValue } from "jsonc-parser";
import type { Choice, ConfigFile, Finding, Json, Walk } from "../../api/generated";
import {
  type History,
  type Loadout,
  lineAt,
  type MateriaInfo,
  materiaInfo,
  object,
  parse,
  readLoadout,
  type Selected,
} from "../../document";

/** What is edited: a loadout or a materia of a file. */
export interface Subject {
  kind: "loadout" | "materia";
  name: string;
}
export interface Kept {
  state: "none" | "keeping" | "kept" | "offline" | "held";
  version: number;
  at: string | null;
  /** Why nothing is kept just now. */
  why: string;
}
export interface Conflict {
  /** Who else changed it: the file on the disk, or the draft in another tab. */
  of: "file" | "draft";
  base: string;
  yours: string;
  theirs: string;
  /** The hash of their file, or the version of their draft. */
  mark: string;
}
/** Where something new goes. */
export interface Where {
  /** Behind this socket. */
  after?: string | null;
  /** Between the two ends of this edge. */
  edge?: string | null;
  /** As the target of a new edge of this socket. */
  from?: string | null;
}
/** A question that is open over the editor. */
export type Sheet =
  | { kind: "add"; where: Where }
  | { kind: "connect"; from: string }
  | { kind: "rename"; id: string }
  | { kind: "loop"; ids: string[] }
  | { kind: "link"; behind: string }
  | { kind: "review" }
  | { kind: "copy" };
/** A history that Simulate plays step by step. */
export interface Play {
  message: string;
  choices: Choice[];
}
export interface EditorState {
  project: string;
  subject: Subject;
  layer: string;
  file: string;
  files: ConfigFile[];
  /** The file as it was read, and its hash. */
  base: string;
  hash: string;
  text: string;
  history: History;
  /** What the newest sound text says. */
  value: Json | undefined;
  fault: { message: string; line: number } | null;
  readOnly: boolean;
  loadout: Loadout | null;
  materia: Map<string, MateriaInfo>;
  /** Those that concern what is open, worst first. */
  findings: Finding[];
  /** The text that the findings are about. */
  checked: string | null;
  selection: Selected[];
  kept: Kept;
  conflict: Conflict | null;
  notice: { text: string; undo: boolean } | null;
  sheet: Sheet | null;
  /** The walk of Simulate. */
  walk: Walk | null;
  play: Play | null;
}

const words: Record<number, string> = {
  1: "there is a character that JSON does not have",
  2: "a number is not written as JSON writes numbers",
  3: "a name in quotes is missing",
  4: "a value is missing",
  5: "a colon is missing",
  6: "a comma is missing",
  7: "a closing brace is missing",
  8: "a closing bracket is missing",
  9: "something follows the end of the document",
  10: "a comment is not allowed here",
  11: "a comment has no end",
  12: "a text has no closing quote",
  16: "a text has a character that must be escaped",
};

/** Reads a text: what it says, or where it is broken. */
export function readText(text: string): { value: Json | undefined; fault: EditorState["fault"] } {
  if (text.trim() === "") return { value: {}, fault: null };
  const { root, errors } = parse(text);
  const first = errors[0];
  if (first || !root)
    return {
      value: undefined,
      fault: {
        message: words[first?.error ?? 4] ?? "this is not valid JSON",
        line: lineAt(text, first?.offset ?? 0),
      },
    };
  const value = getNodeValue(root) as Json;
  return root.type === "object"
    ? { value, fault: null }
    : { value, fault: { message: "the document is not a JSON object", line: 1 } };
}

const read = new WeakMap<ConfigFile, Json | undefined>();
/** What a stored file says: it is read once. */
export function storedValue(file: ConfigFile): Json | undefined {
  if (!read.has(file)) read.set(file, readText(file.text).value);
  return read.get(file);
}

/** All materia by name: those of stronger layers replace weaker ones, and the text under way counts as saved. */
export function materiaOf(
  files: ConfigFile[],
  file: string,
  layer: string,
  value: Json | undefined,
): Map<string, MateriaInfo> {
  const found = new Map<string, MateriaInfo>();
  const add = (one: { layer: string; file: string }, document: Json | undefined) => {
    for (const [name, materia] of Object.entries(object(object(document).materia)))
      found.set(name, materiaInfo(name, one.layer, one.file, object(materia)));
  };
  let mine = false;
  for (const one of files) {
    const own = one.file === file && one.layer === layer;
    mine ||= own;
    add(one, own ? value : storedValue(one));
  }
  if (!mine) add({ layer, file }, value);
  return found;
}

export function worked(state: EditorState): EditorState {
  const { value, fault } = readText(state.text);
  if (fault) return { ...state, fault };
  const loadout = state.subject.kind === "loadout" ? readLoadout(value, state.subject.name) : null;
  const materia = materiaOf(state.files, state.file, state.layer, value);
  const there = (one: Selected) =>
    one.kind === "loadout" ||
    (one.kind === "socket" && loadout?.sockets.some((socket) => socket.id === one.id)) ||
    (one.kind === "loop" && loadout?.loops.some((loop) => loop.id === one.id)) ||
    (one.kind === "edge" &&
      (loadout?.sockets.some((socket) => socket.edges.some((edge) => edge.id === one.id)) ||
        loadout?.loops.some((loop) => loop.exits.some((exit) => `loop-exit:${loop.id}:${exit.id}` === one.id))));
  return { ...state, value, fault: null, loadout, materia, selection: state.selection.filter(there) };
}

/** A name for a draft: what may be in it is less than what may be in a name. */
export function draftId(subject: Subject): string {
  let sum = 2166136261;
  for (const char of subject.name) sum = Math.imul(sum ^ (char.codePointAt(0) ?? 0), 16777619) >>> 0;
  const plain = subject.name.replace(/[^A-Za-z0-9._-]/g, "_").slice(0, 40);
  return `${subject.kind}.${plain}.${sum.toString(16).padStart(8, "0")}`;
}
