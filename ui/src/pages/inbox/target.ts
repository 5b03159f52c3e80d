// What the cards of the inbox share: the cast that they act on, and its events about one socket.
import { get, segment } from "../../api/client";
import type { InboxItem, JournalEvent, Page } from "../../api/types";
import { projectOf, useLive } from "../../shared/live";

export function useTarget(item: InboxItem) {
  const { projects } = useLive();
  return { castId: item.castId, project: projectOf(projects, item.project) };
}

export function events(item: InboxItem, project: string | null, type: string): Promise<Page<JournalEvent>> {
  return get<Page<JournalEvent>>(`/casts/${segment(item.castId)}/events`, {
    project,
    node: item.node,
    type,
    order: "asc",
    limit: 200,
  });
}
