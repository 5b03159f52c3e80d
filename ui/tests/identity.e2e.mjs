// Who gets a secret: a browser that is opened signed in, and a program that takes the port of a dead server.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";

const binary = process.env.MATERIA ?? fileURLToPath(new URL("../../target/debug/materia", import.meta.url));
const skip = existsSync(binary) ? false : "the program is not built; `cargo build` makes it";
const root = mkdtempSync(join(tmpdir(), "materia-identity-"));
const project = join(root, "project");
const opened = join(root, "opened");
const env = {
  ...process.env,
  MATERIA_PROFILE_DIR: join(root, "profile"),
  MATERIA_STATE_DIR: join(root, "state"),
  PATH: [join(root, "bin"), process.env.PATH].join(delimiter),
  DISPLAY: ":0",
};
let browser;
let server;

/** Listens on a port; `null` if the port is taken. */
const listen = (http, port) =>
  new Promise((resolve, reject) => {
    http.once("error", (error) => (error.code === "EADDRINUSE" ? resolve(null) : reject(error)));
    http.listen(port, "127.0.0.1", () => resolve(http));
  });
/** A free port below the range that the kernel gives to connections and to listeners on port 0, so that no
 * other process gets it while the server that had it is dead. */
async function ownPort() {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 10_000);
    const probe = await listen(createServer(), port);
    if (!probe) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
}

before(async () => {
  if (skip) return;
  for (const folder of [project, join(root, "bin")]) mkdirSync(folder);
  // Keeps the arguments that a browser would get.
  writeFileSync(
    join(root, "bin", "xdg-open"),
    `#!/bin/sh\nprintf '%s' "$*" > '${opened}.new'; mv '${opened}.new' '${opened}'\n`,
  );
  chmodSync(join(root, "bin", "xdg-open"), 0o755);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.kill("SIGKILL");
  rmSync(root, { recursive: true, force: true });
});

/** Waits for a fact. */
async function until(what, holds) {
  for (const end = Date.now() + 60_000; !holds(); ) {
    assert.ok(Date.now() < end, `${what} did not happen`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
const signedIn = (page) => page.waitForFunction(() => localStorage.getItem("materia.key"));
const serverFile = () => JSON.parse(readFileSync(join(env.MATERIA_STATE_DIR, "server.json"), "utf8"));

test("a browser is opened on a private file and is signed in by it; no argument has the code", { skip }, async () => {
  server = spawn(binary, ["ui", "--listen", `127.0.0.1:${await ownPort()}`], { cwd: project, env, stdio: "ignore" });
  await until("xdg-open is run", () => existsSync(opened));
  const path = readFileSync(opened, "utf8");
  assert.equal(path, join(env.MATERIA_STATE_DIR, "open.html"));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const code = /code=([A-Za-z0-9]+)/.exec(readFileSync(path, "utf8"))[1];
  const listed = spawnSync("ps", ["-eo", "args"], { encoding: "utf8" }).stdout;
  assert.ok(!listed.includes(code), "the code is in the arguments of a process");
  const page = await browser.newPage();
  await page.goto(pathToFileURL(path).href);
  await signedIn(page);
  assert.equal(new URL(page.url()).origin, serverFile().url);
  assert.ok(!page.url().includes(code), page.url());
  await page.context().close();
});

test("a program at the port of a dead server gets neither cookie nor key from an open page", { skip }, async () => {
  const { url, token } = serverFile();
  const answer = await fetch(`${url}/api/codes`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: "{}",
  });
  const page = await browser.newPage();
  // A browser sends a request again by itself if the server dies while it is in flight; no page can prevent that.
  const inFlight = new Set();
  let follows = false;
  page.on("request", (request) => inFlight.add(request));
  page.on("requestfinished", (request) => inFlight.delete(request));
  page.on("requestfailed", (request) => inFlight.delete(request));
  page.on("response", (response) => {
    if (!new URL(response.url()).pathname.endsWith("/stream")) return;
    follows = response.ok();
    inFlight.delete(response.request());
  });
  await page.goto((await answer.json()).url);
  await signedIn(page);
  // Twenty looks in a row: what an answer leads to has been asked for as well.
  let quiet = 0;
  await until("the page follows the server and waits for no answer", () => {
    quiet = follows && inFlight.size === 0 ? quiet + 1 : 0;
    return quiet > 20;
  });
  const key = await page.evaluate(() => localStorage.getItem("materia.key"));
  const cookies = await page.context().cookies();
  assert.ok(cookies.length > 0, "there is a cookie to collect");

  server.kill("SIGKILL");
  await new Promise((resolve) => server.once("exit", resolve));
  const seen = [];
  const foreign = createServer((request, response) => {
    seen.push({ url: request.url, headers: JSON.stringify(request.headers) });
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ status: "ok", version: "0", proof: "00", items: [] }));
  });
  for (const end = Date.now() + 60_000; !(await listen(foreign, Number(new URL(url).port))); ) {
    assert.ok(Date.now() < end, "the port of the dead server did not become free");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  try {
    // The page asks who answers there, and goes on asking.
    await until("the page asks for a proof", () => seen.filter((one) => one.url.includes("nonce=")).length > 1);
    await page.getByRole("link", { name: "Loadouts" }).first().click();
    await until("the page asks again", () => seen.filter((one) => one.url.includes("nonce=")).length > 2);
    for (const { url: asked, headers } of seen) {
      assert.ok(!headers.includes(key), `${asked}: ${headers}`);
      for (const cookie of cookies) assert.ok(!headers.includes(cookie.value), `${asked}: ${headers}`);
    }
  } finally {
    foreign.closeAllConnections();
    foreign.close();
    await page.context().close();
  }
});
