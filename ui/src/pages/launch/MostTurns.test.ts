// V1: the bound of a loadout in words.
import { expect, test } from "vitest";
import type { BoundsBody } from "../../api/generated";
import { lists, mostCost, mostTurns } from "./MostTurns";

const bounds = (turns: BoundsBody["cast"]["turns"], more: Partial<BoundsBody> = {}): BoundsBody => ({
  loadout: "L",
  bounded: true,
  sockets: [],
  cast: { visits: {}, turns },
  ...more,
});
const formula = bounds({ formula: "4·n(Auto-Plan) + 3" });
const endless = bounds({}, { bounded: false, unbounded: [{ socket: "watch", field: "`budgets.turns` of `watch`" }] });

test("a formula, a number, and no bound are said in words", () => {
  expect(mostTurns(formula, 0)).toBe("At most 4·n(Auto-Plan) + 3 turns, attempts included.");
  expect(mostTurns(bounds({ formula: "7", most: 7 }), 0)).toBe("At most 7 turns, attempts included.");
  expect(mostTurns(bounds({ formula: "1", most: 1 }), 0)).toBe("At most 1 turn, attempts included.");
  expect(mostTurns(bounds({}), 0)).toBe("No useful bound of turns.");
  expect(mostTurns(endless, 0)).toBe("No bound: watch runs again and again. Set a budget of turns.");
});

test("a budget that the person types counts where it is the smaller one", () => {
  expect(mostTurns(endless, 20)).toBe("At most 20 turns, by your budget.");
  expect(mostTurns(bounds({ formula: "7", most: 7 }), 5)).toBe("At most 5 turns, by your budget.");
  expect(mostTurns(bounds({ formula: "7", most: 7 }), 50)).toBe("At most 7 turns, attempts included.");
  expect(mostTurns(formula, 40)).toBe(
    "At most 4·n(Auto-Plan) + 3 turns, attempts included, and no more than 40 by your budget.",
  );
});

test("the names in a formula are explained, each once", () => {
  expect(lists("n(Plan) + 2·n(Plan)·|state.files|")).toBe(
    "n(Plan) is the number of work items from Plan. |x| is the length of the list x.",
  );
  expect(lists("12")).toBe("");
});

test("cost is said where it is known, and whether a budget enforces it", () => {
  expect(mostCost(formula)).toBe("");
  const cast = (cost: NonNullable<BoundsBody["cast"]["cost"]>) =>
    mostCost(bounds({}, { cast: { visits: {}, turns: {}, cost } }));
  expect(cast({ tokens: 12_000, enforced: true })).toBe("At most 12k tokens, by the budget of the loadout.");
  expect(cast({ tokens: 900, enforced: false })).toContain("900 tokens, if no turn is larger than the largest so far.");
});
