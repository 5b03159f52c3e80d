// The page of a cast: what it shows is what the log says, at every event (checks C1 to C16 of the design).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { byId, castIs, launch, showsEvent } from "./browser.mjs";
import { folded, isSame, shows } from "./fold.mjs";
import { ASKS, config, DEMO, FORK, SPENT, STALLS, skip, startStage } from "./stage.mjs";

let browser;
let stage;
before(async () => {
  if (skip) return;
  browser = await launch();
  const flood = "cat >/dev/null; while :; do head -c 1000 /dev/zero | tr '\\0' x; echo; done";
  const materia = { ...config.materia, Flood: { type: "utility", parse: "text", command: ["sh", "-c", flood] } };
  const loadouts = { ...config.loadouts, Flood: { entry: "go", sockets: { go: { materia: "Flood" } } } };
  stage = await startStage(undefined, { ...config, materia, loadouts });
});
after(async () => {
  await browser?.close();
  await stage?.stop();
});

async function withCast(path, run) {
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
/** A test with a cast of its own, whose builder is at its third turn: a rework of the second item. */
const withLive = (id, path, run) => async () => {
  const live = await stage.live(id);
  await live.step();
  await live.step();
  await withCast(path, (page) => run(page, live));
};
/** The page folds and shows what the server says. */
async function same(page, id, seq) {
  const state = folded(id, (await stage.events(id)).slice(0, seq));
  isSame(state, await stage.view(id, seq));
  await shows(page, state);
}
const seqShown = showsEvent;
const APPROVAL = "approved";
const commandsOf = async (id, type) => (await stage.events(id)).filter((event) => event.type === type);

test(
  "C1, C2: a live cast is followed event by event, and ends where the server ends",
  {
    skip,
  },
  withLive("followed", "/casts/followed", async (page, live) => {
    await seqShown(page, await live.seq());
    assert.equal(await byId(page, "card-Socket-2").getAttribute("data-state"), "running");
    await seqShown(page, await live.step());
    const last = await live.finish();
    await castIs(page, "Done");
    await same(page, live.id, last);
    for (const seq of [2, 9, 17, 26, 31, 44, 45, 58, last - 1]) {
      await page.goto(`${stage.url}/casts/${live.id}?at=${seq}`);
      await same(page, live.id, seq);
    }
  }),
);

test("C3: a lost connection is told, and nothing is missing or doubled afterwards", { skip }, async () => {
  const live = await stage.live("lost", { apart: true });
  await live.step();
  await withCast("/casts/lost?dock=events", async (page) => {
    await seqShown(page, await live.seq());
    await stage.kill();
    await byId(page, "banner-offline").waitFor({ timeout: 20_000 });
    // The cast goes on while nobody can be asked about it.
    const last = await live.step(() => stage.up());
    await seqShown(page, last);
    await byId(page, "banner-offline").waitFor({ state: "detached" });
    const rows = await page
      .locator('[data-testid^="row-"]')
      .evaluateAll((all) => all.map((one) => Number(one.dataset.testid.slice(4))));
    assert.equal(new Set(rows).size, rows.length);
    assert.equal(Math.max(...rows), last);
    await same(page, live.id, last);
  });
});

test(
  "C4: a hidden tab is current when it is looked at",
  {
    skip,
  },
  withLive("hidden", "/casts/hidden", async (page, live) => {
    await seqShown(page, await live.seq());
    const other = await page.context().newPage();
    await other.bringToFront();
    const last = await live.step();
    await page.bringToFront();
    await seqShown(page, last);
    await other.close();
  }),
);

test("C5: going back shows everything as of that event, and Live returns", { skip }, () =>
  withCast(`/casts/${DEMO}`, async (page) => {
    const last = (await stage.view(DEMO)).lastSeq;
    await seqShown(page, last);
    await byId(page, "scrub").fill("30");
    await seqShown(page, 30);
    await page.waitForURL(/[?&]at=30/);
    assert.match(await byId(page, "where").textContent(), /Viewing event 30 of/);
    const view = await stage.view(DEMO, 30);
    assert.equal(Number(await byId(page, "total-tokens").getAttribute("data-value")), view.usage.tokens);
    assert.equal(await byId(page, "stop").count(), 0);
    assert.equal(await byId(page, "fork").count(), 1);
    await page.keyboard.press("]");
    await seqShown(page, 31);
    await byId(page, "live").click();
    await seqShown(page, last);
    await page.waitForURL((url) => !url.searchParams.has("at"));
  }),
);

test("C7: filters of events survive a reload and show what the server counts", { skip }, () =>
  withCast(`/casts/${DEMO}?dock=events`, async (page) => {
    await byId(page, "events-kind").selectOption("handoff");
    await byId(page, "events-node").selectOption("Socket-3");
    await byId(page, "events-text").fill("french");
    await page.waitForFunction(() => location.search.includes("find=french"));
    await page.reload();
    await page.waitForFunction(() =>
      /^\d+ of/.test(document.querySelector('[data-testid="events-count"]')?.textContent ?? ""),
    );
    const count = Number(/^\d+/.exec(await byId(page, "events-count").textContent())[0]);
    const wanted = (await stage.events(DEMO)).filter(
      (event) =>
        event.type === "handoff.sent" &&
        event.nodeId === "Socket-3" &&
        JSON.stringify(event).toLowerCase().includes("french"),
    );
    assert.equal(count, wanted.length);
    assert.ok(count > 0);
    assert.equal(await page.locator('[data-testid^="row-"]').count(), count);
  }),
);

test("C8, C10: the input is the prompt, layer by layer, and has the reason of the rework", { skip }, () =>
  withCast(`/casts/${DEMO}?socket=Socket-2&turn=44&tab=input`, async (page) => {
    const begun = (await stage.events(DEMO))[43].data;
    await byId(page, "prompt-layers").waitFor();
    const layers = await page
      .locator('[data-testid^="layer-"] pre')
      .evaluateAll((all) => all.map((one) => one.textContent));
    assert.equal(layers.join(""), begun.prompt);
    assert.ok((await byId(page, "layer-tick").textContent()).includes("the option must not be taken for the name"));
    assert.match(await byId(page, "reason-mark").first().textContent(), /the option must not be taken/);
    await byId(page, "seg-raw").click();
    assert.equal(await byId(page, "prompt-raw").evaluate((one) => one.textContent), begun.prompt);
    await byId(page, "seg-diff").click();
    await page.locator("ins").first().waitFor();
  }),
);

test("C9: why names who sent it and links to the event", { skip }, () =>
  withCast(`/casts/${DEMO}?socket=Socket-2&tab=why`, async (page) => {
    await byId(page, "why-sentence").waitFor();
    const text = await byId(page, "why-sentence").textContent();
    assert.match(text, /Checkpoint completed/);
    await page.locator('[data-testid="why-sentence"] .linked_jump').first().click();
    await page.waitForFunction(() => /at=\d+/.test(location.search));
  }),
);

test("C9: why tells the line of a rework: who, on which condition, the how-manieth of how many", { skip }, () =>
  withCast(`/casts/${DEMO}?socket=Socket-2&turn=44&tab=why`, async (page) => {
    await byId(page, "arrivals").waitFor();
    assert.match(
      await byId(page, "arrivals").textContent(),
      /Auto-Eval, not satisfied: 1 of 3 traversals for Greet in French/,
    );
    await byId(page, "arrivals").locator(".linked_jump").click();
    await page.waitForFunction(() => location.search.includes("at=41"));
  }),
);

test(
  "C11: an approval is in the inbox and the banner; pressing twice approves once; another page sees it",
  { skip },
  () =>
    withCast(`/casts/${stage.make(ASKS, APPROVAL)}`, async (page) => {
      await byId(page, "banner").waitFor();
      const second = await page.context().newPage();
      await second.goto(`${stage.url}/casts/${APPROVAL}`);
      await byId(second, "banner").waitFor();
      const third = await page.context().newPage();
      await third.goto(`${stage.url}/inbox`);
      await byId(third, `inbox-${APPROVAL}`).waitFor();
      await page.goto(`${stage.url}/inbox`);
      const card = byId(page, `inbox-${APPROVAL}`);
      await card.waitFor();
      assert.equal(
        await card
          .locator('[data-testid="argv"] code')
          .allTextContents()
          .then((all) => all.join(" ")),
        "git merge --ff-only greet",
      );
      await card.locator('[data-testid="approve"]').dblclick();
      await card.waitFor({ state: "detached" });
      assert.equal((await commandsOf(APPROVAL, "approval.given")).length, 1);
      await byId(second, "banner").waitFor({ state: "detached" });
      // Whoever had it open sees that it was answered, and has nothing left to press.
      await byId(third, `gone-${APPROVAL}`).getByText("Answered elsewhere").waitFor();
      assert.equal(await byId(third, `gone-${APPROVAL}`).getByRole("button").count(), 0);
      assert.equal(await byId(page, `gone-${APPROVAL}`).count(), 0);
    }),
);

test("C12: a stall shows two outputs that are the same", { skip }, () =>
  withCast(`/casts/${STALLS}`, async (page) => {
    assert.equal(await byId(page, "card-coder").getAttribute("data-state"), "stalled");
    await byId(page, "banner-act").click();
    const card = byId(page, `inbox-${STALLS}`);
    await card.locator("figure pre").nth(1).waitFor();
    const texts = await card.locator("figure pre").allTextContents();
    assert.equal(texts.length, 2);
    assert.equal(texts[0], texts[1]);
    assert.ok(texts[0].length > 0);
    assert.equal(await card.locator(".parts_tag").count(), 2);
  }),
);

test("C12: stopping an item ends that item and no other", { skip }, async () => {
  const id = "stopped";
  // The judge of the second item waits for a person, so that no turn is under way.
  stage.make(SPENT, id);
  await withCast(`/casts/${id}`, async (page) => {
    await byId(page, "stop").click();
    await byId(page, "skip-reason").fill("not worth it");
    assert.match(
      await byId(page, "stop-item-part").textContent(),
      new RegExp(`materia -C \\S+ skip ${id} workItems --reason 'not worth it'`),
    );
    await byId(page, "skip").click();
    await page.waitForFunction(
      () => document.querySelector('[data-testid="item-WI-2"]')?.getAttribute("data-state") === "aborted",
    );
    const [skipped] = await commandsOf(id, "item.skipped");
    assert.deepEqual([skipped.data.loop, skipped.data.reason], ["workItems", "not worth it"]);
    const states = await page
      .locator('[data-testid^="item-WI-"]')
      .evaluateAll((all) => all.map((one) => one.dataset.state));
    assert.equal(states[0], "done");
    assert.notEqual(states[2], "aborted");
    await same(page, id, (await stage.view(id)).lastSeq);
  });
  // As long as an item is at work, it cannot be stopped.
  const live = await stage.live("busy");
  await withCast(`/casts/${live.id}`, async (page) => {
    await byId(page, "card-Socket-2").and(page.locator('[data-state="running"]')).waitFor();
    await byId(page, "stop").click();
    assert.equal(await byId(page, "skip").isDisabled(), true);
  });
});

test("C13: the sum of the costs is the head's and the server's, for every recorded cast", { skip }, () =>
  withCast(`/casts/${DEMO}?dock=cost`, async (page) => {
    for (const { castId: id, lastSeq } of (await stage.get("/casts")).items) {
      await page.goto(`${stage.url}/casts/${id}?dock=cost`);
      await byId(page, "cost-total").waitFor();
      await seqShown(page, lastSeq);
      const value = async (name) => Number(await byId(page, name).getAttribute("data-value"));
      const rows = await page.locator('[data-testid="cost"] tbody tr td:nth-last-child(3)').allTextContents();
      const sum = rows.reduce((total, text) => total + Number(text.replaceAll(",", "")), 0);
      const view = await stage.view(id);
      assert.equal(sum, view.usage.tokens);
      assert.equal(await value("cost-tokens"), view.usage.tokens);
      assert.equal(await value("total-tokens"), view.usage.tokens);
      assert.equal(await value("cost-total"), await value("total-cost"));
    }
  }),
);

test("C13: and at fifty events of casts, picked by lot", { skip }, () =>
  withCast(`/casts/${DEMO}?dock=cost`, async (page) => {
    const ids = [DEMO, FORK, ASKS, STALLS, SPENT];
    const casts = new Map((await stage.get("/casts")).items.map((one) => [one.castId, one.lastSeq]));
    let seed = 20261115;
    const lot = (below) => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return seed % below;
    };
    for (let n = 0; n < 50; n += 1) {
      const id = ids[lot(ids.length)];
      const seq = 1 + lot(casts.get(id));
      await page.evaluate((to) => {
        history.pushState(null, "", to);
        dispatchEvent(new PopStateEvent("popstate"));
      }, `/casts/${id}?at=${seq}&dock=cost`);
      await page.locator(`[data-testid="cast-page"][data-cast="${id}"][data-seq="${seq}"]`).waitFor();
      const view = await stage.view(id, seq);
      const value = async (name) => Number(await byId(page, name).getAttribute("data-value"));
      const rows = await page.locator('[data-testid="cost"] tbody tr td:nth-last-child(3)').allTextContents();
      const where = `${id} at ${seq}`;
      assert.equal(
        rows.reduce((total, text) => total + Number(text.replaceAll(",", "")), 0),
        view.usage.tokens,
        where,
      );
      assert.equal(await value("total-tokens"), view.usage.tokens, where);
      assert.ok(Math.abs((await value("cost-total")) - (view.usage.cost ?? 0)) < 1e-9, where);
      assert.equal(await value("cost-total"), await value("total-cost"), where);
    }
  }),
);

