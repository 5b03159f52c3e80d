// What a cast may spend; and what a new one may where nothing else is said: kept in this browser, and filled into the launch sheet.
import { count, money, short } from "./format";
import { keep, kept } from "./kept";

/** Each bound, with what is spent of it. */
export const BOUNDS = [
  { field: "maxTurns", name: "Turns", of: "turns", show: count },
  { field: "maxTokens", name: "Tokens", of: "tokens", show: short },
  { field: "maxCost", name: "Cost", of: "cost", show: money },
] as const;

export type Bounds = Record<(typeof BOUNDS)[number]["field"], string>;
export const NO_BOUNDS: Bounds = { maxTurns: "", maxTokens: "", maxCost: "" };
const KEY = "materia.bounds";

export function usualBounds(text: string | null = kept(KEY)): Bounds {
  const bounds = { ...NO_BOUNDS };
  try {
    const value = JSON.parse(text ?? "{}") as Record<string, unknown> | null;
    for (const { field } of BOUNDS) {
      const one = value?.[field];
      if (typeof one === "string" && /^\d+(\.\d+)?$/.test(one)) bounds[field] = one;
    }
  } catch {
    // What cannot be read bounds nothing.
  }
  return bounds;
}

export function keepBounds(bounds: Bounds): void {
  keep(KEY, JSON.stringify(bounds));
}
