// Components as they are drawn with a server: answers by address, and every request that was made.
import { QueryClientProvider } from "@tanstack/react-query";
import { configure, render } from "@testing-library/react";
import type { ReactNode } from "react";
import { vi } from "vitest";
import type { Problem } from "../api/generated";
import { keyedHash } from "../api/proof";
import { client } from "../shared/ask";
import { keep } from "../shared/kept";
import { useLive } from "../shared/live-state";

export interface Asked {
  method: string;
  path: string;
  search: URLSearchParams;
  body: unknown;
  key: string | null;
}

/** What a server answers that refuses something. */
export const refusal = (status: number, code: string, detail: string, more: Partial<Problem> = {}) =>
  Response.json({ type: "about:blank", title: code, status, code, detail, ...more } satisfies Problem, { status });

type Answers = Record<string, unknown | ((asked: Asked) => unknown)>;

const VERIFIER = "ab".repeat(32);
/** The answer to `/health` of a server that shows that it is the one. */
const health = ({ search }: Asked) => ({
  status: "ok",
  version: "1.2.3",
  proof: keyedHash(VERIFIER, `${search.get("nonce")}:${location.port || "80"}`),
});

/** What every server answers: who it is, and a stream that says nothing. */
const usual: Answers = { "/health": health, "/stream": () => new Promise(() => {}) };

/** Answers requests from a table; what is not in it is refused as unknown. A function gets the request. */
export function serve(answers: Answers): Asked[] {
  const all: Asked[] = [];
  client.clear();
  const answer = async (address: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(String(address), "http://page.test");
    const headers = new Headers(init.headers);
    const asked: Asked = {
      method: init.method ?? "GET",
      path: decodeURI(url.pathname.slice("/api".length)),
      search: url.searchParams,
      body: typeof init.body === "string" ? JSON.parse(init.body) : null,
      key: headers.get("Idempotency-Key"),
    };
    all.push(asked);
    init.signal?.throwIfAborted();
    const found = asked.path in answers ? answers[asked.path] : usual[asked.path];
    const value = typeof found === "function" ? await found(asked) : found;
    if (value === undefined) {
      return refusal(404, "resolution", asked.path);
    }
    return value instanceof Response ? value.clone() : Response.json(value);
  };
  vi.stubGlobal("fetch", answer);
  return all;
}

/** The page at an address, signed in and connected, as a test begins. */
export function openAt(address: string): void {
  localStorage.clear();
  sessionStorage.clear();
  keep("materia.verifier", VERIFIER);
  useLive.setState({ ...useLive.getInitialState(), started: true, connection: { kind: "connected" } });
  document.title = "";
  history.replaceState(null, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
}

/** What was sent, without reads. */
export const sentOf = (asked: Asked[]) => asked.filter((one) => one.method !== "GET");

// A machine that is busy takes longer; a test waits for what it expects, not for a time.
configure({ asyncUtilTimeout: 15_000 });
// What is asked when a test is over goes nowhere.
globalThis.fetch = () => new Promise(() => {});
// The document of these tests has no popovers: here a button opens and closes the one that it names.
const shown = new WeakSet<Element>();
function togglePopover(this: HTMLElement, force?: boolean): boolean {
  const open = force ?? !shown.has(this);
  if (open === shown.has(this)) return open;
  if (open) shown.add(this);
  else shown.delete(this);
  this.dispatchEvent(Object.assign(new Event("toggle"), { newState: open ? "open" : "closed" }));
  return open;
}
if (globalThis.HTMLElement) {
  HTMLElement.prototype.togglePopover ??= togglePopover as HTMLElement["togglePopover"];
  addEventListener("click", ({ target }) => {
    const opener = target instanceof Element ? target.closest("[popovertarget]") : null;
    document.getElementById(opener?.getAttribute("popovertarget") ?? "")?.togglePopover();
  });
}

const Served = ({ children }: { children: ReactNode }) => (
  <QueryClientProvider client={client}>{children}</QueryClientProvider>
);

export const drawn = (page: ReactNode) => render(page, { wrapper: Served });
