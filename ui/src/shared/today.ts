// What was spent today, by the casts that the page knows.
import type { CastSummary } from "../api/generated";

export interface Spent {
  cost: number | null;
  /** Casts of today whose agents told no cost. */
  unknown: number;
  /** Whether a cast of an earlier day is known, so that none of today is missing. */
  whole: boolean;
}

export function spentToday(casts: CastSummary[], now: number): Spent {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const began = (cast: CastSummary) => Date.parse(cast.startedAt ?? "");
  const today = casts.filter((cast) => began(cast) >= midnight);
  const known = today.flatMap((cast) => (typeof cast.usage?.cost === "number" ? [cast.usage.cost] : []));
  return {
    cost: known.length > 0 ? known.reduce((sum, cost) => sum + cost, 0) : null,
    unknown: today.length - known.length,
    whole: casts.some((cast) => began(cast) < midnight),
  };
}
