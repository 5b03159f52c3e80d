// Two casts that did the same, chosen from the list: what always differs is no difference. With the real server.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "./axe.mjs";
import { byId, launch } from "./browser.mjs";
import { skip, start } from "./editor-server.mjs";

// Both utilities say what is a cast's own: its id, its folder and the time.
const own = "cat >/dev/null; printf ' %s ' \"$MATERIA_CAST_ID\"; date -u +%Y-%m-%dT%H:%M:%SZ; pwd";
const text = (last) =>
  JSON.stringify({
    activeLoadout: "Own",
    artifactDir: ".materia",
    loadouts: {
      Own: {
        entry: "one",
        sockets: {
          one: { materia: "One", edges: [{ to: "two" }] },
          two: { materia: "Two", edges: [{ to: "three" }] },
          three: { materia: "Three" },
        },
      },
    },
    materia: {
      One: { type: "utility", parse: "text", command: ["sh", "-c", own] },
      Two: { type: "utility", parse: "text", command: ["sh", "-c", own] },
      Three: { type: "utility", parse: "text", command: ["sh", "-c", last] },
    },
  });

let browser;
let server;
let beta;
before(async () => {
  if (skip) return;
  browser = await launch();
  server = await start(text("cat >/dev/null; cat said.txt 2>/dev/null || echo first"));
  const cast = (id, dir = server.project) =>
    assert.equal(server.cliIn(dir, "cast", "--trust", "--no-request", "--cast-id", id).status, 0);
  cast("run-1a");
  cast("run-2b");
  beta = await server.also("beta", text("cat >/dev/null; echo other"));
  cast("run-3c", beta.dir);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("two casts of the list are compared: ids, folders and times are left out, and it says same input", {
  skip,
}, async () => {
  const page = await server.page(browser, "/casts");
  await byId(page, "choose-run-1a").check();
  await byId(page, "comparing").getByText("Choose a second one").waitFor();
  await byId(page, "choose-run-2b").check();
  assert.deepEqual(await violations(page), []);
  await byId(page, "compare-chosen").click();
  await byId(page, "compare-page").waitFor();
  assert.match(await byId(page, "compare-sentence").textContent(), /Their turns are the same/);
  await byId(page, "rowpick").filter({ hasText: "Two" }).click();
  await byId(page, "beside-input").click();
  assert.deepEqual(await page.locator(".compare_same-as").allTextContents(), ["Same input", "Same input"]);
  // The command line says the same.
  const told = server.cli("compare", "run-1a", "run-2b");
  assert.match(told.stdout, /Turns: 3 the same, 0 differ/);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("casts of two projects are compared, too, and what differs stands out", { skip }, async () => {
  const page = await server.page(browser, "/casts");
  await byId(page, "choose-run-1a").check();
  await byId(page, "choose-run-3c").check();
  await byId(page, "compare-chosen").click();
  await byId(page, "compare-page").waitFor();
  await page.waitForURL((url) => url.searchParams.get("otherProject") === beta.id);
  const rows = await byId(page, "compared").evaluateAll((all) => all.map((row) => JSON.parse(row.dataset.row)));
  assert.deepEqual(
    rows.map(([socket, , , verdict, differs]) => [socket, verdict, differs]),
    [
      ["one", "same", []],
      ["two", "same", []],
      ["three", "differs", ["output"]],
    ],
  );
  await byId(page, "compared").last().getByText("same input").waitFor();
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});
