// The page with the real server: what it shows is what the server says, whoever drives the cast.
// MATERIA names the binary; otherwise the one that cargo built is taken. MATERIA_PAGE_DIR=dist shows the page that was
// just made instead of the one in the binary.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { violations } from "./axe.mjs";
import { byId, castIs, launch, open, showsEvent } from "./browser.mjs";
import { page as fold, folded, isSame, shows } from "./fold.mjs";

const binary = process.env.MATERIA ?? fileURLToPath(new URL("../../target/debug/materia", import.meta.url));
const skip = existsSync(binary) ? false : "the program is not built; `cargo build` makes it";
const root = mkdtempSync(join(tmpdir(), "materia-page-"));
const pageDir = process.env.MATERIA_PAGE_DIR ? { MATERIA_PAGE_DIR: resolve(process.env.MATERIA_PAGE_DIR) } : {};
const env = {
  ...process.env,
  ...pageDir,
  MATERIA_PROFILE_DIR: join(root, "profile"),
  MATERIA_STATE_DIR: join(root, "state"),
};
const project = join(root, "project");
let browser;
let server;
let port;
/** The cast that was started, asked for approval and ended. */
let asked;

const say = (value) => ({
  type: "utility",
  parse: "json",
  command: ["sh", "-c", `cat >/dev/null; sleep 0.3; printf '%s' '${JSON.stringify(value)}'`],
});
const config = {
  activeLoadout: "Asks",
  artifactDir: ".materia",
  loadouts: {
    Asks: {
      entry: "plan",
      sockets: {
        plan: { materia: "Plan", edges: [{ to: "build" }] },
        build: { materia: "Make", edges: [{ to: "judge" }] },
        judge: {
          materia: "Judge",
          advance: { cursor: "workItemIndex", when: "satisfied" },
          edges: [{ when: "not_satisfied", to: "build", maxTraversals: 2 }, { to: "build" }],
        },
        merge: { materia: "Merge", approval: "before" },
      },
      loops: {
        items: {
          sockets: ["build", "judge"],
          consumes: { from: "plan", output: "workItems" },
          exits: [{ id: "done", from: "judge", condition: "satisfied", targetSocketId: "merge" }],
        },
      },
    },
    Long: {
      entry: "plan",
      sockets: {
        plan: { materia: "Lister", edges: [{ to: "build" }] },
        build: {
          materia: "Writer",
          advance: { cursor: "workItemIndex", when: "always" },
          edges: [{ to: "build" }],
        },
      },
      loops: { items: { sockets: ["build"], consumes: { from: "plan", output: "workItems" } } },
    },
    Picky: {
      entry: "plan",
      sockets: {
        plan: { materia: "Lister", edges: [{ to: "build" }] },
        build: {
          materia: "Writer",
          approval: "before",
          advance: { cursor: "workItemIndex", when: "always" },
          edges: [{ to: "build" }],
        },
      },
      loops: { items: { sockets: ["build"], consumes: { from: "plan", output: "workItems" } } },
    },
    Talks: {
      entry: "a",
      sockets: {
        a: { materia: "Writer", edges: [{ to: "b" }] },
        b: {
          materia: "Reader",
          edges: [
            { when: "satisfied", to: "gate" },
            { when: "not_satisfied", to: "a", maxTraversals: 3 },
          ],
        },
        gate: { materia: "Gate", edges: [{ to: "c" }] },
        c: { materia: "Writer" },
      },
    },
  },
  materia: {
    Plan: {
      ...say({
        workItems: [
          { title: "First", context: "one" },
          { title: "Second", context: "two" },
        ],
      }),
      generator: true,
    },
    Make: say({ context: "made it" }),
    Judge: say({ satisfied: true }),
    Merge: { type: "utility", parse: "text", command: ["echo", "merged"] },
    // Waits until the test lets it go on, so that what is under way can be looked at.
    Gate: {
      type: "utility",
      parse: "text",
      command: ["sh", "-c", "cat >/dev/null; while [ ! -e ../go ]; do sleep 0.05; done; echo open"],
    },
    Lister: { prompt: "List.", generator: true },
    Writer: { prompt: "Write." },
    Reader: { prompt: "Read it. Is it good?", parse: "json" },
  },
};
const script = {
  turns: {
    a: [
      { delayMs: 700, text: "A first try.", usage: { inputTokens: 1000, outputTokens: 50, cost: 0.02 } },
      { delayMs: 700, text: "A second try.", usage: { inputTokens: 900, outputTokens: 40, cost: 0.01 } },
    ],
    b: [
      { delayMs: 600, json: { satisfied: false, context: "It is too short." } },
      { delayMs: 600, json: { satisfied: true } },
    ],
    c: [{ delayMs: 500, text: "The end." }],
  },
};

