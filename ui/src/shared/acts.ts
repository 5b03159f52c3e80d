// What a person can do to a cast, and the command line that does the same.
import { newKey, post, segment } from "../api/client";
import type { Budget, GlobalMode, Json, Pace, WorkspaceKind } from "../api/types";

export type Act =
  | { do: "approve"; node: string; hash?: string }
  | { do: "deny"; node: string; hash?: string; reason?: string; route?: boolean }
  | { do: "say"; node?: string; text: string }
  | { do: "trigger"; node: string; message?: string; approve?: boolean }
  | { do: "continue"; node?: string }
  | { do: "pause" }
  | { do: "resume"; putBack?: boolean }
  | { do: "mode"; value: Pace }
  | { do: "globalMode"; value: GlobalMode }
  | { do: "budget"; budget: Budget }
  | { do: "nodeBudget"; node: string; budgets: Record<string, number> }
  | { do: "recast" }
  | { do: "revive" }
  | { do: "stop" }
  | { do: "abort" }
  | { do: "skip"; loop?: string; reason?: string }
  | { do: "applyWorkspace" }
  | { do: "dropWorkspace" }
  | { do: "fork"; at?: number; castId?: string; interactive?: boolean };

export interface Done {
  events?: number[];
  castId?: string;
  /** What was done to a workspace. */
  message?: string;
}

/** Acts on a workspace change no event of the cast, and have paths of their own. */
const OF_WORKSPACE: Record<string, [string, object]> = {
  applyWorkspace: ["apply", {}],
  dropWorkspace: ["drop", { confirm: true }],
};

/** Does it. The key belongs to the click: pressing twice sends the same key and acts once. */
export async function perform(castId: string, project: string | null, act: Act, key = newKey()): Promise<Done> {
  const [path, given] = OF_WORKSPACE[act.do] ?? [];
  if (path) return await post<Done>(`/casts/${segment(castId)}/workspace/${path}`, given, key, { project });
  // A fork is no command of its cast, and knows no sender.
  const body = act.do === "fork" ? act : { ...act, actor: "page" };
  return await post<Done>(`/casts/${segment(castId)}/commands`, body, key, { project });
}

export function commandLine(castId: string, act: Act): string[] {
  const head = (name: string, ...rest: (string | undefined)[]) => [
    "materia",
    name,
    castId,
    ...rest.filter((word): word is string => Boolean(word)),
  ];
  switch (act.do) {
    case "approve":
      return head("approve", act.node, ...(act.hash ? ["--hash", act.hash.slice(0, 12)] : []));
    case "deny":
      return head("deny", act.node, ...(act.reason ? ["--reason", act.reason] : []), act.route ? "--route" : undefined);
    case "say":
      return head("say", act.node, act.text);
    case "trigger":
      return head("trigger", act.node, act.message, act.approve ? "--approve" : undefined);
    case "continue":
      return head("continue", act.node);
    case "mode":
    case "globalMode":
      return head("mode", act.value);
    case "budget":
      return head("budget", ...budgetWords(act.budget));
    case "nodeBudget":
      return head("budget", "--node", act.node, ...nodeBudgetWords(act.budgets));
    case "fork":
      return head(
        "fork",
        ...(act.at === undefined ? [] : ["--at", String(act.at)]),
        act.interactive ? "--interactive" : undefined,
        ...(act.castId ? ["--cast-id", act.castId] : []),
      );
    case "resume":
      return head("resume", act.putBack ? "--put-back" : undefined);
    case "applyWorkspace":
      return head("workspace", "--apply");
    case "dropWorkspace":
      return head("workspace", "--drop");
    case "stop":
      return head("pause");
    case "skip":
      return head("skip", act.loop, ...(act.reason ? ["--reason", act.reason] : []));
    default:
      return head(act.do);
  }
}

function nodeBudgetWords(budgets: Record<string, number>): string[] {
  const options: Record<string, string> = {
    maxTurns: "--max-turns",
    maxCost: "--max-cost",
    maxTimeMs: "--max-time-ms",
  };
  return Object.entries(budgets).flatMap(([name, value]) => (options[name] ? [options[name], String(value)] : []));
}

export function budgetWords(budget: Budget): string[] {
  const words: string[] = [];
  if (budget.maxTurns) words.push("--max-turns", String(budget.maxTurns));
  if (budget.maxTokens) words.push("--max-tokens", String(budget.maxTokens));
  if (budget.maxCost) words.push("--max-cost", String(budget.maxCost));
  return words;
}

export interface Start {
  project?: string;
  loadout?: string;
  /** A cast that goes on from another is a link of one target. */
  link?: string[];
  from?: string;
  request: string;
  provider?: string;
  planning?: boolean;
  interactive?: boolean;
  workspace?: WorkspaceKind;
  includeChanges?: boolean;
  noRequest?: boolean;
  budget?: Budget;
}

export function startLine(start: Start): string[] {
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

export function asAct(value: { [key: string]: Json | undefined }): Act {
  return value as unknown as Act;
}
