// The timeline: widths are durations, the wheel zooms, a brush filters the events (check C15 of the design and beyond).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { byId, launch, showsEvent } from "./browser.mjs";
import { ASKS, DEMO, skip, startStage } from "./stage.mjs";

const HOURS = 3 * 3600 * 1000;
let browser;
let stage;
before(async () => {
  if (skip) return;
  browser = await launch();
  stage = await startStage([DEMO, ASKS]);
});
after(async () => {
  await browser?.close();
  await stage?.stop();
});

async function withPage(path, run) {
  const page = await stage.page(browser, "/settings");
  try {
    await page.goto(stage.url + path);
    await byId(page, "timeline").waitFor();
    await run(page);
    assert.deepEqual(page.trouble, []);
  } finally {
    await page.context().close();
  }
}
const drawn = (page) => byId(page, "timeline").evaluate((one) => Number(one.dataset.drawn));
/** Widths as they are, beside what they should be. */
const widths = (page) =>
  page.evaluate(() => {
    const box = document.querySelector('[data-testid="timeline"]');
    const lane = box.querySelector(".cast_lane").getBoundingClientRect().width;
    return [...box.querySelectorAll("[data-ms]")].map((bar) => ({
      got: bar.getBoundingClientRect().width,
      wanted: Math.max(3, (Number(bar.dataset.ms) / Number(box.dataset.drawn)) * lane),
    }));
  });
const proportional = async (page) => {
  for (const bar of await widths(page)) assert.ok(Math.abs(bar.got - bar.wanted) <= 2, JSON.stringify(bar));
};

/** A cast in which a person approved hours after they were asked. */
function paused() {
  const turns = {
    coder: [{ delayMs: 60_000, text: "Done." }],
    verifier: [{ delayMs: 60_000, json: { satisfied: true } }],
  };
  const timeline = [{ atMs: HOURS + 180_000, do: "approve", node: "merge" }];
  return stage.cast("paused", "Pair", "With a pause", { turns, timeline });
}

test("C15: the wheel zooms around the pointer, bars stay proportional, Fit shows all again", { skip }, () =>
  withPage(`/casts/${DEMO}`, async (page) => {
    const whole = await drawn(page);
    const axis = await page.locator(".cast_tl .cast_axis").boundingBox();
    await page.mouse.move(axis.x + axis.width * 0.5, axis.y + 10);
    for (let n = 0; n < 6; n += 1) await page.mouse.wheel(0, -100);
    await page.waitForFunction(
      (before) => Number(document.querySelector('[data-testid="timeline"]').dataset.drawn) < before / 2,
      whole,
    );
    await proportional(page);
    await page.mouse.wheel(200, 0);
    await byId(page, "tl-fit").click();
    assert.equal(await drawn(page), whole);
    await byId(page, "tl-in").click();
    assert.ok(Math.abs((await drawn(page)) - whole / 2) < 1);
  }),
);

test("a brush filters the events, survives a reload, and can be cleared", { skip }, () =>
  withPage(`/casts/${DEMO}`, async (page) => {
    const axis = await page.locator(".cast_tl .cast_axis").boundingBox();
    await page.mouse.move(axis.x + axis.width * 0.2, axis.y + 12);
    await page.mouse.down();
    await page.mouse.move(axis.x + axis.width * 0.6, axis.y + 12, { steps: 5 });
    await page.mouse.up();
    await byId(page, "brushed").waitFor();
    const [from, to] = await page.evaluate(() => {
      const search = new URLSearchParams(location.search);
      return [Number(search.get("evfrom")), Number(search.get("evto"))];
    });
    assert.ok(from > 1 && to > from && to < (await stage.view(DEMO)).lastSeq, `${from} ${to}`);
    await byId(page, "dock-events").click();
    await page.waitForFunction(() => location.search.includes("dock=events"));
    await page.reload();
    const wanted = `${to - from + 1} of`;
    await page.waitForFunction(
      (words) => document.querySelector('[data-testid="events-count"]')?.textContent.startsWith(words),
      wanted,
    );
    await byId(page, `row-${from}`).waitFor();
    assert.equal(await byId(page, `row-${from - 1}`).count(), 0);
    await byId(page, "events-span").getByRole("button").click();
    await page.waitForFunction(() => !location.search.includes("evfrom"));
  }),
);

test("stretches in which nothing ran are cut, say how long they were, and can be shown", { skip }, () =>
  withPage(`/casts/${paused()}`, async (page) => {
    assert.equal(await byId(page, "timeline").getAttribute("data-cut"), "1");
    assert.match(await byId(page, "gap").textContent(), /^3:0\d:\d\d$/);
    await proportional(page);
    const short = await drawn(page);
    await byId(page, "gap").click();
    await page.waitForFunction(() => document.querySelector('[data-testid="timeline"]').dataset.cut === "0");
    assert.ok((await drawn(page)) - short > HOURS * 0.9);
    await byId(page, "cut-idle").click();
    await byId(page, "gap").waitFor();
  }),
);

test("what waits for a person is a bar of its own", { skip }, () =>
  withPage(`/casts/${ASKS}`, async (page) => {
    await byId(page, "rest-needs_you-merge").waitFor();
  }),
);

test("an event is reached by its number", { skip }, () =>
  withPage(`/casts/${DEMO}?dock=timeline`, async (page) => {
    await byId(page, "dock-events").click();
    await byId(page, "goto").fill("30");
    await page.keyboard.press("Enter");
    await showsEvent(page, 30);
    assert.match(await byId(page, "event-raw").textContent(), /Event 30/);
    await byId(page, "goto").fill("999999");
    assert.equal(await byId(page, "goto").getAttribute("aria-invalid"), "true");
  }),
);
