// What the cards of the inbox share: the cast that they act on, and its events about one socket.

import type { EventLine, InboxItem } from "../../api/generated";
import { readEvents, withTexts } from "../../api/texts";

export function targetOf(item: InboxItem) {
  return { castId: item.castId, project: item.project ?? null };
}

/** They are shown whole, so long texts are read, too. */
export async function events(item: InboxItem, type: string, signal: AbortSignal): Promise<EventLine[]> {
  const { project } = targetOf(item);
  const query = { project, node: item.node, type, order: "asc", limit: 200 };
  const page = await readEvents(item.castId, query, signal);
  return Promise.all(page.items.map((event) => withTexts(event, project, signal)));
}
