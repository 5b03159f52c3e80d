// What the forms offer to choose from, and what a socket may be called.
import type { Condition } from "../../api/generated";
import { goodId } from "../../document";
import type { EditorState } from "./state";

export const conditions: { value: Condition; label: string }[] = [
  { value: "always", label: "always" },
  { value: "satisfied", label: "satisfied" },
  { value: "not_satisfied", label: "not satisfied" },
];

/** How an output can be read. */
export const PARSES: Record<string, string> = { text: "text", json: "json" };

export function targets({ loadout }: Pick<EditorState, "loadout">): { value: string; label: string }[] {
  const sockets = loadout?.sockets ?? [];
  return [
    ...sockets.map((one) => ({ value: one.id, label: `${one.materia || "no materia"}, ${one.id}` })),
    { value: "end", label: "end" },
    { value: "fail", label: "fail: the cast fails" },
  ];
}

export function nameFault({ loadout }: Pick<EditorState, "loadout">, to: string): string | null {
  if (!goodId(to))
    return "Use 1 to 64 of A-Z a-z 0-9 . _ -, beginning with a letter or digit, and neither end nor fail.";
  if (loadout?.sockets.some((one) => one.id === to)) return `There is a socket ${to} already.`;
  return null;
}