async function serve(listen = "127.0.0.1:0") {
  const child = spawn(binary, ["serve", "--listen", listen, "--test-hooks"], {
    cwd: project,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  const url = await new Promise((resolve, reject) => {
    child.stderr.on("data", (chunk) => {
      said += chunk;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
      if (found) resolve(found[0]);
    });
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
  port = new URL(url).port;
  return { child, url };
}
async function link() {
  const { url, token } = JSON.parse(readFileSync(join(env.MATERIA_STATE_DIR, "server.json"), "utf8"));
  const answer = await fetch(`${url}/api/codes`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: "{}",
  });
  return (await answer.json()).url;
}
const ask = (page, path) =>
  page.evaluate(
    async (at) =>
      (await fetch(`/api${at}`, { headers: { "X-Materia-Key": localStorage.getItem("materia.key") } })).json(),
    path,
  );
const done = castIs;
/** Waits for a fact that the server knows. */
async function until(question) {
  for (const end = Date.now() + 60_000; Date.now() < end; await new Promise((next) => setTimeout(next, 50)))
    if (await question()) return;
  throw new Error("waited in vain");
}

/** The state that the page folds from the server's events, up to one. */
async function stateOf(page, id, seq) {
  const events = [];
  for (let from = 1; from; ) {
    const answer = await ask(page, `/casts/${id}/events?order=asc&limit=1000&from=${from}`);
    events.push(...answer.items.filter((event) => !seq || event.seq <= seq));
    from = seq && events.length >= seq ? 0 : (answer.next ?? 0);
  }
  return folded(id, events);
}

/** What the page folds and shows is what the server says, here and at every event asked for. */
async function sameAt(page, id, seq) {
  if (seq) await page.goto(`${new URL(page.url()).origin}/casts/${id}?at=${seq}`);
  const view = await ask(page, `/casts/${id}${seq ? `?at=${seq}` : ""}`);
  const state = await stateOf(page, id, seq);
  isSame(state, view);
  await shows(page, state);
}

before(async () => {
  if (skip) return;
  for (const dir of [env.MATERIA_PROFILE_DIR, env.MATERIA_STATE_DIR, project])
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  writeFileSync(join(project, "materia.json"), JSON.stringify(config, null, 2));
  writeFileSync(join(root, "script.json"), JSON.stringify(script));
  server = await serve();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.child.kill("SIGTERM");
  await new Promise((resolve) => setTimeout(resolve, 300));
  rmSync(root, { recursive: true, force: true });
});

test("A1, A3: the link signs in, the page shows the casts, nothing leaves the server", { skip }, async () => {
  const page = await open(browser, await link());
  await byId(page, "nothing").waitFor();
  assert.equal((await page.request.get(`${server.url}/api/casts`)).status(), 401);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("C1, C2: a cast that another process drives is followed live, and is the server's at every event", {
  skip,
}, async () => {
  const page = await open(browser, await link());
  const child = spawn(
    binary,
    [
      "cast",
      "--loadout",
      "Talks",
      "--script",
      join(root, "script.json"),
      "--trust",
      "--cast-id",
      "talk",
      "write something",
    ],
    { cwd: project, env, stdio: "ignore" },
  );
  const ended = new Promise((resolve) => child.on("exit", resolve));
  await byId(page, "cast-talk").waitFor();
  await byId(page, "cast-talk").locator("a").first().click();
  await byId(page, "card-a").waitFor();
  await page.waitForFunction(() => document.querySelector('[data-testid="card-gate"]')?.dataset.state === "running");
  writeFileSync(join(root, "go"), "");
  await done(page, "Done");
  await ended;
  await sameAt(page, "talk");
  const last = (await stateOf(page, "talk")).seq;
  for (let seq = 1; seq < last; seq += Math.max(1, Math.floor(last / 12))) await sameAt(page, "talk", seq);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("C1: what is written is seen soon after", { skip }, async (t) => {
  const items = Array.from({ length: 40 }, (_, n) => ({ title: `Item ${n + 1}`, context: "c" }));
  const turns = {
    plan: [{ delayMs: 1500, json: { workItems: items } }],
    build: items.map(({ title }) => ({ delayMs: 60, text: `${title} is done.` })),
  };
  writeFileSync(join(root, "quick.json"), JSON.stringify({ turns }));
  const page = await open(browser, await link());
  const words = ["cast", "--loadout", "Long", "--script", join(root, "quick.json"), "--trust", "--cast-id", "quick"];
  const child = spawn(binary, [...words, "go"], { cwd: project, env, stdio: "ignore" });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  await byId(page, "cast-quick").locator("a").first().click();
  await byId(page, "cast-page").waitFor();
  await page.evaluate(() => {
    const cast = document.querySelector('[data-testid="cast-page"]');
    window.__seen = [];
    new MutationObserver(() => window.__seen.push([Number(cast.dataset.seq), Date.now()])).observe(cast, {
      attributeFilter: ["data-seq"],
    });
  });
  await done(page, "Done");
  await ended;
  const seen = await page.evaluate(() => window.__seen);
  const { items: events } = await ask(page, "/casts/quick/events?limit=1000");
  const late = events
    .filter((event) => event.seq > seen[0][0])
    .map((event) => seen.find(([seq]) => seq >= event.seq)[1] - Date.parse(event.wallTime))
    .sort((a, b) => a - b);
  assert.ok(late.length > 0, "no event came while the page was looked at");
  const p95 = late[Math.floor(late.length * 0.95)];
  t.diagnostic(`${late.length} events, seen after ${late[Math.floor(late.length / 2)]} ms, 95 of 100 within ${p95} ms`);
  await page.context().close();
});

test("C8, C9, C10, C13: input, why and cost of a real cast", { skip }, async () => {
  const page = await open(browser, await link());
  const second = (await ask(page, "/casts/talk/events?type=turn.started&node=a")).items.at(-1);
  await page.goto(`${server.url}/casts/talk?socket=a&turn=${second.seq}&tab=input&dock=cost`);
  await byId(page, "prompt-layers").waitFor();
  const layers = await page
    .locator('[data-testid^="layer-"] pre')
    .evaluateAll((all) => all.map((one) => one.textContent));
  assert.equal(layers.join(""), second.data.prompt);
  assert.ok(second.data.prompt.includes("It is too short."));
  const cost = await ask(page, "/casts/talk/cost");
  assert.equal(Number(await byId(page, "cost-tokens").getAttribute("data-value")), cost.usage.tokens);
  assert.equal(
    cost.bySocket.reduce((sum, row) => sum + row.tokens, 0),
    cost.usage.tokens,
  );
  await byId(page, "tab-why").click();
  await byId(page, "why-sentence").waitFor();
  const why = await ask(page, "/casts/talk/nodes/a/why");
  assert.ok(why.because.length > 0);
  assert.match(await byId(page, "why-sentence").textContent(), /Reader/);
  await page.context().close();
});

test("C11, launch, trust: a cast is started, trusted, approved once, and ends", { skip }, async () => {
  const page = await open(browser, await link());
  await page.goto(`${server.url}/casts?new=1`);
  await byId(page, "loadout-Asks").check();
  await byId(page, "request").fill("Do two things");
  await byId(page, "start").click();
  const trust = byId(page, "trust-approve");
  await Promise.race([trust.waitFor(), page.waitForURL(/\/casts\/[^?]/)]);
  if (await trust.count()) {
    assert.match(await byId(page, "trust-question").textContent(), /echo/);
    await trust.click();
  }
  await byId(page, "cast-page").waitFor();
  const id = new URL(page.url()).pathname.split("/")[2];
  asked = id;
  await done(page, "Needs you");
  await byId(page, "region-items").waitFor();
  assert.equal(await byId(page, "item-WI-2").getAttribute("data-state"), "done");
  await sameAt(page, id);
  await byId(page, "banner-act").click();
  const card = byId(page, `inbox-${id}`);
  await card.waitFor();
  assert.match(await card.locator('[data-testid="argv"]').textContent(), /echo/);
  await card.locator('[data-testid="approve"]').dblclick();
  await card.waitFor({ state: "detached" });
  await page.goto(`${server.url}/casts/${id}`);
  await done(page, "Done");
  const given = await ask(page, `/casts/${id}/events?type=approval.given`);
  assert.equal(given.items.length, 1);
  await sameAt(page, id);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("C3: the server dies and comes back; the page goes on without gap or double", { skip }, async () => {
  const page = await open(browser, await link());
  await page.goto(`${server.url}/casts/talk?dock=events`);
  await byId(page, "cast-page").waitFor();
  const before = await byId(page, "cast-page").getAttribute("data-seq");
  server.child.removeAllListeners("exit");
  server.child.kill("SIGKILL");
  await byId(page, "banner-offline").waitFor({ timeout: 10_000 });
  server = await serve(`127.0.0.1:${port}`);
  await byId(page, "banner-offline").waitFor({ state: "detached", timeout: 30_000 });
  await sameAt(page, "talk");
  assert.equal(await byId(page, "cast-page").getAttribute("data-seq"), before);
  await page.context().close();
});

test("C14: a fork from the page shares its past and goes on; the old cast is as it was", { skip }, async () => {
  const page = await open(browser, await link());
  const before = (await ask(page, `/casts/${asked}`)).lastHash;
  await page.goto(`${server.url}/casts/${asked}?at=8`);
  await showsEvent(page, 8);
  await byId(page, "fork").click();
  await byId(page, "fork-confirm").click();
  await byId(page, "compare-link").waitFor();
  const fork = decodeURIComponent(new URL(page.url()).pathname.split("/")[2]);
  assert.notEqual(fork, asked);
  await done(page, "Needs you");
  await sameAt(page, fork);
  assert.deepEqual((await stateOf(page, fork)).fork, { castId: asked, seq: 8 });
  assert.equal((await ask(page, `/casts/${asked}`)).lastHash, before);
  // A fork that is told something first has it in the prompt of its next turn.
  await page.goto(`${server.url}/casts/talk?at=12&socket=c`);
  await showsEvent(page, 12);
  await byId(page, "fork").click();
  await byId(page, "fork-text").fill("Say it in French.");
  await byId(page, "fork-confirm").click();
  await page.waitForFunction(() => !location.pathname.endsWith("/talk"));
  await page.locator('[data-testid="cast-page"]').waitFor();
  const told = decodeURIComponent(new URL(page.url()).pathname.split("/")[2]);
  await until(async () => (await stateOf(page, told)).messages.some((one) => one.text === "Say it in French."));
  assert.equal((await stateOf(page, told)).pace, "AUTO");
  await page.goto(`${server.url}/casts/${asked}/compare/${fork}`);
  await byId(page, "compare-page").waitFor();
  // What is listed is what the server says, and what the command line prints.
  const compared = await ask(page, `/casts/${asked}/compare/${fork}`);
  const listed = await byId(page, "compared").evaluateAll((rows) => rows.map((row) => JSON.parse(row.dataset.row)));
  const asRows = ({ rows }) =>
    rows.map(({ socket, item, attempt, verdict, differs }) => [socket, item ?? null, attempt, verdict, differs ?? []]);
  assert.ok(listed.length > 0);
  assert.deepEqual(listed, asRows(compared));
  const line = spawnSync(binary, ["compare", asked, fork, "--json"], { cwd: project, env, encoding: "utf8" });
  if (!/unrecognized subcommand/.test(line.stderr)) assert.deepEqual(listed, asRows(JSON.parse(line.stdout)));
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("C12: stopping an item ends that item; the cast goes on with the next, as the server says", { skip }, async () => {
  const items = ["One", "Two", "Three"].map((title) => ({ title, context: title }));
  const turns = {
    plan: [{ json: { workItems: items } }],
    build: items.map(({ title }) => ({ text: `Did ${title}.` })),
  };
  writeFileSync(join(root, "picky.json"), JSON.stringify({ turns }));
  const words = ["cast", "--loadout", "Picky", "--script", join(root, "picky.json"), "--trust", "--cast-id", "picky"];
  spawnSync(binary, [...words, "three things"], { cwd: project, env, stdio: "ignore" });
  const page = await open(browser, await link());
  await page.goto(`${server.url}/casts/picky`);
  await done(page, "Needs you");
  await byId(page, "stop").click();
  await byId(page, "skip-reason").fill("not this one");
  await byId(page, "skip").click();
  await page.locator('[data-testid="item-WI-2"][data-state="needs_you"]').waitFor();
  await sameAt(page, "picky");
  const states = await page
    .locator('[data-testid^="item-WI-"]')
    .evaluateAll((all) => all.map((one) => one.dataset.state));
  assert.deepEqual(states, ["aborted", "needs_you", "idle"]);
  const { items: events } = await ask(page, "/casts/picky/events?type=item");
  assert.deepEqual(
    events.map(({ type, data }) => [type, data.item, data.reason]),
    [["item.skipped", "WI-1", "not this one"]],
  );
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("C5, C6: a cast that is too long to hold is the server's at every event, too", { skip }, async () => {
  const many = Array.from({ length: 600 }, (_, n) => n + 1);
  const turns = {
    plan: [{ json: { workItems: many.map((n) => ({ title: `Item ${n}`, context: "c" })) } }],
    build: many.map((n) => ({ text: `Done ${n}.`, usage: { inputTokens: n, outputTokens: 1, cost: 0.001 } })),
  };
  writeFileSync(join(root, "long.json"), JSON.stringify({ turns }));
  const words = ["cast", "--loadout", "Long", "--script", join(root, "long.json"), "--virtual-time", "--trust"];
  const cast = spawn(binary, [...words, "--cast-id", "long", "go"], { cwd: project, env, stdio: "ignore" });
  await new Promise((resolve) => cast.on("exit", resolve));
  const page = await open(browser, await link());
  await page.goto(`${server.url}/casts/long?dock=events`);
  await byId(page, "cast-page").waitFor();
  const last = (await ask(page, "/casts/long")).lastSeq;
  assert.ok(last > 3000, String(last));
  await byId(page, `row-${last}`).waitFor();
  assert.ok((await page.locator(".cast_evrow").count()) <= 120);
  for (const seq of [last, last - 1, Math.floor(last / 2), 1234, 420, 7]) {
    await page.goto(`${server.url}/casts/long${seq === last ? "" : `?at=${seq}`}`);
    const view = await ask(page, `/casts/long?at=${seq}`);
    // Taken up in the middle, as the page does it.
    const from = await ask(page, `/casts/long?at=${Math.max(1, seq - 400)}`);
    const rest = await ask(page, `/casts/long/events?order=asc&limit=1000&from=${from.at + 1}&to=${seq}`);
    const state = fold.fold(fold.fromView(from), rest.items);
    isSame(state, view);
    await shows(page, state);
    const shown = await byId(page, "total-tokens").getAttribute("data-value");
    assert.equal(Number(shown), view.usage.tokens, `tokens at ${seq}`);
  }
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("every page opens with the real server's answers", { skip }, async () => {
  const page = await open(browser, await link());
  const tabs = ["now", "input", "output", "why", "history", "files"];
  const docks = ["timeline", "events", "output", "state", "cost"];
  const casts = [
    ...tabs.map((tab) => `/casts/talk?socket=b&tab=${tab}`),
    ...docks.map((dock) => `/casts/talk?dock=${dock}`),
  ];
  const others = [
    "/casts",
    "/inbox",
    "/casts?new=1",
    "/loadouts",
    "/loadouts/Full-Auto",
    "/loadouts/Asks",
    "/materia",
    "/settings",
  ];
  for (const path of [...casts, ...others, "/casts/talk/compare/long", "/casts/nobody"]) {
    await page.goto(server.url + path);
    await page.locator("h1, [data-testid=error]").first().waitFor();
    await page.waitForTimeout(250);
    assert.equal(await byId(page, "fault").count(), 0, path);
    const wrong = await byId(page, "error").allTextContents();
    assert.deepEqual(wrong.length > 0, path === "/casts/nobody", `${path}: ${wrong}`);
  }
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});
