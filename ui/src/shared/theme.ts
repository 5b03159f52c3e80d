// Light, dark, or as the system has it. Kept in this browser.
import { keep, kept } from "./kept";

const KEY = "materia.theme";
export type Theme = "system" | "light" | "dark";

export function theme(): Theme {
  const wish = kept(KEY);
  return wish === "light" || wish === "dark" ? wish : "system";
}

export function applyTheme(next?: Theme): void {
  if (next) keep(KEY, next);
  const now = theme();
  if (now === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = now;
}
