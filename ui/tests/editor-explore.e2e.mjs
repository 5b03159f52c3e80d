// V1, V4: the bound beside the budget of a new cast, and an exploration in the editor, with the real server.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { violations } from "./axe.mjs";
import { byId, launch } from "./browser.mjs";
import { card, put, until, withEditor } from "./editor-page.mjs";
import { skip, start } from "./editor-server.mjs";

const config = {
  activeLoadout: "Mine",
  artifactDir: ".materia",
  loadouts: {
    Mine: {
      entry: "plan",
      sockets: {
        plan: { materia: "Plan", routing: "all", edges: [{ to: "one" }, { to: "two" }] },
        one: { materia: "Work", routing: "all", edges: [{ to: "ship", deliveryMode: "drop_if_busy" }] },
        two: { materia: "Work", routing: "all", edges: [{ to: "ship", deliveryMode: "drop_if_busy" }] },
        ship: { materia: "Work", routing: "all", approval: "before" },
      },
    },
    Items: {
      entry: "list",
      sockets: {
        list: { materia: "List", edges: [{ to: "build" }] },
        build: { materia: "Work", advance: { cursor: "workItemIndex", when: "always" }, edges: [{ to: "build" }] },
      },
      loops: {
        items: {
          sockets: ["build"],
          consumes: { from: "list", output: "workItems" },
          exits: [{ id: "done", from: "build", condition: "always", targetSocketId: "end" }],
        },
      },
    },
    Ticks: {
      entry: "watch",
      sockets: { watch: { materia: "Work", trigger: "scheduled", cron: "30 6 * * *" } },
    },
  },
  materia: {
    Plan: { prompt: "Plan." },
    Work: { prompt: "Work." },
    List: { prompt: "List.", generator: true, parse: "json" },
  },
};
const text = `${JSON.stringify(config, null, 2)}\n`;

let browser;
before(async () => {
  if (!skip) browser = await launch();
});
after(() => browser?.close());

test("V1: a new cast shows the most turns of its loadout beside the budget", { skip }, async () => {
  const server = await start(text);
  try {
    const page = await server.page(browser, "/casts?new=1");
    const words = () => byId(page, "most-turns").textContent();
    const { formula } = JSON.parse(server.cli("bounds", "Items", "--json").stdout).cast.turns;
    await byId(page, "loadout-Items").check();
    await until(async () => (await words()).startsWith(`At most ${formula} turns, attempts included.`), formula);
    assert.match(await words(), /n\(List\) is the number of work items from List\./);
    assert.deepEqual(await violations(page), []);
    await byId(page, "loadout-Ticks").check();
    await until(async () => /^No bound: watch runs again and again\./.test(await words()));
    await byId(page, "max-turns").fill("12");
    await until(async () => /^At most 12 turns, by your budget\./.test(await words()));
    assert.deepEqual(page.trouble, []);
    await page.context().close();
  } finally {
    await server.stop();
  }
});

test("V4: Explore marks what it finds, and plays a history step by step in Simulate", { skip }, async () => {
  await withEditor(
    browser,
    async (page, server) => {
      await byId(page, "drawer-explore").click();
      await byId(page, "explored").first().waitFor();
      assert.match(await byId(page, "explore-summary").textContent(), /states, all of them\./);
      const drops = page.locator('[data-testid="explored"][data-kind="drops"]').first();
      await drops.waitFor();
      await page.locator(".graph_elab", { hasText: "can be dropped" }).first().waitFor();
      await card(page, "one").locator('[data-testid="explored-mark"]').waitFor();
      assert.deepEqual(await violations(page), []);
      // A press selects what it is about.
      await drops.locator(".editor_what").click();
      await until(async () => /^edge:/.test(new URL(page.url()).searchParams.get("sel") ?? ""));
      // A history is played to the end that the program names.
      const fails = page.locator('[data-testid="explored"][data-kind="fails"]', { hasText: "plan" }).first();
      await fails.locator('[data-testid="play"]').click();
      await byId(page, "playing").waitFor();
      const total = Number(/of (\d+)/.exec(await byId(page, "play-at").textContent())[1]);
      assert.ok(total > 0);
      for (let step = 1; step <= total; step += 1) {
        await byId(page, "play-next").click();
        await until(async () => (await byId(page, "play-at").textContent()).startsWith(`${step} of`));
      }
      await until(async () => /The cast fails here/.test(await byId(page, "walk-end").textContent()));
      assert.ok(await byId(page, "play-next").isDisabled());
      await byId(page, "walk-back").click();
      await until(async () => (await byId(page, "play-at").textContent()).startsWith(`${total - 1} of`));
      // The marks are still there; a change of the text takes them away until it was explored again.
      assert.ok((await page.locator('[data-testid="explored-mark"]').count()) > 0);
      // Simulate gives every approval: a history in which a person refuses comes as a script that the program plays.
      await byId(page, "drawer-explore").click();
      const refuses = page.locator('[data-testid="explored"]', { hasText: "refuses an approval" }).first();
      await refuses.locator('[data-testid="show-script"]').click();
      const script = await refuses.locator('[data-testid="script"]').textContent();
      writeFileSync(join(server.project, "script.json"), script);
      const words = ["cast", "--virtual-time", "--script", "script.json", "--trust", "--json", "go"];
      const played = JSON.parse(server.cli(...words).stdout);
      assert.notEqual(played.status, "completed", JSON.stringify(played));
      await byId(page, "drawer-json").click();
      await put(page, text.replace('"prompt": "Plan."', '"prompt": "Plan it."'));
      await until(async () => (await page.locator('[data-testid="explored-mark"]').count()) === 0);
      await byId(page, "drawer-explore").click();
      await byId(page, "explored").first().waitFor();
    },
    { text, path: "/loadouts/Mine" },
  );
});