test("C14: a fork at an event is a new cast; the old one is not touched; compare tells them apart", { skip }, () =>
  withCast(`/casts/${DEMO}?at=30`, async (page) => {
    await seqShown(page, 30);
    const before = (await stage.view(DEMO)).lastSeq;
    await byId(page, "fork").click();
    assert.match(
      await page.locator('.pop_pop [data-testid="cli"]').textContent(),
      new RegExp(`materia -C \\S+ fork ${DEMO} --at 30`),
    );
    await byId(page, "fork-confirm").click();
    await byId(page, "compare-link").waitFor();
    assert.ok(!page.url().includes(`/casts/${DEMO}?`), page.url());
    assert.equal((await stage.view(DEMO)).lastSeq, before);
    await page.goto(`${stage.url}/casts/${DEMO}/compare/${FORK}`);
    await byId(page, "compare-page").waitFor();
    assert.match(await byId(page, "compare-sentence").textContent(), /\d+ of \d+ turns since the fork differ/);
    await page.getByText("only A").first().waitFor();
  }),
);

test("C15: bars of the timeline are as wide as turns were long; fewer attempts rescale it", { skip }, () =>
  withCast(`/casts/${DEMO}`, async (page) => {
    await byId(page, "timeline").waitFor();
    const measure = () =>
      page.evaluate(() => {
        const box = document.querySelector('[data-testid="timeline"]');
        const total = Number(box.dataset.drawn);
        const lane = box.querySelector(".cast_lane").getBoundingClientRect().width;
        return [...box.querySelectorAll("[data-ms]")].map((bar) => ({
          got: bar.getBoundingClientRect().width,
          wanted: (Number(bar.dataset.ms) / total) * lane,
        }));
      });
    const bars = await measure();
    assert.equal(bars.length, 12);
    for (const bar of bars) assert.ok(Math.abs(bar.got - Math.max(3, bar.wanted)) <= 2, JSON.stringify(bar));
    await byId(page, "seg-last").click();
    await page.waitForFunction(() => document.querySelectorAll("[data-ms]").length === 10);
    for (const bar of await measure()) assert.ok(Math.abs(bar.got - Math.max(3, bar.wanted)) <= 2, JSON.stringify(bar));
  }),
);

