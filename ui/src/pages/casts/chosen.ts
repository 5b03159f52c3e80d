// Which casts the list shows, by what the address says; and the views that somebody keeps.
import type { CastSummary } from "../../api/generated";
import { castState } from "../../fold/view";
import { keep, kept } from "../../shared/kept";

export function chosen(casts: CastSummary[], search: URLSearchParams, now: number): CastSummary[] {
  const [view, state, loadout, project, text] = ["view", "state", "loadout", "project", "text"].map((name) =>
    search.get(name),
  );
  const words = (text ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  return casts.filter((cast) => {
    if (state && castState(cast).state !== state) return false;
    if (loadout && cast.loadout !== loadout) return false;
    if (project && cast.project !== project) return false;
    if (view === "today" && now - Date.parse(cast.updatedAt ?? cast.startedAt ?? "") > 86_400_000) return false;
    if (view === "failed" && cast.status !== "failed") return false;
    const all =
      `${cast.request} ${cast.castId} ${cast.loadout} ${cast.error?.message ?? ""} ${cast.error?.code ?? ""}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

/** Waits for a person; what somebody paused does not. */
export function needsYou(cast: CastSummary): boolean {
  return cast.status === "waiting" && !["interactive", "run_for"].includes(cast.waiting?.reason ?? "");
}

export const FILTERS = ["view", "state", "loadout", "project", "text"] as const;
export type Filters = Partial<Record<(typeof FILTERS)[number], string>>;
export interface SavedView {
  name: string;
  filters: Filters;
}

const KEY = "materia.views";
const VIEWS_MAX = 20;

export function filtersOf(search: URLSearchParams): Filters {
  const out: Filters = {};
  for (const name of FILTERS) {
    const value = search.get(name);
    if (value) out[name] = value;
  }
  return out;
}

export function sameFilters(a: Filters, b: Filters): boolean {
  return FILTERS.every((name) => (a[name] ?? "") === (b[name] ?? ""));
}

/** A name for what is filtered, in the words of the filters. */
export function nameFor(filters: Filters): string {
  const words = [filters.text, filters.state?.replace("_", " "), filters.loadout, filters.view];
  return words.filter(Boolean).join(", ").slice(0, 40) || "View";
}

export function savedViews(text: string | null = kept(KEY)): SavedView[] {
  try {
    const value = JSON.parse(text ?? "[]") as unknown;
    if (!Array.isArray(value)) return [];
    return value
      .filter(
        (one): one is SavedView =>
          typeof one?.name === "string" && one.name !== "" && typeof one.filters === "object" && one.filters !== null,
      )
      .slice(0, VIEWS_MAX);
  } catch {
    return [];
  }
}

export function saveViews(views: SavedView[]): SavedView[] {
  const rest = views.slice(-VIEWS_MAX);
  keep(KEY, JSON.stringify(rest));
  return rest;
}
