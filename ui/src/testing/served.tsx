// Components as they are drawn with a server: answers by address, and every request that was made.
import { QueryClientProvider } from "@tanstack/react-query";
import { render } from "@testing-library/react";
import type { ReactNode } from "react";
import { vi } from "vitest";
import { client } from "../shared/ask";

export interface Asked {
  method: string;
  path: string;
  body: unknown;
  key: string | null;
}

/** Answers requests from a table; what is not in it is refused as unknown. A function gets the request. */
export function serve(answers: Record<string, unknown | ((asked: Asked) => unknown)>): Asked[] {
  const all: Asked[] = [];
  client.clear();
  const answer = async (address: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(String(address), "http://page.test");
    const headers = new Headers(init.headers);
    const asked: Asked = {
      method: init.method ?? "GET",
      path: url.pathname.slice("/api".length),
      body: typeof init.body === "string" ? JSON.parse(init.body) : null,
      key: headers.get("Idempotency-Key"),
    };
    all.push(asked);
    init.signal?.throwIfAborted();
    const found = answers[asked.path];
    const value = typeof found === "function" ? await found(asked) : found;
    if (value === undefined) {
      const problem = { type: "about:blank", title: "Not found", status: 404, code: "resolution", detail: asked.path };
      return Response.json(problem, { status: 404 });
    }
    return value instanceof Response ? value : Response.json(value);
  };
  vi.stubGlobal("fetch", answer);
  return all;
}

// The document of these tests has no popovers; the browser tests press them.
if (globalThis.HTMLElement) HTMLElement.prototype.togglePopover ??= () => false;

const Served = ({ children }: { children: ReactNode }) => (
  <QueryClientProvider client={client}>{children}</QueryClientProvider>
);

export const drawn = (page: ReactNode) => render(page, { wrapper: Served });
