// The list of casts: its views, the empty page and the demo (check A2 of the design, with recorded casts).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { loadCasts } from "../dev/fixture-casts.mjs";
import { startFixtures } from "../dev/server.mjs";
import { violations } from "./axe.mjs";
import { byId, launch, open } from "./browser.mjs";

const demo = "20261115T124651-09a44c";
let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

test("A2: the empty page runs the demo; at its end it offers what could be next", async () => {
  const server = await startFixtures({ empty: true, demo, live: [[demo, 44]] });
  const page = await open(browser, server.link);
  await byId(page, "nothing").waitFor();
  assert.deepEqual(await violations(page), []);
  await byId(page, "run-demo").click();
  await byId(page, "cast-page").waitFor();
  assert.equal(await byId(page, "demo-end").count(), 0);
  await server.play(demo, 1000, 2);
  await byId(page, "demo-end").waitFor();
  assert.equal(await byId(page, "cast-state").textContent(), "Done");
  await byId(page, "demo-own").click();
  await page.getByText("materia init").waitFor();
  await byId(page, "demo-own").click();
  await byId(page, "demo-fork").click();
  assert.match(await page.locator('.pop [data-testid="cli"]').first().textContent(), /fork .* --at 40/);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
  await server.close();
});

test("without a demo the empty page does not offer it", async () => {
  const server = await startFixtures({ empty: true });
  const page = await open(browser, server.link);
  await byId(page, "nothing").getByText("Start a cast").waitFor();
  assert.equal(await byId(page, "run-demo").count(), 0);
  await page.context().close();
  await server.close();
});

test("filters can be kept as a view, which survives a reload and can be removed", async () => {
  const server = await startFixtures();
  const page = await open(browser, server.link);
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
  assert.match(await page.locator(".chead").textContent(), /4 need you/);
  await byId(page, "remove-view").click();
  await tab.waitFor({ state: "detached" });
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
  await server.close();
});

test("an approval shows what was changed before it, where a turn left a difference", async () => {
  const cast = structuredClone(loadCasts().get("20261115T130214-5d20e1"));
  const ended = cast.events.find((event) => event.type === "turn.completed");
  const content = '--- a/greet.sh\n+++ b/greet.sh\n@@ -1 +1,2 @@\n-echo Hello\n+echo "Hello, $1"\n+# <script>\n';
  ended.data.artifacts = [{ kind: "diff", name: "sockets/coder/1-1.diff", content }];
  const server = await startFixtures({ extra: [{ ...cast, id: "changed", all: cast.events, state: null }] });
  const page = await open(browser, server.link);
  await page.goto(`${server.url}/inbox?cast=changed`);
  const card = byId(page, "inbox-changed");
  await card.locator('[data-testid="changed"] .diff').waitFor();
  assert.match(await card.locator('[data-testid="changed"]').textContent(), /What Build changed before/);
  assert.equal(await card.locator(".diff .add").count(), 2);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
  await server.close();
});