test("C16: a flood of output is cut with its true count, and the page still answers", { skip }, async (t) => {
  const id = "flood";
  await stage.get("/casts", { loadout: "Flood", request: "Flood", castId: id });
  await withCast(`/casts/${id}?socket=go&tab=now`, async (page) => {
    await page.evaluate(() => {
      window.__delays = [];
      addEventListener("keydown", (event) => window.__delays.push(performance.now() - event.timeStamp), true);
    });
    // More lines than the page keeps: the first ones go, and all of them are counted.
    await byId(page, "truncated").waitFor({ timeout: 60_000 });
    for (let n = 0; n < 16; n += 1) await page.keyboard.press("Shift");
    const delays = (await page.evaluate(() => window.__delays)).sort((a, b) => a - b);
    assert.equal(delays.length, 16);
    t.diagnostic(`keys were heard after ${delays[8].toFixed(1)} ms, the slowest after ${delays[15].toFixed(1)} ms`);
    const { count, kept } = await byId(page, "panel-now").evaluate((panel) => ({
      count: Number(/([\d,]+) characters/.exec(panel.textContent)[1].replaceAll(",", "")),
      kept: (panel.textContent.match(/x/g) ?? []).length,
    }));
    assert.ok(count > kept && kept <= 60_000, `${count} characters arrived, ${kept} are shown`);
    assert.match(await byId(page, "truncated").textContent(), /the first [\d,]+ lines are not shown/);
    await byId(page, "tab-why").click();
    await byId(page, "why-sentence").waitFor();
  });
});

