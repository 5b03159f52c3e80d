// The sheet of a new cast, and a fork of a cast that failed, with the real server.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { violations } from "./axe.mjs";
import { byId, castIs, launch } from "./browser.mjs";
import { binary, skip, start } from "./editor-server.mjs";

const waits = "touch began; while ! [ -e go ]; do sleep 0.02; done";
const utility = (script) => ({ type: "utility", parse: "text", command: ["sh", "-c", `cat >/dev/null; ${script}`] });
const text = JSON.stringify({
  activeLoadout: "Ask",
  artifactDir: ".materia",
  loadouts: {
    Ask: { entry: "ask", sockets: { ask: { materia: "Reader" } } },
    Waits: { entry: "wait", sockets: { wait: { materia: "Wait" } } },
    Breaks: {
      entry: "first",
      sockets: { first: { materia: "First", edges: [{ to: "second" }] }, second: { materia: "Second" } },
    },
  },
  materia: {
    Reader: { prompt: "Say something.", tools: "readOnly" },
    Wait: { ...utility(waits), timeoutMs: 600000 },
    First: utility("echo first"),
    Second: utility("echo second; [ -e mended ]"),
  },
});

let browser;
let server;
before(async () => {
  if (skip) return;
  browser = await launch();
  server = await start(text);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

async function sheet() {
  const page = await server.page(browser, "/casts?new=1");
  await byId(page, "loadout-Ask").waitFor();
  return page;
}

test("the sheet says which casts are under way in the folder, where either may write (D66)", { skip }, async () => {
  const cast = spawn(binary, ["cast", "--trust", "--no-request", "--loadout", "Waits", "--cast-id", "first"], {
    cwd: server.project,
    env: server.env,
    stdio: "ignore",
  });
  const ended = new Promise((done) => cast.once("exit", done));
  const began = join(server.project, "began");
  while (!existsSync(began)) await new Promise((done) => setTimeout(done, 20));
  const page = await sheet();
  // An agent that only reads sees what the other cast writes; so does one in Planning.
  await byId(page, "beside").waitFor();
  assert.match(await byId(page, "beside").textContent(), /^Another cast is running in this folder: first\./);
  assert.deepEqual(await violations(page), []);
  await page.getByRole("button", { name: "Planning" }).click();
  await byId(page, "loadout-Breaks").check();
  await byId(page, "beside").waitFor();
  // It goes when the other cast is over.
  writeFileSync(join(server.project, "go"), "");
  await ended;
  await byId(page, "beside").waitFor({ state: "detached" });
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("an agent can be chosen for a new cast, and one that is not installed cannot", { skip }, async () => {
  const page = await sheet();
  const agents = (await server.ask("/agents")).body.agents;
  const options = byId(page, "provider").locator("option");
  await page.waitForFunction(
    (count) => document.querySelectorAll('[data-testid="provider"] option').length === count,
    agents.length + 2,
  );
  for (const agent of agents) {
    const option = options.and(page.locator(`[value="${agent.name}"]`));
    assert.equal(await option.isDisabled(), !agent.installed, agent.name);
  }
  await byId(page, "request").fill("Say hello");
  await byId(page, "provider").selectOption("mock");
  const line = await page.locator('.launch_launch [data-testid="cli"]').textContent();
  assert.match(line, /cast --loadout Ask --provider mock 'Say hello'/);
  await byId(page, "start").click();
  await page.getByTestId("trust-approve").or(byId(page, "cast-page")).first().waitFor();
  if (await byId(page, "trust-approve").count()) await byId(page, "trust-approve").click();
  await byId(page, "cast-page").waitFor();
  await castIs(page, "Done");
  const id = new URL(page.url()).pathname.split("/")[2];
  const events = (await server.ask(`/casts/${id}/events?type=turn.started`)).body.items;
  assert.deepEqual(
    events.map((event) => event.data.provider),
    ["mock"],
  );
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("a cast that failed is forked before the turn that failed, without choosing an event (D71)", {
  skip,
}, async () => {
  const failed = server.cli("cast", "--trust", "--no-request", "--loadout", "Breaks", "--cast-id", "broken");
  assert.equal(failed.status, 1, failed.stderr);
  const page = await server.page(browser, "/casts/broken");
  await castIs(page, "Failed");
  writeFileSync(join(server.project, "mended"), "");
  await byId(page, "fork").click();
  const shown = page.locator(".pop_pop");
  assert.match(await shown.textContent(), /before the last turn of/);
  assert.match(await shown.textContent(), /Files of the project are not part of a fork/);
  assert.match(await shown.locator('[data-testid="cli"]').first().textContent(), /fork broken$/);
  await byId(page, "fork-confirm").click();
  await byId(page, "compare-link").waitFor();
  await castIs(page, "Done");
  const id = decodeURIComponent(new URL(page.url()).pathname.split("/")[2]);
  const { items } = (await server.ask(`/casts/${id}/events`)).body;
  const { fork } = items[0].data;
  const seq = Number(await byId(page, "cast-page").getAttribute("data-seq"));
  assert.equal(fork.castId, "broken");
  const started = (await server.ask("/casts/broken/events?type=turn.started&node=second")).body.items[0].seq;
  assert.ok(fork.seq < started && started - fork.seq <= 3 && seq > fork.seq, `${fork.seq} ${started}`);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});
