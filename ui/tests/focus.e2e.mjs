// Getting to one thing: links to a turn, the palette, keys, a materia's own colour.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "./axe.mjs";
import { byId, launch, showsEvent } from "./browser.mjs";
import { config, DEMO, demoTurns, skip, startStage } from "./stage.mjs";

let browser;
let stage;
before(async () => {
  if (skip) return;
  const colors = ["#3f7ad8", "materia-color-teal", "red;background:url(https://evil.test/x)"];
  const colored = structuredClone(config);
  const [plan, build, judge] = colors.map((color) => ({ color, prompt: "Work." }));
  Object.assign(colored.materia, {
    Plan: { ...plan, generator: true },
    Make: build,
    Judge: { ...judge, parse: "json" },
  });
  colored.loadouts.Colored = structuredClone(config.loadouts.Demo);
  const { sockets } = colored.loadouts.Colored;
  sockets["Socket-1"].materia = "Plan";
  sockets["Socket-2"].materia = "Make";
  sockets["Socket-3"].materia = "Judge";
  stage = await startStage([DEMO], colored);
  const turns = { "Socket-1": demoTurns["Auto-Plan"], "Socket-2": demoTurns.Build, "Socket-3": demoTurns["Auto-Eval"] };
  stage.cast("colored", "Colored", "In colours", { turns });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await stage?.stop();
});

async function at(path, run) {
  const page = await stage.page(browser, "/settings");
  try {
    await page.goto(stage.url + path);
    await byId(page, "cast-page").waitFor();
    await run(page);
    assert.deepEqual(page.trouble, []);
  } finally {
    await page.context().close();
  }
}

test("a link to a turn opens that turn", { skip }, () =>
  at(`/casts/${DEMO}/sockets/Socket-2/items/WI-2/turns/2?tab=output`, async (page) => {
    await page.waitForFunction(() => new URLSearchParams(location.search).get("turn") === "31");
    assert.equal(new URL(page.url()).pathname, `/casts/${DEMO}`);
    assert.match(await byId(page, "panel").getAttribute("aria-label"), /Build, visit 2/);
    await byId(page, "output-text").waitFor();
  }),
);

test("a wide window shows input and output side by side", { skip }, () =>
  at(`/casts/${DEMO}?socket=Socket-2&turn=31&tab=input`, async (page) => {
    await byId(page, "beside").click();
    await byId(page, "prompt-layers").waitFor();
    await byId(page, "output-text").waitFor();
    assert.deepEqual(await violations(page), []);
    await page.setViewportSize({ width: 1280, height: 900 });
    await byId(page, "output-text").waitFor({ state: "detached" });
    await byId(page, "prompt-layers").waitFor();
  }),
);

test("the palette finds sockets and events of the cast that is open", { skip }, () =>
  at(`/casts/${DEMO}`, async (page) => {
    const find = async (words) => {
      await page.keyboard.press("Control+k");
      await byId(page, "palette-input").fill(words);
    };
    await find("auto-eval");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.search.includes("socket=Socket-3"));
    await find("event 26");
    await page.keyboard.press("Enter");
    await showsEvent(page, 26);
    await find("french");
    await page.getByText("Events with “french”").click();
    await page.waitForFunction(() => location.search.includes("find=french"));
    // The table, which was open before, takes the words over and does not write its own back.
    await page.waitForFunction(() => document.querySelector("[data-testid=events-text]").value === "french");
    await page.waitForTimeout(400);
    assert.match(await page.evaluate(() => location.search), /find=french/);
    await page.goBack();
    await page.waitForFunction(() => document.querySelector("[data-testid=events-text]").value === "");
    await byId(page, "events-text").fill("bonjour");
    await page.waitForFunction(() => location.search.includes("find=bonjour"));
  }),
);

test("the space bar holds a running cast and plays on", { skip }, async () => {
  const live = await stage.live("held");
  const first = await live.seq();
  await at(`/casts/${live.id}`, async (page) => {
    await showsEvent(page, first);
    await page.locator("#main").focus();
    await page.keyboard.press("Space");
    await page.waitForFunction((seq) => location.search.includes(`at=${seq}`), first);
    const last = await live.step();
    await byId(page, "where").getByText("Viewing event").waitFor();
    await byId(page, "where").getByText(`of ${last}`).waitFor();
    await showsEvent(page, first);
    await page.keyboard.press("l");
    await showsEvent(page, last);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    assert.deepEqual(await violations(page), []);
  });
});

test("a materia's own colour is a spine and an orb; what is no colour is nothing", { skip }, () =>
  at("/casts/colored", async (page) => {
    await byId(page, "card-Socket-1").waitFor();
    const spine = (id) =>
      byId(page, `card-${id}`).evaluate((card) => {
        const one = card.querySelector(".graph_spine");
        return one ? [getComputedStyle(one).backgroundColor, getComputedStyle(one).width] : null;
      });
    assert.deepEqual(await spine("Socket-1"), ["rgb(63, 122, 216)", "3px"]);
    assert.equal((await spine("Socket-2"))[1], "3px");
    assert.equal(await spine("Socket-3"), null);
    assert.equal(await spine("Socket-4"), null);
    assert.equal(await byId(page, "card-Socket-1").locator(".graph_kind.graph_owned").count(), 1);
  }),
);
