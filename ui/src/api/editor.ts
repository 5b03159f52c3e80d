// What the editor asks the server: files with their hashes, drafts, checks, differences, walks and links.
import { change, get, newKey, post, Refusal, segment } from "./client";
import type { ExploreFinding, ExploreView } from "./generated";
import type { Condition, Finding, Grid, Json, Page, Plan } from "./types";

export interface ConfigFile {
  layer: string;
  file: string;
  text: string;
  hash: string;
  editable: boolean;
}
export interface DraftItem {
  id: string;
  layer: string;
  file: string;
  base: string;
  version: number;
  updatedAt: string;
}
export interface Draft extends DraftItem {
  text: string;
  history: Json;
}
export interface Checked {
  ok: boolean;
  findings: Finding[];
  graph?: Grid | null;
  plan?: Plan | null;
}
export type ChangeKind = "loadout" | "socket" | "edge" | "loop" | "exit" | "materia" | "setting" | "layout";
export interface DocumentChange {
  kind: ChangeKind;
  path: string;
  name: string;
  from?: Json;
  to?: Json;
}
export interface DocumentDiff {
  added: DocumentChange[];
  removed: DocumentChange[];
  changed: DocumentChange[];
}
export type Outcome = "satisfied" | "not_satisfied" | "done" | "fails" | "items";
export interface Choice {
  socket: string;
  outcome: Outcome;
  items?: number | null;
  text?: string | null;
}
export interface WalkStep {
  socket: string;
  materia: string;
  visit: number;
  item?: string | null;
  itemLabel?: string | null;
  /** Absent where the runtime answered the turn itself. */
  outcome?: string | null;
  routes: { edge: string; to: string; exit?: boolean }[];
}
export interface WalkAsk {
  socket: string;
  materia: string;
  visit: number;
  item?: string | null;
  itemLabel?: string | null;
  outcomes: Outcome[];
}
export interface Walk {
  steps: WalkStep[];
  asks: WalkAsk[];
  status: "running" | "waiting" | "completed" | "failed";
  message?: string | null;
  script?: Json;
  case?: Json;
  findings?: Finding[];
}
export interface Linked {
  ok: boolean;
  findings: Finding[];
  graph?: Grid | null;
  loadout?: { [key: string]: Json } | null;
}
export interface Tried {
  exitCode: number | null;
  stdout: string;
  stderr: string;
  output: Json;
  durationMs: number;
  error?: string | null;
}

/** The hash of a file that is yet to come: that of no bytes. */
export const NO_FILE = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";

export const readConfig = (project: string) =>
  get<{ items: ConfigFile[]; findings: Finding[] }>("/config", { project });

export const saveConfig = (project: string, layer: string, file: string, text: string, hash: string) =>
  change<{ hash: string }>("PUT", `/config/${segment(layer)}/${segment(file)}`, { project }, hash, { text });

export const check = (project: string, files: Record<string, string>, loadout: string | null) =>
  post<Checked>("/check", { project, files, ...(loadout ? { loadout } : {}) });

export const listDrafts = (project: string) => get<Page<DraftItem>>("/drafts", { project });

export async function readDraft(project: string, id: string): Promise<Draft | null> {
  try {
    return await get<Draft>(`/drafts/${segment(id)}`, { project });
  } catch (error) {
    if (error instanceof Refusal && error.problem.status === 404) return null;
    throw error;
  }
}

export const keepDraft = (project: string, draft: Omit<Draft, "updatedAt">) => {
  const { id, version, ...body } = draft;
  return change<{ version: number; updatedAt: string }>(
    "PUT",
    `/drafts/${segment(id)}`,
    { project },
    String(version),
    body,
  );
};
export const dropDraft = (project: string, id: string, version: number) =>
  change<{ version: number }>("DELETE", `/drafts/${segment(id)}`, { project }, String(version));

export const diff = (from: string, to: string) => post<DocumentDiff>("/diff", { from, to });

export const simulate = (
  project: string,
  files: Record<string, string>,
  loadout: string,
  request: string,
  choices: Choice[],
) => post<Walk>("/simulate", { project, files, loadout, request, choices });

/** Every history of a loadout as it stands; the server stops when the request is given up. */
export const explore = (project: string, files: Record<string, string>, loadout: string, signal: AbortSignal) =>
  post<ExploreView>("/explore", { project, files, loadout }, newKey(), undefined, signal);

export const castChoices = (project: string, cast: string) =>
  get<{ loadout: string; choices: Choice[] }>(`/casts/${segment(cast)}/choices`, { project });

export const link = (project: string, files: Record<string, string>, parts: string[]) =>
  post<Linked>("/link", { project, files, parts });

export const tryUtility = (project: string, materia: string, input: Json, consent: string | null) =>
  post<Tried>("/utilities/try", { project, materia, input, ...(consent ? { consent } : {}) });

export type { Condition, ExploreFinding, ExploreView };
