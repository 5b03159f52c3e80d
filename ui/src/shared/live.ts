// What is live on the page: one connection a tab, which carries summaries of all casts and the events of one.
import { useQuery } from "@tanstack/react-query";
import { startTransition, useEffect, useState } from "react";
import { address, authorised, doubt, get, provedAnew } from "../api/client";
import type {
  CastSummary,
  Casts,
  EventLine,
  Inbox,
  InboxItem,
  LiveWords,
  ProjectItem,
  Projects,
} from "../api/generated";
import { type Message, openStream } from "../api/sse";
import { askAgain, client, useGet } from "./ask";
import type { CastStore } from "./cast-store";
import { noteRefusal, useLive } from "./live-state";
import { fresh, tellAbout } from "./notify";

const { getState: state, setState: change } = useLive;

let watched: CastStore | null = null;
let close: (() => void) | null = null;
/** Whether the connection was lost since it was made. */
let lost = false;
let cursor: string | null = null;
let inboxTimer: ReturnType<typeof setTimeout> | null = null;
let pending: CastSummary[] = [];
let frame: ReturnType<typeof setTimeout> | null = null;

/** Resolves when the server is back. */
export function whenBack(): Promise<void> {
  return new Promise((resolve) => {
    const ignore = useLive.subscribe((now, before) => {
      if (now.returns === before.returns) return;
      ignore();
      resolve();
    });
  });
}

const NO_PROJECTS: ProjectItem[] = [];
export function useProjects(): ProjectItem[] {
  const started = useLive((live) => live.started);
  return useGet<Projects>(started ? "/projects" : null).data?.items ?? NO_PROJECTS;
}

const NOTHING: InboxItem[] = [];
/** All that waits for a person. What waited before the page was opened is no news. */
export function useInbox(): InboxItem[] {
  const started = useLive((live) => live.started);
  const { data } = useQuery({
    enabled: started,
    queryKey: ["/inbox"],
    queryFn: async ({ signal }) => {
      const before = client.getQueryData<Inbox>(["/inbox"]);
      const page = await get<Inbox>("/inbox", {}, signal);
      tellAbout(before ? fresh(before.items, page.items) : []);
      return page;
    },
  });
  return data?.items ?? NOTHING;
}

export const keyOf = (cast: Named) => `${cast.project ?? ""}/${cast.castId}`;

function noteSummaries(summaries: CastSummary[]): void {
  const casts = new Map(state().casts);
  for (const summary of summaries) casts.set(keyOf(summary), summary);
  change({ casts });
}

/** Reads a page of the list, or the casts with a text, and notes them. */
export async function readCasts(
  query: { text?: string; cursor?: string },
  signal: AbortSignal,
): Promise<CastSummary[]> {
  const page = await get<Casts>("/casts", { ...query, limit: 200 }, signal);
  noteSummaries(page.items);
  if (!query.text) change({ loaded: true, next: page.next ?? null });
  return page.items;
}

export const loadCasts = (query: { cursor?: string } = {}) =>
  client.fetchQuery({ queryKey: ["/casts", query], queryFn: ({ signal }) => readCasts(query, signal) });

export const refreshInbox = () => client.invalidateQueries({ queryKey: ["/inbox"] });
export const refreshProjects = () => client.invalidateQueries({ queryKey: ["/projects"] });

/** The inbox follows from the casts; it is read again soon after one of them changed. */
function inboxSoon(): void {
  if (inboxTimer) return;
  inboxTimer = setTimeout(() => {
    inboxTimer = null;
    void refreshInbox();
  }, 150);
}

function onMessage(message: Message): void {
  if (message.event === "journal") watched?.push(JSON.parse(message.data) as EventLine);
  else if (message.event === "live") watched?.pushLive(JSON.parse(message.data) as LiveWords);
  else if (message.event === "cast") {
    if (message.id) cursor = message.id;
    pending.push(JSON.parse(message.data) as CastSummary);
    if (frame) return;
    frame = setTimeout(() => {
      frame = null;
      const before = state().casts;
      const fresh = pending;
      pending = [];
      noteSummaries(fresh);
      // Whoever began or ceased to wait changes the inbox.
      const waits = (one: CastSummary | undefined) =>
        `${one?.status} ${one?.waiting?.reason} ${one?.waiting?.node} ${one?.waiting?.message}`;
      if (fresh.some((one) => waits(one) !== waits(before.get(keyOf(one))) || one.status === "waiting")) inboxSoon();
    }, 250);
  }
}

function open(): void {
  close?.();
  close = openStream({
    address: () => {
      const cast = watched ? { cast: watched.id, castFrom: watched.nextSeq(), project: watched.project } : {};
      return address("/stream", { ...(cursor ? { from: cursor } : {}), ...cast });
    },
    headers: () => authorised(),
    before: provedAnew,
    onLost: () => {
      lost = true;
      doubt();
    },
    onMessage,
    onConnection: (connection) => {
      change({ connection });
      // What happened while nobody listened: lists are read anew, events go on from the last one.
      if (connection.kind === "connected" && lost) {
        lost = false;
        change({ returns: state().returns + 1 });
        askAgain();
        void loadCasts().catch(noteRefusal);
      }
    },
    onRefused: (status) => {
      if (status === 401) change({ signedOut: true });
      else if (cursor) {
        // A cursor that the server no longer knows: begin again without one.
        cursor = null;
        open();
      } else change({ connection: { kind: "offline" } });
    },
  });
}

export function startLive(): void {
  change({ started: true, signedOut: false });
  askAgain();
  void loadCasts().catch(noteRefusal);
  open();
}

/** Lets the connection carry the events of a cast while its page is open. */
export function watch(store: CastStore): () => void {
  watched = store;
  open();
  const note = () => {
    if (watched === store) change({ lastSeq: store.held.getState().state?.seq ?? null });
  };
  const ignore = store.held.subscribe(note);
  note();
  return () => {
    ignore();
    if (watched !== store) return;
    watched = null;
    change({ lastSeq: null });
    open();
  };
}

/** The cast whose page is open. */
export function watchedCast(): CastStore | null {
  return watched;
}

interface Named {
  castId: string;
  project?: string | null | undefined;
}

/** A path with what is asked for behind it; what is not known is left out. */
function pathTo(parts: string[], query: Record<string, string | number | null | undefined>): string {
  const known = Object.entries(query).flatMap(([name, value]) => (value ? [[name, String(value)]] : []));
  const search = new URLSearchParams(known).toString();
  return `/${parts.map(encodeURIComponent).join("/")}${search ? `?${search}` : ""}`;
}

export const castPath = ({ castId, project }: Named, more: Record<string, string | number> = {}): string =>
  pathTo(["casts", castId], { project, ...more });

export const comparePath = (a: Named, b: Named): string =>
  pathTo(["casts", a.castId, "compare", b.castId], {
    project: a.project,
    otherProject: b.project === a.project ? null : b.project,
  });

/** What waits for a person in a cast. */
export const inboxPath = ({ castId, project }: Named, back = false): string =>
  pathTo(["inbox"], { cast: castId, project, back: back ? "1" : null });

/** The time, once a second while somebody looks. */
export function useNow(active = true): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!active) return;
    const tick = () => startTransition(() => setNow(Date.now()));
    tick();
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  }, [active]);
  return active ? now : Date.now();
}
