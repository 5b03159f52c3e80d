// The list of casts: its views, and the empty page.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "./axe.mjs";
import { byId, launch } from "./browser.mjs";
import { start } from "./editor-server.mjs";
import { ASKS, skip, startStage } from "./stage.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

test("without a demo the empty page does not offer it", { skip }, async () => {
  const server = await start("{}");
  const page = await server.page(browser, "/settings");
  // As a server answers that has no demo.
  await page.route("**/api/demo", (route) => route.fulfill({ json: { available: false } }));
  await page.goto(`${server.url}/casts`);
  await byId(page, "nothing").getByText("Start a cast").waitFor();
  assert.equal(await byId(page, "run-demo").count(), 0);
  await page.context().close();
  await server.stop();
});

test("filters can be kept as a view, which survives a reload and can be removed", { skip }, async () => {
  const server = await startStage();
  const page = await server.page(browser, "/casts");
  await byId(page, "filter-state").selectOption("failed");
  await byId(page, "save-view").click();
  await byId(page, "view-name").fill("Broken");
  await byId(page, "view-keep").click();
  const tab = page.getByRole("tab", { name: /Broken/ });
  await tab.waitFor();
  assert.equal(await tab.getAttribute("aria-selected"), "true");
  await page.getByRole("tab", { name: /^All/ }).click();
  await page.waitForFunction(() => location.search === "");
  await page.reload();
  await tab.click();
  await page.waitForFunction(() => location.search.includes("state=failed"));
  assert.equal(await page.locator('[data-testid^="cast-"]').count(), 1);
  assert.match(await page.locator(".casts_chead").textContent(), /4 need you/);
  await byId(page, "remove-view").click();
  await tab.waitFor({ state: "detached" });
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
  await server.stop();
});

test("an approval shows what was changed before it, where a turn left a difference", { skip }, async () => {
  const content = '--- a/greet.sh\n+++ b/greet.sh\n@@ -1 +1,2 @@\n-echo Hello\n+echo "Hello, $1"\n+# <script>\n';
  const server = await startStage([ASKS]);
  const turns = { coder: [{ text: "Done.", artifacts: { diff: content } }], verifier: [{ json: { satisfied: true } }] };
  server.cast("changed", "Pair", "Greet by name", { turns });
  const page = await server.page(browser, "/inbox?cast=changed");
  const card = byId(page, "inbox-changed");
  await card.locator('[data-testid="changed"] .diff_diff').waitFor();
  assert.match(await card.locator('[data-testid="changed"]').textContent(), /What Build changed before/);
  await card.locator(".diff_diff .cm-changedLine").first().waitFor();
  assert.equal(await card.locator(".diff_diff .cm-changedLine").count(), 2);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
  await server.stop();
});