test(
  "acts show the command line that they equal, and say what followed",
  {
    skip,
  },
  withLive("acted", "/casts/acted", async (page, live) => {
    await byId(page, "pause").click();
    await byId(page, "did").waitFor();
    assert.match(await byId(page, "did").textContent(), new RegExp(`materia -C \\S+ pause ${live.id}`));
    await byId(page, "resume").waitFor();
    await byId(page, "guide").click();
    await byId(page, "guide-text").fill("Fix the fixture, not the parser");
    assert.match(
      await page.locator('.pop_pop [data-testid="cli"]').textContent(),
      /materia -C \S+ say .* 'Fix the fixture, not the parser'/,
    );
    await byId(page, "guide-confirm").click();
    await stage.until(async () => (await commandsOf(live.id, "message.received")).length === 1, "it was told");
    const [told] = await commandsOf(live.id, "message.received");
    assert.equal(told.data.text, "Fix the fixture, not the parser");
    await byId(page, "budget-act").click();
    await byId(page, "set-maxTurns").fill("55");
    assert.match(
      await page.locator('.pop_pop [data-testid="cli"]').textContent(),
      /materia -C \S+ budget .* --max-turns 55/,
    );
    await byId(page, "budget-act-confirm").click();
    await stage.until(async () => (await stage.view(live.id)).budget.maxTurns === 55, "the budget is changed");
    await byId(page, "card-Socket-2").focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => document.activeElement?.dataset.socket === "Socket-3");
    await byId(page, "stop").click();
    await byId(page, "stop-confirm").click();
    await page.waitForFunction(() => document.querySelector('[data-testid="cast-state"]')?.textContent === "Aborted");
  }),
);

