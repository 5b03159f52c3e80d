// One way to the server: every request carries the page's key, every refusal becomes a `Refusal`.
import { keep, kept } from "../shared/kept";
import type { Alive, Problem, SessionBody, SessionKey } from "./generated";
import { keyedHash } from "./proof";

const KEY = "materia.key";
const VERIFIER = "materia.verifier";

export class Refusal extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.detail || problem.title);
    this.problem = problem;
  }
}

/** The server does not answer. It may be back soon. */
export class Lost extends Error {
  constructor() {
    super("The server does not answer. The page reconnects when the server is back.");
  }
}

export function storedKey(): string | null {
  return kept(KEY);
}

/** Forgets the key: the page must be opened with a link again. */
export function forgetKey(): void {
  keep(KEY, null);
  keep(VERIFIER, null);
}

/** Whether the server has shown that it is the one: the page came from it, and no connection was lost since. */
let proven = true;

/** A connection was lost: whoever answers next may be another program at the same address. */
export function doubt(): void {
  proven = false;
}

/** The proof that is under way: all that is asked meanwhile waits for the same one. */
let proving: Promise<void> | null = null;

/** Sends nothing that is secret before the server has shown that it is the one. */
export async function proved(): Promise<void> {
  if (proven || local) return;
  proving ??= prove().finally(() => {
    proving = null;
  });
  await proving;
}

async function prove(): Promise<void> {
  const nonce = newKey();
  const answer = await reached(() => fetch(address("/health", { nonce }), { credentials: "omit", cache: "no-store" }));
  const { proof } = (await answer.json()) as Alive;
  const verifier = kept(VERIFIER);
  if (!verifier || proof !== keyedHash(verifier, `${nonce}:${location.port || "80"}`)) {
    const detail =
      "Another program answers at this address, or all browsers were signed out. The page sent nothing to it. Open the page with a new link.";
    throw new Refusal({ type: "about:blank", title: "Not the server", status: 0, code: "other_server", detail });
  }
  proven = true;
}

/** Asks for the proof again: before a stream is opened, another program may have taken the address unnoticed. */
export async function provedAnew(): Promise<void> {
  doubt();
  await proved();
}

export function authorised(headers: Record<string, string> = {}): Record<string, string> {
  const key = storedKey();
  return key ? { ...headers, "X-Materia-Key": key } : headers;
}

/** Exchanges the single-use code in the address for a key, and takes it out of the address. */
export async function openSession(): Promise<void> {
  const told = new URLSearchParams(location.hash.slice(1));
  const [code, project] = [told.get("code"), told.get("project")];
  const path = location.pathname === "/signin" ? "/" : location.pathname;
  const search = project ? `?${new URLSearchParams({ project })}` : location.search;
  if (code || path !== location.pathname) history.replaceState(history.state, "", path + search);
  if (!code) return;
  const answer = await fetch("/api/session", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ code } satisfies SessionBody),
  });
  if (!answer.ok) {
    const refused = new Refusal(await problemOf(answer));
    // A used link in a browser that is signed in just opens.
    if (answer.status === 401 && (await isSignedIn())) return;
    throw refused;
  }
  const { key, verifier } = (await answer.json()) as SessionKey;
  keep(KEY, key);
  keep(VERIFIER, verifier);
  proven = true;
}

async function isSignedIn(): Promise<boolean> {
  return storedKey() !== null && (await fetch(address("/projects"), { headers: authorised() })).ok;
}

async function problemOf(answer: Response): Promise<Problem> {
  const text = await answer.text();
  try {
    const problem = JSON.parse(text) as Problem;
    return { ...problem, status: answer.status, code: problem.code ?? String(answer.status) };
  } catch {
    const code = String(answer.status);
    return { type: "about:blank", title: answer.statusText, status: answer.status, code, detail: text.slice(0, 500) };
  }
}

export type Query = Record<string, string | number | boolean | null | undefined>;

export function address(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null && value !== "") search.set(name, String(value));
  const text = search.toString();
  return `/api${path}${text ? `?${text}` : ""}`;
}

/** What answers in the place of a server, where the page is a file of its own. */
export interface Local {
  get: (path: string, query: Query) => unknown;
  text: (path: string) => string;
}
let local: Local | null = null;

export const isLocal = () => local !== null;

/** From here on nothing is asked of a server. */
export function answerFrom(source: Local): void {
  local = source;
}

async function reached(ask: () => Promise<Response>): Promise<Response> {
  try {
    return await ask();
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    doubt();
    throw new Lost();
  }
}

async function ask(path: string, query: Query | undefined, init: RequestInit): Promise<Response> {
  await proved();
  const answer = await reached(() => fetch(address(path, query), init));
  if (!answer.ok) throw new Refusal(await problemOf(answer));
  return answer;
}

export async function get<T>(path: string, query?: Query, signal: AbortSignal | null = null): Promise<T> {
  if (local) return local.get(path, query ?? {}) as T;
  return (await ask(path, query, { headers: authorised(), signal })).json();
}

export async function getText(path: string, query?: Query, signal: AbortSignal | null = null): Promise<string> {
  if (local) return local.text(path);
  return (await ask(path, query, { headers: authorised(), signal })).text();
}

interface Sent {
  query?: Query | undefined;
  body?: unknown;
  signal?: AbortSignal | undefined;
}

async function send<T>(method: string, path: string, header: Record<string, string>, sent: Sent): Promise<T> {
  if (local) throw new Error("An exported file is read only.");
  const headers = authorised({ "Content-Type": "application/json", ...header });
  const body = sent.body === undefined ? null : JSON.stringify(sent.body);
  return (await ask(path, sent.query, { method, headers, body, signal: sent.signal ?? null })).json();
}

/** Acts once: the key belongs to what the person did, so a repeated request does nothing more. */
export const post = <T>(path: string, body: unknown, key = newKey(), query?: Query, signal?: AbortSignal) =>
  send<T>("POST", path, { "Idempotency-Key": key }, { body, query, signal });

/** Takes something away. */
export const remove = <T>(path: string) => change<T>("DELETE", path, {}, "*", {});

/** Puts or deletes something that must still be as it was read: `ifMatch` names what was read. */
export const change = <T>(method: "PUT" | "DELETE", path: string, query: Query, ifMatch: string, body?: unknown) =>
  send<T>(method, path, { "If-Match": ifMatch }, { body, query });

export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const segment = encodeURIComponent;
