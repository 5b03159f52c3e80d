// What the editor asks the server: files with their hashes, drafts, checks, differences, walks and links.
import { change, get, newKey, post, Refusal, segment } from "./client";
import type {
  CheckBody,
  Choice,
  Choices,
  ConfigBody,
  DiffBody,
  Difference,
  Draft,
  DraftBody,
  DraftKept,
  Drafts,
  ExploreRequest,
  ExploreView,
  Findings,
  Json,
  LinkBody,
  LinkView,
  SaveBody,
  Saved,
  Tried,
  TryBody,
  Walk,
  WalkBody,
} from "./generated";

/** The hash of a file that is yet to come: that of no bytes. */
export const NO_FILE = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";

export const readConfig = (project: string, signal?: AbortSignal) => get<ConfigBody>("/config", { project }, signal);

export const saveConfig = (project: string, layer: string, file: string, text: string, hash: string) =>
  change<Saved>("PUT", `/config/${segment(layer)}/${segment(file)}`, { project }, hash, { text } satisfies SaveBody);

export const check = (project: string, files: Record<string, string>, loadout: string | null, signal?: AbortSignal) =>
  post<Findings>("/check", { project, files, loadout: loadout || null } satisfies CheckBody, newKey(), {}, signal);

export const listDrafts = (project: string, signal?: AbortSignal) => get<Drafts>("/drafts", { project }, signal);

export async function readDraft(project: string, id: string, signal?: AbortSignal): Promise<Draft | null> {
  try {
    return await get<Draft>(`/drafts/${segment(id)}`, { project }, signal);
  } catch (error) {
    if (error instanceof Refusal && error.problem.status === 404) return null;
    throw error;
  }
}

export const keepDraft = (project: string, draft: Omit<Draft, "updatedAt">) => {
  const { id, version, ...body } = draft;
  return change<DraftKept>("PUT", `/drafts/${segment(id)}`, { project }, String(version), body satisfies DraftBody);
};
export const dropDraft = (project: string, id: string, version: number) =>
  change<{ version: number }>("DELETE", `/drafts/${segment(id)}`, { project }, String(version));

export const diff = (from: string, to: string, signal?: AbortSignal) =>
  post<Difference>("/diff", { from, to } satisfies DiffBody, newKey(), {}, signal);

export const simulate = (
  project: string,
  files: Record<string, string>,
  loadout: string,
  choices: Choice[],
  signal: AbortSignal,
) =>
  post<Walk>("/simulate", { project, files, loadout, request: "", choices } satisfies WalkBody, newKey(), {}, signal);

/** Every history of a loadout as it stands; the server stops when the request is given up. */
export const explore = (project: string, files: Record<string, string>, loadout: string, signal: AbortSignal) =>
  post<ExploreView>("/explore", { project, files, loadout } satisfies ExploreRequest, newKey(), undefined, signal);

export const castChoices = (project: string, cast: string, signal: AbortSignal) =>
  get<Choices>(`/casts/${segment(cast)}/choices`, { project }, signal);

export const link = (project: string, files: Record<string, string>, parts: string[], signal?: AbortSignal) =>
  post<LinkView>("/link", { project, files, parts } satisfies LinkBody, newKey(), {}, signal);

export const tryUtility = (project: string, materia: string, input: Json, consent: string | null) =>
  post<Tried>("/utilities/try", { project, materia, input, consent } satisfies TryBody);
