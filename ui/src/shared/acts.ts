// What a person can do to a cast, and the command line that does the same.
import { newKey, post, segment } from "../api/client";
import type { ActBody, Acted, Budget, DropBody, StartBody, WorkspaceActed } from "../api/generated";

export const PACES = { AUTO: "Auto", INTERACTIVE: "Interactive" };
export const MODES = { PLANNING: "Planning", IMPLEMENTATION: "Implementation" };

/** Acts on a workspace have paths of their own; everything else is a command of the cast, or a fork. */
export type Act = ActBody | { do: "applyWorkspace" } | { do: "dropWorkspace" };

export type Done = Partial<Acted & WorkspaceActed>;

/** Acts on a workspace change no event of the cast, and have paths of their own. */
const OF_WORKSPACE: Record<string, [string, object]> = {
  applyWorkspace: ["apply", {}],
  dropWorkspace: ["drop", { confirm: true } satisfies DropBody],
};

/** Does it. The key belongs to the click: pressing twice sends the same key and acts once. */
export async function perform(castId: string, project: string | null, act: Act, key = newKey()): Promise<Done> {
  const [path, given] = OF_WORKSPACE[act.do] ?? [];
  if (path) return await post<Done>(`/casts/${segment(castId)}/workspace/${path}`, given, key, { project });
  // A fork is no command of its cast, and knows no sender.
  const body = act.do === "fork" ? act : { ...act, actor: "page" };
  return await post<Done>(`/casts/${segment(castId)}/commands`, body, key, { project });
}

type Words = (string | null | undefined)[];
const option = (name: string, value: string | null | undefined): Words => (value ? [name, value] : []);

/** The options for bounds; those that are not set have none. */
const bounds = (limits: Record<string, number | null | undefined>): string[] =>
  Object.entries(limits).flatMap(([name, limit]) => (limit ? [`--max-${name}`, String(limit)] : []));
const budgetWords = ({ maxTurns, maxTokens, maxCost }: Budget) =>
  bounds({ turns: maxTurns, tokens: maxTokens, cost: maxCost });

/** The words of each act around the id of the cast; an act without a line here is a command of its own name. */
const lines: { [D in Act["do"]]?: (act: Extract<Act, { do: D }>) => [name: string, ...rest: Words] } = {
  approve: ({ node, hash }) => ["approve", node, ...option("--hash", hash?.slice(0, 12))],
  deny: ({ node, reason, route }) => ["deny", node, ...option("--reason", reason), route ? "--route" : null],
  say: ({ node, text }) => ["say", node, text],
  trigger: ({ node, message, approve }) => ["trigger", node, message, approve ? "--approve" : null],
  continue: ({ node }) => ["continue", node],
  mode: ({ value }) => ["mode", value],
  globalMode: ({ value }) => ["mode", value],
  budget: ({ budget }) => ["budget", ...budgetWords(budget)],
  nodeBudget: ({ node, budgets: { turns, cost, timeMs } }) => [
    "budget",
    "--node",
    node,
    ...bounds({ turns, cost, "time-ms": timeMs }),
  ],
  fork: ({ at, interactive, castId }) => [
    "fork",
    ...option("--at", at?.toString()),
    interactive ? "--interactive" : null,
    ...option("--cast-id", castId),
  ],
  resume: (act) => ["resume", "putBack" in act && act.putBack ? "--put-back" : null],
  applyWorkspace: () => ["workspace", "--apply"],
  dropWorkspace: () => ["workspace", "--drop"],
  stop: () => ["pause"],
  skip: ({ loop, reason }) => ["skip", loop, ...option("--reason", reason)],
};

export function commandLine(castId: string, act: Act): string[] {
  const line = lines[act.do] as ((act: Act) => [string, ...Words]) | undefined;
  const [name, ...rest] = line?.(act) ?? [act.do];
  return ["materia", name, castId, ...rest.filter((word): word is string => Boolean(word))];
}

export function startLine(start: StartBody): string[] {
  const words = start.from ? ["materia", "link", "--from", start.from, ...(start.link ?? [])] : ["materia", "cast"];
  if (start.loadout) words.push("--loadout", start.loadout);
  if (start.provider) words.push("--provider", start.provider);
  if (start.planning) words.push("--planning");
  if (start.interactive) words.push("--interactive");
  if (start.workspace) words.push("--workspace", start.workspace);
  if (start.includeChanges) words.push("--include-changes");
  words.push(...budgetWords(start.budget ?? {}));
  if (start.request) words.push(...(start.from ? ["--"] : []), start.request);
  else words.push("--no-request");
  return words;
}
