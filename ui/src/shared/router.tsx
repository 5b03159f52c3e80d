// Addresses of the page. What is selected, filtered and looked at is in the address, so that it survives a reload.
import { type AnchorHTMLAttributes, type ReactNode, useCallback, useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
function changed(): void {
  for (const listener of listeners) listener();
}
globalThis.addEventListener?.("popstate", changed);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function navigate(to: string, replace = false): void {
  if (to === location.pathname + location.search) return;
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  changed();
}

export function useAddress(): { path: string; search: URLSearchParams } {
  const address = useSyncExternalStore(subscribe, () => location.pathname + location.search);
  const [path = "/", query = ""] = address.split("?");
  return { path, search: new URLSearchParams(query) };
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

/** Reads and changes the part of the address behind the question mark. */
export function useSearch(): [URLSearchParams, (changes: Changes, push?: boolean) => void] {
  const { search } = useAddress();
  const change = useCallback((changes: Changes, push = false) => {
    navigate(location.pathname + changedSearch(new URLSearchParams(location.search), changes), !push);
  }, []);
  return [search, change];
}

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { to: string; children: ReactNode };

export function Link({ to, children, onClick, ...rest }: LinkProps) {
  return (
    <a
      {...rest}
      href={to}
      onClick={(event) => {
        onClick?.(event);
        if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        navigate(to);
      }}
    >
      {children}
    </a>
  );
}
