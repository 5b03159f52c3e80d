// Getting to one thing: links to a turn, the palette, keys, a materia's own colour.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { loadCasts } from "../dev/fixture-casts.mjs";
import { startFixtures } from "../dev/server.mjs";
import { violations } from "./axe.mjs";
import { byId, launch, open } from "./browser.mjs";

const demo = "20261115T124651-09a44c";
let browser;
let server;
before(async () => {
  const colored = structuredClone(loadCasts().get(demo));
  const { nodes } = colored.events[0].data.plan;
  nodes["Socket-1"].color = "#3f7ad8";
  nodes["Socket-2"].color = "materia-color-teal";
  nodes["Socket-3"].color = "red;background:url(https://evil.test/x)";
  server = await startFixtures({
    live: [[demo, 44]],
    extra: [{ ...colored, id: "colored", all: colored.events, state: null }],
  });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

async function at(path, run) {
  const page = await open(browser, server.link);
  try {
    await page.goto(server.url + path);
    await byId(page, "cast-page").waitFor();
    await run(page);
    assert.deepEqual(page.trouble, []);
  } finally {
    await page.context().close();
  }
}

test("a link to a turn opens that turn", () =>
  at(`/casts/${demo}/sockets/Socket-2/items/WI-2/turns/2?tab=output`, async (page) => {
    await page.waitForFunction(() => new URLSearchParams(location.search).get("turn") === "31");
    assert.equal(new URL(page.url()).pathname, `/casts/${demo}`);
    assert.match(await byId(page, "panel").getAttribute("aria-label"), /Build, visit 2/);
    await byId(page, "output-text").waitFor();
  }));

test("a wide window shows input and output side by side", () =>
  at(`/casts/${demo}?socket=Socket-2&turn=31&tab=input`, async (page) => {
    await byId(page, "beside").click();
    await byId(page, "prompt-layers").waitFor();
    await byId(page, "output-text").waitFor();
    assert.deepEqual(await violations(page), []);
    await page.setViewportSize({ width: 1280, height: 900 });
    await byId(page, "output-text").waitFor({ state: "detached" });
    await byId(page, "prompt-layers").waitFor();
  }));

test("the palette finds sockets and events of the cast that is open", () =>
  at(`/casts/${demo}`, async (page) => {
    const find = async (words) => {
      await page.keyboard.press("Control+k");
      await byId(page, "palette-input").fill(words);
    };
    await find("auto-eval");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.search.includes("socket=Socket-3"));
    await find("event 26");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => window.__state?.seq === 26);
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
  }));

test("the space bar holds a running cast and plays on", () =>
  at(`/casts/${demo}`, async (page) => {
    await page.waitForFunction(() => window.__state?.seq === 44);
    await page.locator("#main").focus();
    await page.keyboard.press("Space");
    await page.waitForFunction(() => location.search.includes("at=44"));
    await server.play(demo, 2, 5);
    await byId(page, "where").getByText("Viewing event").waitFor();
    assert.equal(await page.evaluate(() => window.__state.seq), 44);
    await page.keyboard.press("l");
    await page.waitForFunction(() => window.__state?.seq === 46);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    assert.deepEqual(await violations(page), []);
  }));

test("a materia's own colour is a spine and an orb; what is no colour is nothing", () =>
  at("/casts/colored", async (page) => {
    await byId(page, "card-Socket-1").waitFor();
    const spine = (id) =>
      byId(page, `card-${id}`).evaluate((card) => {
        const one = card.querySelector(".spine");
        return one ? [getComputedStyle(one).backgroundColor, getComputedStyle(one).width] : null;
      });
    assert.deepEqual(await spine("Socket-1"), ["rgb(63, 122, 216)", "3px"]);
    assert.equal((await spine("Socket-2"))[1], "3px");
    assert.equal(await spine("Socket-3"), null);
    assert.equal(await spine("Socket-4"), null);
    assert.equal(await byId(page, "card-Socket-1").locator(".kind.owned").count(), 1);
  }));
