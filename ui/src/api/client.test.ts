// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from "vitest";
import { doubt, get, openSession, Refusal } from "./client";
import { keyedHash } from "./proof";

const verifier = "07".repeat(32);
let proves = true;
const asked: { url: string; headers: Record<string, string>; credentials: string | undefined }[] = [];

function server(): void {
  asked.length = 0;
  vi.stubGlobal("fetch", async (url: string, init: RequestInit = {}) => {
    asked.push({ url, headers: (init.headers ?? {}) as Record<string, string>, credentials: init.credentials });
    if (url === "/api/session") return Response.json({ key: "secret-key", verifier });
    if (url.startsWith("/api/health?nonce=")) {
      const nonce = url.split("=")[1];
      const port = proves ? location.port || "80" : "1";
      return Response.json({ status: "ok", proof: keyedHash(verifier, `${nonce}:${port}`) });
    }
    return Response.json({ items: [] });
  });
}

afterEach(() => vi.unstubAllGlobals());

test("behind a lost connection nothing secret is sent before the server has shown that it is the one", async () => {
  server();
  location.hash = "#code=abc";
  await openSession();
  await get("/casts");
  expect(asked.map((one) => one.url)).toEqual(["/api/session", "/api/casts"]);
  proves = false;
  doubt();
  asked.length = 0;
  await expect(get("/casts")).rejects.toBeInstanceOf(Refusal);
  await expect(get("/casts")).rejects.toBeInstanceOf(Refusal);
  expect(asked.length).toBe(2);
  for (const one of asked) {
    expect(one.url).toContain("/api/health?nonce=");
    expect(one.credentials).toBe("omit");
    expect(JSON.stringify(one.headers)).not.toContain("secret-key");
  }
  proves = true;
  asked.length = 0;
  await get("/casts");
  await get("/casts");
  expect(asked.map((one) => one.url.split("?")[0])).toEqual(["/api/health", "/api/casts", "/api/casts"]);
  expect(asked[1]?.headers["X-Materia-Key"]).toBe("secret-key");
});
