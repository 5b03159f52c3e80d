// What a new loadout begins with, from where it was asked for to where it is opened.
import { type JsonObject, templates } from "../../document";

const KEY = "materia.new.";

/** Notes what the loadout of this name is to begin with. A reload still knows it. */
export function startNew(name: string, loadout: JsonObject | string): void {
  sessionStorage.setItem(KEY + name, typeof loadout === "string" ? loadout : JSON.stringify(loadout));
}

/** What was noted for a name: text as it was written elsewhere, with its comments, or nothing but an empty loadout. */
export function begunWith(name: string): string {
  return sessionStorage.getItem(KEY + name) ?? '{ "sockets": {} }';
}

export const templateNamed = (name: string): JsonObject =>
  templates.find((one) => one.name === name)?.loadout ?? { sockets: {} };
