// What is live on the page: one connection a tab, which carries summaries of all casts and the events of one.
import { useEffect, useSyncExternalStore } from "react";
import { address, authorised, doubt, get, provedAnew, Refusal } from "../api/client";
import { type Connection, type Message, openStream } from "../api/sse";
import type { InboxItem, JournalEvent, LiveNews, Page, Project, Summary } from "../api/types";
import type { CastStore } from "./cast-store";
import { fresh, tellAbout } from "./notify";

export interface LiveState {
  connection: Connection;
  casts: Map<string, Summary>;
  loaded: boolean;
  next: string | number | null;
  projects: Project[];
  inbox: InboxItem[];
  /** The newest event that was heard of the cast that is open. */
  lastSeq: number | null;
  /** The server does not know this page. */
  signedOut: boolean;
  /** How often the connection was made again after it was lost. */
  returns: number;
}

let state: LiveState = {
  connection: { kind: "reconnecting", inSeconds: 0 },
  casts: new Map(),
  loaded: false,
  next: null,
  projects: [],
  inbox: [],
  lastSeq: null,
  signedOut: false,
  returns: 0,
};
const listeners = new Set<() => void>();
let watched: CastStore | null = null;
let close: (() => void) | null = null;
/** Whether the connection was lost since it was made. */
let lost = false;
let cursor: string | null = null;
let inboxTimer: ReturnType<typeof setTimeout> | null = null;
/** What waited before the page was opened is no news. */
let inboxRead = false;
let pending: Summary[] = [];
let frame: ReturnType<typeof setTimeout> | null = null;

function change(part: Partial<LiveState>): void {
  state = { ...state, ...part };
  for (const listener of listeners) listener();
}
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
export function useLive(): LiveState {
  return useSyncExternalStore(subscribe, () => state);
}

/** How often the server came back; nothing else of what is live draws its reader again. */
export const useReturns = (): number => useSyncExternalStore(subscribe, () => state.returns);

/** Resolves when the server is back. */
export function whenBack(): Promise<void> {
  const before = state.returns;
  return new Promise((resolve) => {
    const ignore = subscribe(() => {
      if (state.returns === before) return;
      ignore();
      resolve();
    });
  });
}

export const keyOf = (cast: { castId: string; project?: string | undefined }) => `${cast.project ?? ""}/${cast.castId}`;

function noteSummaries(summaries: Summary[]): void {
  const casts = new Map(state.casts);
  for (const summary of summaries) casts.set(keyOf(summary), summary);
  change({ casts });
}

export async function loadCasts(
  query: { text?: string; status?: string; loadout?: string; cursor?: string | number } = {},
): Promise<Summary[]> {
  const page = await get<Page<Summary>>("/casts", { ...query, limit: 200 });
  noteSummaries(page.items);
  if (!query.text && !query.status && !query.loadout) change({ loaded: true, next: page.next ?? null });
  return page.items;
}

export async function refreshInbox(): Promise<void> {
  try {
    const page = await get<Page<InboxItem>>("/inbox");
    tellAbout(inboxRead ? fresh(state.inbox, page.items) : []);
    inboxRead = true;
    change({ inbox: page.items });
  } catch (error) {
    noteRefusal(error);
  }
}

/** The inbox follows from the casts; it is read again soon after one of them changed. */
function inboxSoon(): void {
  if (inboxTimer) return;
  inboxTimer = setTimeout(() => {
    inboxTimer = null;
    void refreshInbox();
  }, 150);
}

export function noteRefusal(error: unknown): void {
  if (error instanceof Refusal && error.problem.status === 401) change({ signedOut: true });
}

function onMessage(message: Message): void {
  if (message.event === "journal") watched?.push(JSON.parse(message.data) as JournalEvent);
  else if (message.event === "live") watched?.pushLive(JSON.parse(message.data) as LiveNews);
  else if (message.event === "cast") {
    if (message.id) cursor = message.id;
    pending.push(JSON.parse(message.data) as Summary);
    if (frame) return;
    frame = setTimeout(() => {
      frame = null;
      const before = state.casts;
      const fresh = pending;
      pending = [];
      noteSummaries(fresh);
      // Whoever began or ceased to wait changes the inbox.
      const waits = (one: Summary | undefined) =>
        `${one?.status} ${one?.waiting?.reason} ${one?.waiting?.node} ${one?.waiting?.message}`;
      if (fresh.some((one) => waits(one) !== waits(before.get(keyOf(one))) || one.status === "waiting")) inboxSoon();
    }, 30);
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
        change({ returns: state.returns + 1 });
        void refreshProjects();
        void loadCasts().catch(noteRefusal);
        inboxSoon();
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

export async function refreshProjects(): Promise<void> {
  await get<Page<Project>>("/projects")
    .then((page) => change({ projects: page.items }))
    .catch(noteRefusal);
}

export function startLive(): void {
  change({ signedOut: false });
  void refreshProjects();
  void loadCasts().catch(noteRefusal);
  void refreshInbox();
  open();
}

/** Lets the connection carry the events of a cast while its page is open. */
export function watch(store: CastStore): () => void {
  watched = store;
  open();
  const note = () => {
    const seq = store.get().state?.seq ?? null;
    if (watched === store && seq !== state.lastSeq) change({ lastSeq: seq });
  };
  const ignore = store.subscribe(note);
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

export function castPath(
  cast: { castId: string; project?: string | undefined },
  more: Record<string, string | number> = {},
): string {
  const query = new URLSearchParams(cast.project ? { project: cast.project } : {});
  for (const [name, value] of Object.entries(more)) query.set(name, String(value));
  const text = query.toString();
  return `/casts/${encodeURIComponent(cast.castId)}${text ? `?${text}` : ""}`;
}

interface Named {
  castId: string;
  project?: string | undefined;
}

export function comparePath(a: Named, b: Named): string {
  const other = b.project && b.project !== a.project ? { otherProject: b.project } : {};
  const query = new URLSearchParams({ ...(a.project ? { project: a.project } : {}), ...other }).toString();
  const path = `/casts/${encodeURIComponent(a.castId)}/compare/${encodeURIComponent(b.castId)}`;
  return `${path}${query ? `?${query}` : ""}`;
}

/** What waits for a person in a cast. */
export function inboxPath(cast: { castId: string; project?: string | null | undefined }, back = false): string {
  const project = cast.project ? { project: cast.project } : {};
  return `/inbox?${new URLSearchParams({ cast: cast.castId, ...project, ...(back ? { back: "1" } : {}) })}`;
}

/** The time, once a second while somebody looks. */
let now = Date.now();
const ticking = new Set<() => void>();
let clockTimer: ReturnType<typeof setInterval> | null = null;
export function useNow(active = true): number {
  useEffect(() => {
    if (!active) return;
    if (clockTimer) return;
    clockTimer = setInterval(() => {
      now = Date.now();
      for (const tick of ticking) tick();
    }, 1000);
  }, [active]);
  return useSyncExternalStore(
    (listener) => {
      if (!active) return () => {};
      ticking.add(listener);
      return () => ticking.delete(listener);
    },
    () => now,
  );
}
