// The most turns that the chosen loadout can take, beside the budget.

import { segment } from "../../api/client";
import type { BoundsBody } from "../../api/generated";
import { useGet } from "../../shared/ask";
import { cx } from "../../shared/cx";
import { count, money, short } from "../../shared/format";
import { Foreign } from "../../shared/parts";
import css from "./launch.module.css";

/** The bound in words. `budget` is the budget of turns that the person has typed. */
export function mostTurns(bounds: BoundsBody, budget: number): string {
  const { formula, most } = bounds.cast.turns;
  if (budget > 0 && (!bounds.bounded || (most != null && budget < most)))
    return `At most ${turns(count(budget))}, by your budget.`;
  if (!bounds.bounded) {
    const sockets = (bounds.unbounded ?? []).map((one) => one.socket).join(", ");
    return `No bound: ${sockets} runs again and again. Set a budget of turns.`;
  }
  if (most != null) return `At most ${turns(count(most))}, attempts included.`;
  const yours = budget > 0 ? `, and no more than ${count(budget)} by your budget` : "";
  return formula ? `At most ${formula} turns, attempts included${yours}.` : `No useful bound of turns${yours}.`;
}
const turns = (number: string) => `${number} ${number === "1" ? "turn" : "turns"}`;

/** The names in a formula, explained. */
export function lists(formula: string | null | undefined): string {
  const names = [...new Set([...(formula ?? "").matchAll(/n\(([^)]*)\)/g)].map((found) => found[1] ?? ""))];
  const items = names.map((name) => `n(${name}) is the number of work items from ${name}.`);
  return [...items, ...(/\|/.test(formula ?? "") ? ["|x| is the length of the list x."] : [])].join(" ");
}

/** The most tokens and money, where a budget or past casts say so. */
export function mostCost(bounds: BoundsBody): string {
  const { tokens, cost, enforced } = bounds.cast.cost ?? { enforced: false };
  const parts = [
    ...(tokens == null ? [] : [`${short(tokens)} tokens`]),
    ...(cost == null ? [] : [money(Number(cost))]),
  ];
  if (parts.length === 0) return "";
  return `At most ${parts.join(" and ")}, ${enforced ? "by the budget of the loadout" : "if no turn is larger than the largest so far"}.`;
}

export function MostTurns({ project, loadout, budget }: { project: string; loadout: string; budget: string }) {
  const bounds = useGet<BoundsBody>(`/loadouts/${segment(loadout)}/bounds`, { project });
  // A loadout with errors has no bounds; its findings are shown beside its graph.
  if (!bounds.data || bounds.data.loadout !== loadout) return null;
  const own = Number(budget) || 0;
  const words = mostTurns(bounds.data, own);
  const more = words.includes("n(") || words.includes("|") ? lists(bounds.data.cast.turns.formula) : "";
  return (
    <p className={cx(css.most, "sm")} data-testid="most-turns">
      <span className={bounds.data.bounded || own > 0 ? css.bounds : cx(css.bounds, css.none)}>
        <Foreign text={words} />
      </span>{" "}
      <Foreign as="span" className="dim" text={[more, mostCost(bounds.data)].filter(Boolean).join(" ")} />
    </p>
  );
}
