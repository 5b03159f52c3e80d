// Two projects side by side: what is started, shown and linked is of the project that was meant. With the real server.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { violations } from "./axe.mjs";
import { byId, castIs, launch, open } from "./browser.mjs";
import { skip, start } from "./editor-server.mjs";

const project = (loadout) =>
  JSON.stringify({
    activeLoadout: "Other",
    artifactDir: ".materia",
    loadouts: {
      [loadout]: { entry: "go", sockets: { go: { materia: "Touch" } } },
      Other: { entry: "go", sockets: { go: { materia: "Nothing" } } },
    },
    materia: {
      Touch: { type: "utility", parse: "text", command: ["sh", "-c", `cat >/dev/null; echo ${loadout} > ran.txt`] },
      Nothing: { type: "utility", parse: "text", command: ["echo", "nothing"] },
    },
  });

let browser;
let server;
let beta;
before(async () => {
  if (skip) return;
  browser = await launch();
  server = await start(project("Alpha"));
  beta = await server.also("beta", project("Beta"));
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const cliOf = async (page) => page.locator('[data-testid="cli"]').allTextContents();

test("a cast of a loadout is started in its own project, and everything about it names that project", {
  skip,
}, async () => {
  // The link that was printed in the second folder shows that folder.
  const page = await open(browser, beta.link);
  await byId(page, "casts-page").waitFor();
  await page.waitForURL((url) => url.searchParams.get("project") === beta.id);
  await byId(page, "nav-loadouts").click();
  await byId(page, "loadout-row-Beta").click();
  assert.equal(await byId(page, "loadout-row-Alpha").count(), 0);
  for (const line of await cliOf(page)) assert.ok(line.includes(`-C ${beta.dir}`), line);
  await page.getByRole("link", { name: "Start a cast" }).click();
  await byId(page, "launch-project").waitFor();
  assert.match(await byId(page, "launch-project").textContent(), new RegExp(`^beta.*${beta.dir}`));
  assert.equal(await byId(page, "loadout-Beta").isChecked(), true);
  assert.deepEqual(await violations(page), []);
  await byId(page, "request").fill("Touch it");
  assert.ok((await cliOf(page)).some((line) => line.includes(`materia -C ${beta.dir} cast --loadout Beta`)));
  await byId(page, "start").click();
  await byId(page, "trust-approve").click();
  await byId(page, "cast-page").waitFor();
  await castIs(page, "Done");
  assert.equal(readFileSync(join(beta.dir, "ran.txt"), "utf8"), "Beta\n");
  assert.equal(existsSync(join(server.project, "ran.txt")), false);
  await page.waitForURL((url) => url.searchParams.get("project") === beta.id);
  assert.equal(await byId(page, "project-name").textContent(), "beta");
  // An address without the project gets it, and the links of the cast lead there.
  const id = new URL(page.url()).pathname.split("/")[2];
  await page.goto(`${server.url}/casts/${id}`);
  await page.waitForFunction((wanted) => new URLSearchParams(location.search).get("project") === wanted, beta.id);
  await page.locator(".cast_head a", { hasText: "Beta" }).click();
  await byId(page, "editor").waitFor();
  await page.waitForURL((url) => url.searchParams.get("project") === beta.id);
  assert.equal(await byId(page, "project-name").textContent(), "beta");
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("where several projects are served, a new cast and the list of loadouts ask which one", { skip }, async () => {
  const page = await server.page(browser, "/casts");
  await byId(page, "new-cast").click();
  await byId(page, "which-project").waitFor();
  assert.equal(await byId(page, "request").isVisible(), false);
  assert.deepEqual(await violations(page), []);
  // By the keyboard alone: the first one has the focus.
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await byId(page, "launch-project").getByText("beta", { exact: true }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.id), "request");
  await byId(page, "loadout-Beta").check();
  // Another project has other loadouts; what was chosen here is not taken along.
  await byId(page, "other-project").click();
  await byId(page, "project-project").click();
  await byId(page, "loadout-Other").waitFor();
  assert.equal(await byId(page, "loadout-Beta").count(), 0);
  assert.equal(await byId(page, "loadout-Other").isChecked(), true);
  await page.goto(`${server.url}/loadouts`);
  await byId(page, "project-beta").click();
  await byId(page, "loadout-row-Beta").waitFor();
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("a server that starts again serves the folders that it had, and not those that were removed", {
  skip,
}, async () => {
  const dirs = async () => (await server.ask("/projects")).body.items.map((item) => item.dir).sort();
  const both = [beta.dir, server.project].sort();
  assert.deepEqual(await dirs(), both);
  await server.kill();
  await server.up();
  assert.deepEqual(await dirs(), both);
  const page = await server.page(browser, `/casts?project=${beta.id}`);
  await page.locator('[data-testid^="cast-"] .casts_req').first().waitFor();
  assert.equal(server.cli("ui", "--remove", beta.dir).status, 0);
  await server.kill();
  await server.up();
  assert.deepEqual(await dirs(), [server.project]);
  await page.context().close();
});
