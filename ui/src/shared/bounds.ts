// What a new cast may spend where nothing else is said: kept in this browser, and filled into the launch sheet.
import { keep, kept } from "./kept";

export interface Bounds {
  maxTurns: string;
  maxTokens: string;
  maxCost: string;
}
export const NO_BOUNDS: Bounds = { maxTurns: "", maxTokens: "", maxCost: "" };
const KEY = "materia.bounds";

export function usualBounds(text: string | null = kept(KEY)): Bounds {
  try {
    const value = JSON.parse(text ?? "{}") as Partial<Record<keyof Bounds, unknown>>;
    const number = (one: unknown) => (typeof one === "string" && /^\d+(\.\d+)?$/.test(one) ? one : "");
    return { maxTurns: number(value?.maxTurns), maxTokens: number(value?.maxTokens), maxCost: number(value?.maxCost) };
  } catch {
    return NO_BOUNDS;
  }
}

export function keepBounds(bounds: Bounds): void {
  keep(KEY, JSON.stringify(bounds));
}
