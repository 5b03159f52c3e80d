// Every field of sockets and edges has its form in the editor, and what is filled in is what the file says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { violations } from "./axe.mjs";
import { byId, launch } from "./browser.mjs";
import { card, json, loadout, until, withEditor } from "./editor-page.mjs";
import { skip } from "./editor-server.mjs";

const schema = JSON.parse(readFileSync(new URL("../../schemas/config.schema.json", import.meta.url), "utf8"));
let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

const unfold = async (page) => {
  const folded = page.locator("details.editor_group:not([open]) > summary");
  while ((await folded.count()) > 0) await folded.first().click();
};
const fieldsOf = (page) =>
  page
    .locator('.editor_insp [data-testid^="field-"]')
    .evaluateAll((all) => all.map((one) => one.dataset.testid.slice(6)));
const tops = (names) => new Set(names.map((name) => name.split(".")[0]));
/** Waits until each of these fields has a form; groups can be drawn after the first look. */
const haveForms = (page, names) =>
  until(
    async () => {
      await unfold(page);
      const made = tops(await fieldsOf(page));
      return names.every((name) => made.has(name));
    },
    `each of ${names.join(", ")} has a form`,
  );
const fill = (page, name, text) => byId(page, `field-${name}`).fill(text);
const choose = (page, name, value) => byId(page, `field-${name}`).selectOption(value);

test("every field of a socket that the schema knows has a form, and writes what it says", { skip }, () =>
  withEditor(browser, async (page) => {
    // An agent in a loop, so that nothing is left out.
    await card(page, "Socket-5").click();
    // These have forms of their own beside the generated ones.
    const byHand = ["materia", "prompt", "edges", "onFailure", "parse", "assign", "advance", "params", "env"];
    const generated = Object.keys(schema.$defs.Socket.properties).filter((name) => !byHand.includes(name));
    await haveForms(page, generated);
    // Objects of names and values are lines.
    assert.equal((await page.locator(".editor_insp .editor_kvrow.editor_schema.editor_pairs").count()) >= 2, true);
    assert.deepEqual(await violations(page), []);
    await choose(page, "mode", "interactive");
    await choose(page, "control", "manual");
    await fill(page, "maxInFlight", "3");
    await choose(page, "policy.network", "false");
    await fill(page, "policy.write", "docs, notes");
    await fill(page, "policy.tools", "readOnly");
    await choose(page, "outputSelector", "composite");
    await fill(page, "artifacts", "diff, logs");
    await fill(page, "foreach.items", "state.files");
    await fill(page, "retries.max", "2");
    await fill(page, "retries.delayMs", "500");
    const socket = async () => (await loadout(page)).sockets["Socket-5"];
    await until(async () => (await socket()).retries?.delayMs === 500, "the last field is written");
    const { mode, control, maxInFlight, policy, outputSelector, artifacts, foreach, retries } = await socket();
    assert.deepEqual(
      { mode, control, maxInFlight, policy, outputSelector, artifacts, foreach, retries },
      {
        mode: "interactive",
        control: "manual",
        maxInFlight: 3,
        policy: { network: false, write: ["docs", "notes"], tools: "readOnly" },
        outputSelector: "composite",
        artifacts: ["diff", "logs"],
        foreach: { items: "state.files" },
        retries: { max: 2, delayMs: 500 },
      },
    );
    // What is emptied goes, together with the object around it.
    await fill(page, "retries.max", "");
    await fill(page, "retries.delayMs", "");
    await choose(page, "policy.network", "");
    await fill(page, "policy.write", "");
    await fill(page, "policy.tools", "");
    await until(async () => (await socket()).policy === undefined, "the empty object is gone");
    assert.equal((await socket()).retries, undefined);
  }),
);

test("every field of an edge has a form, and the line of the file keeps its comments", { skip }, () =>
  withEditor(browser, async (page, server) => {
    await card(page, "Socket-5").click();
    await byId(page, "edge-more-1").click();
    const ofEdge = Object.keys(schema.$defs.EdgeDoc.properties).filter((name) => !["when", "to"].includes(name));
    await haveForms(page, ofEdge);
    assert.deepEqual(await violations(page), []);
    await choose(page, "deliveryMode", "debounce");
    await fill(page, "debounceMs", "250");
    await choose(page, "dedupeBy", "contentHash");
    await fill(page, "transform.where.path", "$.structured.kind");
    await fill(page, "transform.where.equals", "7");
    const edge = async () => (await loadout(page)).sockets["Socket-5"].edges[1];
    await until(async () => (await edge()).transform?.where?.equals === 7, "the last field is written");
    assert.deepEqual(await edge(), {
      when: "not_satisfied",
      to: "Socket-4",
      maxTraversals: 3,
      deliveryMode: "debounce",
      debounceMs: 250,
      dedupeBy: "contentHash",
      transform: { where: { path: "$.structured.kind", equals: 7 } },
    });
    assert.equal((await server.ask("/projects")).status, 200);
  }),
);

test("a materia and the bounds of the whole file have theirs", { skip }, () =>
  withEditor(
    browser,
    async (page) => {
      await byId(page, "insp-loadout").click();
      await unfold(page);
      await fill(page, "limits.maxRepairs", "2");
      await fill(page, "budget.warnAtPercent", "50");
      await until(async () => (await json(page)).includes('"warnAtPercent": 50'), "it");
      assert.match(await json(page), /"maxRepairs": 2/);
      await page.goto(`${new URL(page.url()).origin}/materia/New?begin=1`);
      await byId(page, "group-Agent").waitFor();
      await unfold(page);
      const names = await page
        .locator('[data-testid^="field-"]')
        .evaluateAll((all) => all.map((one) => one.dataset.testid.slice(6)));
      for (const name of [
        "tools",
        "model",
        "provider",
        "multiTurn",
        "session",
        "timeoutMs",
        "expects",
        "requires",
        "reads",
      ])
        assert.ok(names.includes(name), name);
      assert.deepEqual(await violations(page), []);
    },
    { path: "/loadouts/Mine?drawer=json" },
  ),
);

test("G20: generators and loop consumers are marked in words: in the palette, on cards, utilities too", { skip }, () =>
  withEditor(browser, async (page) => {
    assert.equal(
      await byId(page, "pal-Commit-Sigil").locator('[data-testid="pal-badge"]').textContent(),
      "Generator, utility",
    );
    assert.match(await byId(page, "pal-Auto-Plan").textContent(), /Generator/);
    await card(page, "Socket-3").waitFor();
    assert.deepEqual(await card(page, "Socket-3").locator(".graph_badge").allTextContents(), ["Generator"]);
    assert.deepEqual(await card(page, "Socket-5").locator(".graph_badge").allTextContents(), ["Loop consumer"]);
    assert.deepEqual(await card(page, "Socket-1").locator(".graph_badge").allTextContents(), []);
    // A utility that makes items.
    await byId(page, "pal-Commit-Sigil").click();
    await page
      .locator(".graph_card", { hasText: "Commit-Sigil" })
      .locator(".graph_badge", { hasText: "Generator" })
      .waitFor();
  }),
);
