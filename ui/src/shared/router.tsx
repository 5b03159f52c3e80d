// Addresses of the page. What is selected, filtered and looked at is in the address, so that it survives a reload.
import { type AnchorHTMLAttributes, type ReactNode, useMemo, useSyncExternalStore } from "react";
import { isExported } from "./exported";

const listeners = new Set<() => void>();
function changed(): void {
  for (const listener of listeners) listener();
}
/** A browser takes its time to write an address, and refuses to write very many: dragging writes at this pace. */
const WRITE_EVERY_MS = 200;
/** Single clicks are written at once, so that a reload right after them keeps them. */
const WRITES_AT_ONCE = 5;
/** The address that is yet to be written, if there is one. */
let unwritten: string | null = null;
let allowance = WRITES_AT_ONCE;
let refill: ReturnType<typeof setInterval> | null = null;

function write(): void {
  if (unwritten === null) return;
  history.replaceState(null, "", inBrowser(unwritten));
  unwritten = null;
  allowance -= 1;
  refill ??= setInterval(oneMore, WRITE_EVERY_MS);
}
function oneMore(): void {
  allowance += 1;
  write();
  if (allowance < WRITES_AT_ONCE || !refill) return;
  clearInterval(refill);
  refill = null;
}
const inBrowser = (to: string) => (isExported() ? `#${to.replace(/^[^?]*/, "")}` : to);

function moved(): void {
  unwritten = null;
  changed();
}
globalThis.addEventListener?.("popstate", moved);
globalThis.addEventListener?.("hashchange", moved);
globalThis.addEventListener?.("pagehide", write);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** A page and what is looked at on it. A file has one page, and keeps the rest behind the hash. */
function here(): string {
  if (unwritten !== null) return unwritten;
  return isExported() ? `/${location.hash.slice(1)}` : location.pathname + location.search;
}

/** Pages over all projects; a project in their address narrows them. */
const OVER_ALL = ["/casts", "/inbox"];

/** An address in the project that is looked at, unless it names its own or is over all of them. */
export function within(to: string, project: string | null = searchNow().get("project")): string {
  const [path = "/", query = ""] = to.split("?");
  const search = new URLSearchParams(query);
  if (!project || isExported() || search.has("project") || (OVER_ALL.includes(path) && !search.has("new"))) return to;
  search.set("project", project);
  return `${path}?${search}`;
}

export function navigate(to: string, replace = false): void {
  go(within(to), replace);
}

function go(to: string, replace: boolean): void {
  if (to === here()) return;
  if (replace) {
    unwritten = to;
    if (allowance > 0) write();
  } else {
    write();
    history.pushState(null, "", inBrowser(to));
  }
  changed();
}

export function useAddress(): { path: string; search: URLSearchParams } {
  const address = useSyncExternalStore(subscribe, here);
  const [path = "/", query = ""] = address.split("?");
  // The same address gives the same value, so that what only depends on it need not be drawn again.
  const search = useMemo(() => new URLSearchParams(query), [query]);
  return { path, search };
}

/** What is looked at now, for those who ask later than they are drawn. */
export function searchNow(): URLSearchParams {
  return new URLSearchParams(here().split("?")[1] ?? "");
}

export type Changes = Record<string, string | number | null | undefined>;

export function changedSearch(search: URLSearchParams, changes: Changes): string {
  const next = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes))
    if (value === null || value === undefined || value === "") next.delete(name);
    else next.set(name, String(value));
  const text = next.toString();
  return text ? `?${text}` : "";
}

/** Changes the part of the address behind the question mark. */
export function changeSearch(changes: Changes, push = false): void {
  go(here().split("?")[0] + changedSearch(searchNow(), changes), !push);
}

/** Reads and changes that part. */
export function useSearch(): [URLSearchParams, typeof changeSearch] {
  return [useAddress().search, changeSearch];
}

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { to: string; children: ReactNode };

export function Link({ to, children, onClick, ...rest }: LinkProps) {
  const { search } = useAddress();
  const address = within(to, search.get("project"));
  // A file has no other pages.
  if (isExported()) return <span className={rest.className}>{children}</span>;
  return (
    <a
      {...rest}
      href={address}
      onClick={(event) => {
        onClick?.(event);
        if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        go(address, false);
      }}
    >
      {children}
    </a>
  );
}
