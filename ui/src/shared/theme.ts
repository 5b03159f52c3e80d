// Light, dark, or as the system has it. Kept in this browser.
const KEY = "materia.theme";
export type Theme = "system" | "light" | "dark";

export function theme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function applyTheme(next?: Theme): void {
  if (next) localStorage.setItem(KEY, next);
  const now = theme();
  if (now === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = now;
}
