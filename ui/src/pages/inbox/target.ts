// What the cards of the inbox share: the cast that they act on, and its events about one socket.
import { readEvents, withTexts } from "../../api/texts";
import type { InboxItem, JournalEvent, Page } from "../../api/types";

export function targetOf(item: InboxItem) {
  return { castId: item.castId, project: item.project ?? null };
}

/** They are shown whole, so long texts are read, too. */
export async function events(item: InboxItem, project: string | null, type: string): Promise<Page<JournalEvent>> {
  const query = { project, node: item.node, type, order: "asc", limit: 200 };
  const page = await readEvents(item.castId, query);
  const items: JournalEvent[] = [];
  for (const event of page.items) items.push(await withTexts(event, ["text", "output", "message"], project));
  return { ...page, items };
}
