// The shell: the first look, signing in, keys, themes, accessibility (checks A1 to A8 of the design).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "./axe.mjs";
import { byId, launch } from "./browser.mjs";
import { DEMO, ENDED, FORK, skip, startStage } from "./stage.mjs";

const LIVE = "running";
let browser;
let server;
before(async () => {
  if (skip) return;
  server = await startStage();
  const live = await server.live(LIVE);
  await live.step();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("A1: the first look shows the casts, and no request leaves the server", { skip }, async () => {
  const page = await server.page(browser, "/");
  await byId(page, "casts-page").waitFor();
  await page.locator('[data-testid="group-Needs you"]').waitFor();
  assert.equal(await page.locator('[data-testid="group-Needs you"] tr').count(), 5);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("A3: without a key there is the sign-in page; the code leaves the address", { skip }, async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${server.url}/casts`);
  await byId(page, "signin").waitFor();
  assert.equal((await page.request.get(`${server.url}/api/casts`)).status(), 401);
  await page.goto((await server.ask("/codes", {})).body.url);
  await byId(page, "casts-page").waitFor();
  await page.reload();
  await byId(page, "casts-page").waitFor();
  assert.equal(new URL(page.url()).hash, "");
  await page.goto(`${server.url}/#code=used`);
  await page.reload();
  await context.close();
});

test("A4: Ctrl+K, words and Enter open the launch sheet with the request in focus", { skip }, async () => {
  const page = await server.page(browser, "/");
  await byId(page, "casts-page").waitFor();
  await page.keyboard.press("Control+k");
  await byId(page, "palette-input").fill("new cast");
  await page.keyboard.press("Enter");
  await byId(page, "request").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.id), "request");
  await page.keyboard.type("Write a poem");
  await page.keyboard.press("Escape");
  await byId(page, "request").waitFor({ state: "detached" });
  // Drafts survive: the sheet has the words when it is opened again.
  await page.keyboard.press("c");
  assert.equal(await byId(page, "request").inputValue(), "Write a poem");
  await page.context().close();
});

const pages = {
  Casts: ["/casts", "casts-page"],
  Cast: [`/casts/${LIVE}`, "panel"],
  "Cast, events": [`/casts/${LIVE}?dock=events&tab=why`, "panel"],
  Inbox: ["/inbox", "inbox-page"],
  Launch: ["/casts?new=1", "request"],
  Compare: [`/casts/${DEMO}/compare/${FORK}`, "compare-page"],
  Loadouts: ["/loadouts", "loadouts-page"],
  Materia: ["/materia", "materia-page"],
  Settings: ["/settings", "settings-page"],
};
for (const colorScheme of ["light", "dark"])
  test(`A5: axe finds nothing serious, ${colorScheme}`, { skip }, async () => {
    const page = await server.page(browser, "/", { colorScheme, reducedMotion: "reduce" });
    for (const [name, [path, id]] of Object.entries(pages)) {
      await page.goto(server.url + path);
      await byId(page, id).waitFor();
      await page.waitForTimeout(400);
      assert.deepEqual(await violations(page), [], name);
    }
    assert.deepEqual(page.trouble, []);
    await page.context().close();
  });

test("A6: every control of a cast is reached by Tab, none holds the focus, each shows it", { skip }, async () => {
  const page = await server.page(browser, "/");
  await page.goto(`${server.url}/casts/${LIVE}`);
  await byId(page, "card-Socket-4").waitFor();
  await byId(page, "panel").waitFor();
  const wanted = await page.evaluate(() => {
    const all = [...document.querySelectorAll("a[href], button:not(:disabled), input, select, textarea")].filter(
      (one) => {
        const box = one.getBoundingClientRect();
        return box.width > 0 && one.tabIndex >= 0 && getComputedStyle(one).visibility !== "hidden";
      },
    );
    for (const [index, one] of all.entries()) one.setAttribute("data-tab", String(index));
    return all.length;
  });
  const reached = new Set();
  const bare = [];
  let before = null;
  for (let press = 0; press < wanted + 40; press += 1) {
    await page.keyboard.press("Tab");
    const now = await page.evaluate(() => {
      const one = document.activeElement;
      const style = one && one !== document.body ? getComputedStyle(one) : null;
      const inside = one?.closest(".cast_track")?.querySelector(".cast_thumb");
      const ring =
        style && (style.outlineStyle !== "none" || (inside && getComputedStyle(inside).outlineStyle !== "none"));
      return {
        id: one?.getAttribute("data-tab") ?? null,
        name: one?.outerHTML.slice(0, 80),
        ring: Boolean(ring),
        body: one === document.body,
      };
    });
    assert.ok(now.id === null || now.id !== before, `trapped at ${now.name}`);
    before = now.id;
    if (now.id !== null) {
      reached.add(now.id);
      if (!now.ring) bare.push(now.name);
    }
  }
  assert.equal(reached.size, wanted);
  assert.deepEqual(bare, []);
  await page.context().close();
});

test("A7: nothing moves for those who asked for that", { skip }, async () => {
  const page = await server.page(browser, "/", { reducedMotion: "reduce" });
  await page.goto(`${server.url}/casts/${LIVE}`);
  await byId(page, "card-Socket-2").waitFor();
  assert.equal(await byId(page, "card-Socket-2").getAttribute("data-state"), "running");
  assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
  await page.context().close();
});

for (const colorScheme of ["light", "dark"])
  test(`A8: states have contrast, ${colorScheme}`, { skip }, async () => {
    const page = await server.page(browser, "/", { colorScheme });
    await byId(page, "casts-page").waitFor();
    const ratios = await page.evaluate(() => {
      const rgb = (name) => {
        document.body.style.color = `var(${name})`;
        return getComputedStyle(document.body)
          .color.match(/\d+/g)
          .map((one) => Number(one) / 255);
      };
      const light = (color) => {
        const [r, g, b] = color.map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const ratio = (a, b) => {
        const [x, y] = [light(rgb(a)), light(rgb(b))].sort((m, n) => n - m);
        return (x + 0.05) / (y + 0.05);
      };
      const states = ["idle", "queued", "running", "needs-you", "done", "failed", "stalled", "skipped"];
      return states.flatMap((state) =>
        ["--ground-0", "--ground-1", `--${state}-soft`].map((ground) => ({
          state,
          ground,
          text: ratio(`--${state}-ink`, ground),
          ring: ratio(`--${state}-fill`, "--ground-1"),
        })),
      );
    });
    for (const one of ratios) {
      assert.ok(one.text >= 4.5, `${one.state} on ${one.ground}: ${one.text}`);
      assert.ok(one.ring >= 3, `${one.state} mark: ${one.ring}`);
    }
    await page.context().close();
  });

test("filters of the list are in the address and survive a reload", { skip }, async () => {
  const page = await server.page(browser, "/");
  await byId(page, "filter-loadout").selectOption("Pair");
  await byId(page, "search").fill("parser");
  await page.waitForFunction(() => location.search.includes("text=parser"));
  await page.reload();
  await byId(page, `cast-${ENDED}`).waitFor();
  assert.equal(await page.locator('tr[data-testid^="cast-"]').count(), 1);
  await page.context().close();
});

test("at 800 px the focus panel is a sheet over the graph", { skip }, async () => {
  const page = await server.page(browser, "/", { viewport: { width: 800, height: 900 } });
  await page.goto(`${server.url}/casts/${LIVE}`);
  await byId(page, "card-Socket-2").waitFor();
  assert.equal(await byId(page, "panel").isVisible(), false);
  await byId(page, "card-Socket-3").click();
  await byId(page, "panel").waitFor();
  await byId(page, "sheet-close").click();
  await byId(page, "panel").waitFor({ state: "hidden" });
  // Both modes are in one picker here.
  await byId(page, "mode-pick").selectOption("INTERACTIVE");
  await byId(page, "mode-confirm").waitFor();
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("at 390 px a cast can be read: no part is wider than the screen", { skip }, async () => {
  const page = await server.page(browser, "/", { viewport: { width: 390, height: 844 } });
  for (const path of ["/casts", `/casts/${LIVE}`, "/inbox", "/settings"]) {
    await page.goto(server.url + path);
    await page.locator("h1").first().waitFor();
    await page.waitForTimeout(300);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 390, `${path}: ${wide}`);
  }
  await page.goto(`${server.url}/casts/${LIVE}`);
  await byId(page, "outline").waitFor();
  assert.ok(await byId(page, "outline").isVisible());
  await page.context().close();
});
