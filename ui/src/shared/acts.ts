// What a person can do to a cast, and the command line that does the same.
import { newKey, post, segment } from "../api/client";
import type { ActBody, Acted, Budget, NodeBudgets, StartBody, WorkspaceActed } from "../api/generated";

export const PACES = [
  { id: "AUTO", label: "Auto" },
  { id: "INTERACTIVE", label: "Interactive" },
] as const;
export const MODES = [
  { id: "PLANNING", label: "Planning" },
  { id: "IMPLEMENTATION", label: "Implementation" },
] as const;

/** Acts on a workspace have paths of their own; everything else is a command of the cast, or a fork. */
export type Act = ActBody | { do: "applyWorkspace" } | { do: "dropWorkspace" };

export type Done = Partial<Acted & WorkspaceActed>;

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
  const head = (name: string, ...rest: (string | null | undefined)[]) => [
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
        ...(typeof act.at !== "number" ? [] : ["--at", String(act.at)]),
        act.interactive ? "--interactive" : undefined,
        ...(act.castId ? ["--cast-id", act.castId] : []),
      );
    case "resume":
      return head("resume", "putBack" in act && act.putBack ? "--put-back" : undefined);
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

function nodeBudgetWords({ turns, cost, timeMs }: NodeBudgets): string[] {
  const options: [string, number | null | undefined][] = [
    ["turns", turns],
    ["cost", cost],
    ["time-ms", timeMs],
  ];
  return options.flatMap(([name, value]) => (value ? [`--max-${name}`, String(value)] : []));
}

export function budgetWords(budget: Budget): string[] {
  const words: string[] = [];
  if (budget.maxTurns) words.push("--max-turns", String(budget.maxTurns));
  if (budget.maxTokens) words.push("--max-tokens", String(budget.maxTokens));
  if (budget.maxCost) words.push("--max-cost", String(budget.maxCost));
  return words;
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
