// Telling a person who looks elsewhere that a cast needs them, if they wished for that.
import type { InboxItem } from "../api/generated";
import { keep, kept } from "./kept";
import { oneLine } from "./text";

const KEY = "materia.notify";
const keyOf = (item: InboxItem) => `${item.castId}/${item.node ?? ""}/${item.reason}/${item.since ?? ""}`;

export type Notices = "on" | "off" | "refused" | "unknown";

export function notices(): Notices {
  if (!("Notification" in globalThis)) return "unknown";
  if (Notification.permission === "denied") return "refused";
  return kept(KEY) === "on" && Notification.permission === "granted" ? "on" : "off";
}

/** Asks the browser for leave, which must follow from a press of a button. */
export async function wishNotices(on: boolean): Promise<Notices> {
  keep(KEY, on ? "on" : null);
  if (on && "Notification" in globalThis && Notification.permission === "default")
    await Notification.requestPermission();
  return notices();
}

/** Things that wait now and did not before. */
export function fresh(before: InboxItem[], now: InboxItem[]): InboxItem[] {
  const known = new Set(before.map(keyOf));
  return now.filter((item) => !known.has(keyOf(item)));
}

export function tellAbout(items: InboxItem[]): void {
  if (!document.hidden || notices() !== "on") return;
  for (const item of items.slice(0, 3)) {
    const note = new Notification(`Needs you: ${oneLine(item.node ?? item.loadout, 60)}`, {
      body: `${oneLine(item.message, 160)}\n${oneLine(item.request, 120)}`,
      tag: keyOf(item),
    });
    note.onclick = () => window.focus();
  }
}
