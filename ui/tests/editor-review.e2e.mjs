// What is saved is what was reviewed, and what the program's own checker accepts (B19).
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { byId, launch } from "./browser.mjs";
import { card, json, put, until, value, withEditor } from "./editor-page.mjs";
import { example, mine, shipped, skip, start } from "./editor-server.mjs";

let browser;
before(async () => {
  if (!skip) browser = await launch();
});
after(() => browser?.close());
const options = { skip };

const save = async (page) => {
  await byId(page, "review").click();
  await byId(page, "counts").waitFor();
  await byId(page, "save").click();
};
const saved = (page) => until(async () => /^Saved/.test(await byId(page, "save-state").textContent()), "saved");

test("B19: the review counts as the command line does, for 30 pairs", options, async () => {
  await withEditor(browser, async (page, server) => {
    await card(page, "Socket-7").waitFor();
    const base = server.read();
    let seed = 11;
    const any = (count) => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return Math.floor((seed / 2147483648) * count);
    };
    const words = ["Build", "Narrate", "Auto-Eval", "Verify"];
    for (let pair = 0; pair < 30; pair += 1) {
      let text = base;
      for (let step = 0; step <= any(4); step += 1) {
        const number = 1 + any(7);
        const edits = [
          () =>
            text.replace(
              `"Socket-${number}": { "materia": "`,
              `"Socket-${number}": { "timeoutMs": ${1 + any(900)}, "materia": "`,
            ),
          () => text.replace('"maxTraversals": 3', `"maxTraversals": ${4 + any(5)}`),
          () =>
            text.replace(
              '"Socket-7": {',
              `"Extra-${any(1000)}": { "materia": "${words[any(4)]}" },\n        "Socket-7": {`,
            ),
          () => text.replace('"condition": "always"', '"condition": "satisfied"'),
          () => text.replace(/"description": "[^"]*"/, `"description": "other ${any(1000)}"`),
        ];
        text = edits[any(edits.length)]();
      }
      if (text === base) text = base.replace("Plans the request", `Plans ${pair}`);
      const file = join(server.project, "other.json");
      writeFileSync(file, text);
      const told = JSON.parse(server.cli("check", "--diff", "materia.json", "other.json", "--json").stdout);
      await put(page, text);
      await until(async () => (await byId(page, "review").count()) > 0 && !(await byId(page, "review").isDisabled()));
      await byId(page, "review").click();
      const wanted = `${told.added.length} added, ${told.removed.length} removed, ${told.changed.length} changed`;
      await until(async () => (await byId(page, "counts").textContent()) === wanted, wanted);
      assert.equal(await byId(page, "change").count(), told.added.length + told.removed.length + told.changed.length);
      await page.keyboard.press("Escape");
      await byId(page, "counts").waitFor({ state: "detached" });
    }
  });
});

test("a shipped loadout is copied, not changed; what is saved is what check accepts", options, async () => {
  await withEditor(
    browser,
    async (page, server) => {
      await card(page, "Socket-7").click();
      await page.keyboard.press("Delete");
      assert.match(await byId(page, "notice").textContent(), /shipped/);
      await byId(page, "copy-to-edit").click();
      assert.equal(await byId(page, "copy-name").inputValue(), "My-Full-Auto");
      await page.keyboard.press("Enter");
      await card(page, "Socket-7").waitFor();
      await byId(page, "drawer-json").click();
      await until(async () => /Draft/.test(await byId(page, "save-state").textContent()));
      assert.deepEqual(
        value(await json(page)).loadouts["My-Full-Auto"],
        value(shipped("Full-Auto")).loadouts["Full-Auto"],
      );
      await save(page);
      await saved(page);
      assert.equal(server.cli("check", "--json").status, 0);
      assert.ok(value(server.read()).loadouts["My-Full-Auto"]);
    },
    { text: null, path: "/loadouts/Full-Auto?drawer=json" },
  );
});

test("problems are those of materia check: the same codes at the same places", options, async () => {
  const text = mine()
    .replace('"when": "satisfied", "to": "Socket-6"', '"when": "satisfied", "to": "Nowhere"')
    .replace('"consumes": { "from": "Socket-3"', '"consumes": { "from": "Socket-1"');
  await withEditor(
    browser,
    async (page, server) => {
      await page.locator('[data-testid="problem"]').first().waitFor();
      const told = server.cli("check", "--json");
      const findings = JSON.parse(told.stdout).error.findings;
      const seen = await page
        .locator('[data-testid="problem"]')
        .evaluateAll((list) => list.map((one) => one.querySelector(".editor_code").textContent));
      assert.deepEqual(
        seen.sort(),
        findings.map((one) => `${one.code}${one.line ? ` · line ${one.line}` : ""}`).sort(),
      );
    },
    { text },
  );
});

test("every shipped loadout and example opens, is laid out apart, and is not changed by looking", options, async () => {
  const files = [
    "graph-semantics-loadout.json",
    "interactive-plan.json",
    "release-notes.json",
    "review-until-good.json",
    "hello.json",
    "hello-utility.json",
  ];
  const server = await start(mine());
  try {
    const page = await server.page(browser, "/loadouts");
    const look = async (name) => {
      await page.goto(`${server.url}/loadouts/${encodeURIComponent(name)}?drawer=json`);
      await page.locator(".editor_canvas .graph_card").first().waitFor();
      await page.waitForTimeout(150);
      const cards = await page.locator(".editor_canvas [data-socket]").evaluateAll((list) =>
        list.map((one) => {
          const { x, y, width, height } = one.getBoundingClientRect();
          return { id: one.dataset.socket, x, y, width, height };
        }),
      );
      for (const a of cards)
        for (const b of cards)
          if (a.id < b.id)
            assert.ok(
              a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y,
              `${name}: ${a.id} and ${b.id}`,
            );
    };
    for (const name of ["Full-Auto", "Hojo-Consult", "Planning-Consult", "Release"]) await look(name);
    for (const file of files) {
      const text = example(file);
      server.write(text);
      for (const name of Object.keys(value(text).loadouts ?? {})) {
        await look(name);
        assert.equal(await json(page), text);
      }
      assert.equal(server.read(), text);
    }
    assert.deepEqual(page.trouble, []);
  } finally {
    await server.stop();
  }
});

test("the library begins a loadout from a template, and copies one of the project", options, async () => {
  await withEditor(
    browser,
    async (page, server) => {
      await page.goto(`${server.url}/loadouts`);
      await byId(page, "new-name").fill("From template");
      await byId(page, "new-template").selectOption("Loop over items");
      await byId(page, "new-loadout").click();
      await byId(page, "region-workItemIteration").waitFor();
      await until(async () => (await byId(page, "no-problems").count()) > 0, "nothing is found");
      await save(page);
      await saved(page);
      await page.goto(`${server.url}/loadouts?show=Mine`);
      await byId(page, "copy-loadout").click();
      await byId(page, "copy-name").fill("Mine again");
      await page.keyboard.press("Enter");
      await card(page, "Socket-7").waitFor();
      await until(async () => new URL(page.url()).pathname === "/loadouts/Mine%20again");
      await save(page);
      await saved(page);
      const { loadouts } = value(server.read());
      assert.deepEqual(loadouts["Mine again"], loadouts.Mine);
      assert.deepEqual(Object.keys(loadouts), ["Mine", "From template", "Mine again"]);
      // The comments of the original came along.
      assert.equal(server.read().split("// What cannot be committed").length, 3);
      assert.equal(server.cli("check", "--json").status, 0);
    },
    {},
  );
});
