// Casts in a copy of the repository: begun from the sheet, looked at, applied, dropped, put back.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { violations } from "./axe.mjs";
import { byId, castIs, launch } from "./browser.mjs";
import { skip, start } from "./editor-server.mjs";

const utility = (script) => ({ type: "utility", parse: "text", command: ["sh", "-c", `cat >/dev/null; ${script}`] });
const text = JSON.stringify({
  activeLoadout: "Edit",
  artifactDir: ".materia",
  loadouts: {
    Edit: {
      entry: "add",
      sockets: { add: { materia: "Add", edges: [{ to: "look" }] }, look: { materia: "Look" } },
    },
    Ask: { entry: "add", sockets: { add: { materia: "Add", approval: "before" } } },
    Own: { workspace: "own", entry: "add", sockets: { add: { materia: "Add" } } },
  },
  materia: {
    Add: utility("echo two >> notes.txt; mkdir -p docs; echo new > docs/new.md; echo added"),
    Look: utility("cat notes.txt"),
  },
});

let browser;
let server;
const git = (...words) => execFileSync("git", ["-C", server.project, ...words], { encoding: "utf8" });
const notes = () => join(server.project, "notes.txt");
before(async () => {
  if (skip) return;
  browser = await launch();
  server = await start(text);
  writeFileSync(notes(), "one\n");
  writeFileSync(join(server.project, ".gitignore"), ".materia\n");
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const line = (page) => page.locator('.launch_launch footer [data-testid="cli"]').textContent();

/** Begins a cast in a copy from the sheet, and gives its id. */
async function begin(page, loadout) {
  await page.goto(`${server.url}/casts?new=1`);
  await byId(page, `loadout-${loadout}`).check();
  await byId(page, "request").fill("Add a line");
  await byId(page, "seg-own").click();
  await byId(page, "start").click();
  await byId(page, "trust-approve").or(byId(page, "cast-page")).waitFor();
  if (await byId(page, "trust-approve").isVisible()) await byId(page, "trust-approve").click();
  await byId(page, "cast-page").waitFor();
  return new URL(page.url()).pathname.split("/").at(-1);
}

test("where there is no repository the sheet says why a copy cannot be made", { skip }, async () => {
  const page = await server.page(browser, "/casts?new=1");
  await byId(page, "loadout-Edit").check();
  await byId(page, "request").fill("Add a line");
  assert.doesNotMatch(await line(page), /--workspace/);
  await byId(page, "seg-own").click();
  assert.match(await line(page), /--workspace own 'Add a line'$/);
  await byId(page, "include-changes").check();
  assert.match(await line(page), /--workspace own --include-changes 'Add a line'$/);
  await byId(page, "start").click();
  await page.locator('.launch_launch [data-testid="error"]').waitFor();
  assert.match(await page.locator('.launch_launch [data-testid="error"]').textContent(), /no git repository/);
  // A loadout that says so itself needs no option.
  await byId(page, "include-changes").uncheck();
  await byId(page, "seg-project").click();
  await byId(page, "include-changes").waitFor({ state: "detached" });
  await page.evaluate(() => sessionStorage.clear());
  await page.goto(`${server.url}/casts?new=1`);
  await byId(page, "loadout-Own").check();
  await byId(page, "include-changes").waitFor();
  assert.doesNotMatch(await line(page), /--workspace/);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("a cast in a copy shows its files and their lines; they are applied, and the copy is dropped", {
  skip,
}, async () => {
  git("init", "--quiet", "--initial-branch=main");
  git("config", "user.name", "Somebody");
  git("config", "user.email", "somebody@example.org");
  git("add", "--all");
  git("commit", "--quiet", "--message=Begin");
  const page = await server.page(browser, "/casts");
  const id = await begin(page, "Edit");
  await castIs(page, "Done");
  assert.equal(readFileSync(notes(), "utf8"), "one\n");
  await byId(page, "dock-events").click();
  await page.getByText(`materia/${id} is at`).first().waitFor();
  await byId(page, "dock-files").click();
  await byId(page, "workspace").waitFor();
  assert.match(await byId(page, "workspace-branch").textContent(), new RegExp(`materia/${id}, not merged`));
  const changes = byId(page, "workspace").locator('[data-testid="changes"]');
  await changes.getByRole("button", { name: /notes\.txt/ }).click();
  await changes.locator(".diff_diff .cm-changedLine", { hasText: "two" }).waitFor();
  assert.deepEqual(await violations(page), []);
  // The first turn changed files, the second did not.
  await page.goto(`${page.url()}&socket=add&tab=files`);
  const turn = byId(page, "panel").locator('[data-testid="changes"]');
  await turn.getByRole("button", { name: /docs\/new\.md/ }).waitFor();
  await page.goto(page.url().replace("socket=add", "socket=look"));
  await byId(page, "panel-files").locator(".cast_files").first().waitFor();
  assert.equal(await turn.count(), 0);

  writeFileSync(notes(), "mine\n");
  await byId(page, "apply-workspace").click();
  const refused = byId(page, "workspace").locator('[data-testid="error"]');
  await refused.waitFor();
  assert.match(await refused.textContent(), /notes\.txt/);
  assert.equal(readFileSync(notes(), "utf8"), "mine\n");
  git("checkout", "--quiet", "notes.txt");
  assert.equal(
    (await byId(page, "apply-workspace").getAttribute("title")).replace(server.project, "."),
    `materia -C . workspace ${id} --apply`,
  );
  await byId(page, "apply-workspace").click();
  await byId(page, "workspace-done").waitFor();
  assert.equal(readFileSync(notes(), "utf8"), "one\ntwo\n");
  await byId(page, "apply-workspace").waitFor({ state: "detached" });

  await byId(page, "drop-workspace").click();
  assert.match(await byId(page, "workspace").locator(".pop_pop").textContent(), /Its branch is merged/);
  assert.match(git("branch", "--list", "materia/*"), new RegExp(id));
  await byId(page, "drop-workspace-confirm").click();
  await byId(page, "drop-workspace").waitFor({ state: "detached" });
  assert.equal(git("branch", "--list", "materia/*"), "");
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("a cast whose copy was changed waits, and goes on with the files put back or as they are", { skip }, async () => {
  const page = await server.page(browser, "/casts");
  for (const [answer, wanted] of [
    ["put-back", /^one\n/],
    ["go-on", /^mine\n/],
  ]) {
    const id = await begin(page, "Ask");
    await castIs(page, "Needs you");
    await byId(page, "dock-files").click();
    const folder = await byId(page, "workspace-folder").textContent();
    assert.ok(existsSync(join(folder, "notes.txt")), folder);
    writeFileSync(join(folder, "notes.txt"), "mine\n");
    const approved = await server.ask(`/casts/${id}/commands`, { do: "approve", node: "add" });
    assert.equal(approved.status, 200);
    await byId(page, "banner-act").getByText("Choose the files").waitFor();
    await byId(page, "banner-act").click();
    const card = byId(page, `inbox-${id}`);
    await card.locator('[data-testid="cli"]', { hasText: "--put-back" }).waitFor();
    assert.deepEqual(await violations(page), []);
    await card.locator(`[data-testid="${answer}"]`).click();
    await byId(page, "cast-page").waitFor();
    await castIs(page, "Done");
    assert.match(git("show", `materia/${id}:notes.txt`), wanted);
  }
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});
