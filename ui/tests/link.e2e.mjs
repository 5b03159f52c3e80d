// Links that sign in, and a server that goes and comes back, with the real server.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "./axe.mjs";
import { byId, launch } from "./browser.mjs";
import { skip, start } from "./editor-server.mjs";

let browser;
let server;
before(async () => {
  if (skip) return;
  browser = await launch();
  server = await start();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const printed = () => {
  const ran = server.cli("ui", "--no-open");
  assert.match(ran.stderr, /within a minute/);
  return ran.stdout.trim();
};

test("a fresh link that is pasted into the tab of the sign-in page signs in; a used one just opens then", {
  skip,
}, async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${server.url}/`);
  await byId(page, "signin").waitFor();
  assert.match(await byId(page, "signin").textContent(), /for a minute/);
  assert.deepEqual(await violations(page), []);
  // Only what stands behind the hash is another: nothing is loaded anew.
  await page.evaluate(() => {
    window.kept = true;
  });
  const used = printed();
  await page.goto(used);
  await byId(page, "casts-page").waitFor();
  assert.equal(await page.evaluate(() => window.kept), true);
  assert.equal(new URL(page.url()).hash, "");
  // Signed in, the used link opens the page, in the same tab and in a new one.
  await page.goto(used);
  await byId(page, "casts-page").waitFor();
  const next = await context.newPage();
  await next.goto(used);
  await byId(next, "casts-page").waitFor();
  assert.equal(await byId(next, "signin").count(), 0);
  await context.close();
  // Elsewhere it is refused, with the reason.
  const other = await (await browser.newContext()).newPage();
  await other.goto(used);
  await other.getByRole("alert").getByText("older than a minute").waitFor();
  await other.context().close();
});

test("what could not be read while the server was gone is read when it is back", { skip }, async () => {
  const page = await server.page(browser, "/materia");
  await byId(page, "materia-Build").waitFor();
  await byId(page, "nav-settings").click();
  await byId(page, "settings-page").getByText("materia.json").first().waitFor();
  await server.kill();
  await byId(page, "nav-materia").click();
  const error = byId(page, "error");
  await error.getByText("The server does not answer.").waitFor();
  assert.doesNotMatch(await page.textContent("body"), /Failed to fetch/);
  await server.up();
  await error.waitFor({ state: "detached" });
  await byId(page, "materia-Build").waitFor();
  // A part of the page that was never opened is read then, too.
  await server.kill();
  await byId(page, "nav-inbox").click();
  await page.getByRole("status").getByText("The server does not answer.").waitFor();
  await server.up();
  await byId(page, "inbox-page").waitFor();
  await page.context().close();
});