test(
  "what somebody writes to a socket stays, and stays for it, while the cast goes on",
  {
    skip,
  },
  withLive("written", "/casts/written", async (page, live) => {
    await byId(page, "card-Socket-2").and(page.locator('[data-state="running"]')).waitFor();
    await byId(page, "guide").click();
    await byId(page, "guide-text").fill("Mind the option");
    await seqShown(page, await live.step());
    assert.equal(await byId(page, "guide-text").inputValue(), "Mind the option");
    await byId(page, "guide-confirm").click();
    await stage.until(async () => (await commandsOf(live.id, "message.received")).length === 1, "it was told");
    const [told] = await commandsOf(live.id, "message.received");
    assert.deepEqual([told.nodeId, told.data.text], ["Socket-2", "Mind the option"]);
  }),
);

test("a start from the launch sheet leads to the new cast", { skip }, () =>
  withCast(`/casts/${DEMO}`, async (page) => {
    await page.goto(`${stage.url}/casts?new=1`);
    await byId(page, "request").fill("Say hello");
    await byId(page, "loadout-Demo").check();
    await byId(page, "provider").selectOption("mock");
    assert.match(
      await page.locator('.launch_launch [data-testid="cli"]').textContent(),
      /materia -C \S+ cast --loadout Demo --provider mock 'Say hello'/,
    );
    await page.keyboard.press("Control+Enter");
    await byId(page, "cast-page").waitFor();
    const [newest] = (await stage.get("/casts")).items;
    assert.equal(newest.request, "Say hello");
    assert.ok(new URL(page.url()).pathname.endsWith(newest.castId), page.url());
  }),
);
