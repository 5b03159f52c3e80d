import type { ConfigFile } from "../../api/generated";
import { object } from "../../document";
import { storedValue } from "./state";

/** The names of all loadouts of all layers. */
export function loadoutNames(files: ConfigFile[]): string[] {
  return [...new Set(files.flatMap((one) => Object.keys(object(object(storedValue(one)).loadouts))))];
}
