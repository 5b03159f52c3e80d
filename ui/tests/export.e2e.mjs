// A cast as a file of its own: opened from the disk, without a server (check C17 of the design).
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { violations } from "./axe.mjs";
import { byId, castIs, launch } from "./browser.mjs";
import { exportOf, viewer, writeExport } from "./exported.mjs";
import { folded, shows } from "./fold.mjs";
import { DEMO, skip, startStage } from "./stage.mjs";

const folder = mkdtempSync(join(tmpdir(), "materia-export-"));
let browser;
let server;
before(async () => {
  if (skip) return;
  browser = await launch();
  server = await startStage([DEMO]);
});
after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const write = (name, value) => writeExport(join(folder, name), value);
/** Opens a file and notes every request but the one for itself. */
async function look(address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.trouble = [];
  page.on("pageerror", (error) => page.trouble.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (/Content Security Policy|violates/i.test(message.text())) page.trouble.push(`policy: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== address.split("#")[0]) page.trouble.push(`asked: ${request.url()}`);
  });
  await page.goto(address);
  return page;
}

test("C17: an exported cast opens from the disk and shows what the page shows", { skip }, async () => {
  const { value, address } = exportOf(server, DEMO);
  const live = await server.page(browser, `/casts/${DEMO}`);
  await castIs(live, "Done");
  const page = await look(address);
  await byId(page, "card-Socket-2").waitFor();
  assert.match(await byId(page, "file-line").textContent(), /exported file, read only/i);
  assert.equal(await byId(page, "state-hash").getAttribute("title"), value.stateHash);
  const state = folded(DEMO, await server.events(DEMO));
  await shows(live, state);
  await shows(page, state);
  // Nothing can be done, and nothing leads elsewhere.
  for (const act of ["pause", "resume", "guide", "fork", "stop", "budget-act", "trigger", "banner-act"])
    assert.equal(await byId(page, act).count(), 0, act);
  assert.equal(await page.locator("a[href]").count(), 0);
  // Every part of the page works: the past, the turn, why, events, filters, files.
  await page.keyboard.press("[");
  await byId(page, "where").getByText("Viewing event").waitFor();
  await page.waitForURL(/#\?at=\d+$/);
  await page.reload();
  await byId(page, "where").getByText("Viewing event").waitFor();
  await byId(page, "live").click();
  await byId(page, "card-Socket-2").click();
  await byId(page, "tab-input").click();
  await byId(page, "prompt-layers").waitFor();
  await byId(page, "tab-why").click();
  await byId(page, "why-sentence").waitFor();
  await byId(page, "tab-output").click();
  await byId(page, "output-text").waitFor();
  await byId(page, "dock-events").click();
  await byId(page, "events-kind").selectOption("handoff");
  await page.waitForFunction(() =>
    /^\d+ of \d+ events$/.test(document.querySelector('[data-testid="events-count"]').textContent),
  );
  for (const tab of ["timeline", "output", "state", "cost"]) await byId(page, `dock-${tab}`).click();
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
  await live.context().close();
});

test("C17: what a cast says stays text in the file, too", { skip }, async () => {
  const { value } = exportOf(server, DEMO);
  const evil =
    "</script><script>window.__hit=1</script><!--<script>\u2028<img src=https://evil.test/x onerror=__hit=2>";
  value.events[0].data.request = evil;
  value.cast.request = evil;
  for (const turn of Object.values(value.turns)) turn.output = evil;
  const page = await look(write("evil.html", value));
  await byId(page, "card-Socket-2").click();
  await byId(page, "tab-output").click();
  await page.waitForTimeout(200);
  assert.match(await page.locator("h1").textContent(), /<\/script>/);
  assert.equal(await page.evaluate(() => window.__hit), undefined);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("a file without a cast, or with one of another version, says so", { skip }, async () => {
  for (const [name, value, words] of [
    ["later.html", { version: 2 }, /another version/],
    ["none.html", { version: 1 }, /no cast/],
  ]) {
    const page = await look(write(name, value));
    assert.match(await byId(page, "file-broken").textContent(), words);
    await page.context().close();
  }
  const page = await look(pathToFileURL(viewer).href);
  assert.match(await byId(page, "file-broken").textContent(), /damaged/);
  await page.context().close();
});
