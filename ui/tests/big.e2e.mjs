// Large things, and how fast they are: casts of a hundred and of fifty thousand events, a graph of two hundred sockets, a cast at two
// hundred events a second, a list of a thousand casts. Times are printed; what is asserted does not depend on the machine.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { byId, launch, showsEvent } from "./browser.mjs";
import { page as fold, isSame, shows } from "./fold.mjs";
import { skip, startStage } from "./stage.mjs";

const EVENTS = 100_000;
/** How many events a cast has whose speed is measured. */
const MEASURED = 50_000;
/** How many events one item of the loop makes. */
const OF_ITEM = 7;
/** Loops beside each other make events faster than one does. */
const BRANCHES = ["b0", "b1", "b2", "b3"];
const RATE = 200;
const CASTS = 1000;
const options = { skip, timeout: 900_000 };
const writer = (id) => ({ materia: "Writer", advance: { cursor: id, when: "always" }, edges: [{ to: id }] });
const loop = (id) => ({ sockets: [id], consumes: { from: "plan", output: "workItems" } });
const each = (make) => Object.fromEntries(BRANCHES.map((id) => [id, make(id)]));
const wide = Object.fromEntries(
  Array.from({ length: 200 }, (_, n) => [
    `s${n}`,
    {
      materia: n % 10 === 9 ? "Reader" : "Writer",
      edges: [
        ...(n % 10 === 9 ? [{ when: "not_satisfied", to: `s${n - 4}`, maxTraversals: 2 }] : []),
        ...(n < 199 ? [{ to: `s${n + 1}` }] : []),
      ],
    },
  ]),
);
const config = {
  activeLoadout: "Long",
  artifactDir: ".materia",
  loadouts: {
    Long: {
      entry: "plan",
      sockets: { plan: { materia: "Lister", edges: [{ to: "build" }] }, build: writer("build") },
      loops: { items: loop("build") },
    },
    Fast: {
      entry: "plan",
      sockets: {
        plan: { materia: "Lister", routing: "all", edges: BRANCHES.map((to) => ({ to })) },
        ...each(writer),
      },
      loops: Object.fromEntries(BRANCHES.map((id) => [`items of ${id}`, loop(id)])),
    },
    Wide: { entry: "s0", sockets: wide },
    One: { entry: "go", sockets: { go: { materia: "Writer" } } },
  },
  materia: {
    Lister: { prompt: "List.", generator: true },
    Writer: { prompt: "Write." },
    Reader: { prompt: "Read.", parse: "json" },
  },
};
const usage = { inputTokens: 100, outputTokens: 10, cost: 0.001 };
/** A list of so many items, and an answer for each after so many milliseconds. */
const script = (count, delayMs) => ({
  turns: {
    plan: [
      { json: { workItems: Array.from({ length: count }, (_, n) => ({ title: `Item ${n + 1}`, context: "c" })) } },
    ],
    ...Object.fromEntries(["build", ...BRANCHES].map((id) => [id, [{ text: "Done.", delayMs, usage }]])),
  },
  repeatLast: true,
});

let browser;
let stage;
before(async () => {
  if (skip) return;
  browser = await launch();
  stage = await startStage([], config);
  // What is run once with trust, the server may run.
  stage.cast("small", "One", "Small", { turns: { go: [{ text: "Done." }] } });
});
after(async () => {
  await browser?.close();
  await stage?.stop();
});

/** A page that waits longer: large things take their time on a machine that is busy. */
async function opened(path) {
  const page = await stage.page(browser, path);
  page.setDefaultTimeout(180_000);
  return page;
}
/** Milliseconds from the beginning of a navigation until something is in the page, by the page's own clock. */
async function firstSeen(page, address, id) {
  await page.goto(address, { waitUntil: "commit" });
  const handle = await page.waitForFunction(
    (name) => (document.querySelector(`[data-testid="${name}"]`) ? Math.round(performance.now()) : 0),
    id,
    { polling: "raf" },
  );
  return handle.jsonValue();
}
/** The heap after what nobody holds was taken away. */
async function heapOf(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  return async () => {
    await session.send("HeapProfiler.collectGarbage");
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find((one) => one.name === "JSHeapUsedSize").value;
  };
}

/** The processor time that the page's own thread has used, in milliseconds: what else the machine does is not in it. */
async function threadOf(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find((one) => one.name === "TaskDuration").value * 1000;
  };
}

/** Notes how long each frame took until it is asked. */
async function framesOf(page, act) {
  await page.evaluate(() => {
    window.__frames = [];
    let last = 0;
    const step = (now) => {
      if (last) window.__frames.push(now - last);
      last = now;
      window.__tick = requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
  await act();
  return page.evaluate(() => {
    cancelAnimationFrame(window.__tick);
    return window.__frames.sort((a, b) => a - b);
  });
}
const at = (list, share) => list[Math.min(list.length - 1, Math.floor(list.length * share))];

test("C6: a hundred thousand events open at their end, with few rows in the page", options, async (t) => {
  stage.cast("long", "Long", "go", script(Math.ceil(EVENTS / OF_ITEM), 0));
  const { lastSeq } = await stage.view("long");
  assert.ok(lastSeq >= EVENTS, String(lastSeq));
  const page = await opened("/settings");
  const empty = await firstSeen(page, `${stage.url}/settings`, "settings-page");
  const first = await firstSeen(page, `${stage.url}/casts/long?dock=events`, `row-${lastSeq}`);
  t.diagnostic(`first rows of ${lastSeq} events after ${first} ms; a page without a cast: ${empty} ms`);
  const rows = () => page.locator(".cast_evrow").count();
  assert.ok((await rows()) <= 120, String(await rows()));
  const heap = await heapOf(page);
  const before = await heap();
  const list = page.locator(".cast_evlist");
  for (const share of [0.75, 0.5, 0.25, 0, 0.5, 1]) {
    await list.evaluate((one, place) => one.scrollTo(0, (one.scrollHeight - one.clientHeight) * place), share);
    await page.waitForFunction(
      () =>
        document.querySelectorAll('.cast_evrow:not(.cast_evhead)[data-testid="row-empty"]').length === 0 &&
        document.querySelectorAll(".cast_evrow").length > 3,
    );
    assert.ok((await rows()) <= 120);
  }
  const grown = (await heap()) - before;
  t.diagnostic(`the heap grew by ${Math.round(grown / 1024)} KiB`);
  assert.ok(grown < 30 * 1024 * 1024, `the heap grew by ${grown} bytes`);
  await page.goto(`${stage.url}/casts/long?at=50000`);
  const view = await stage.view("long", 50_000);
  const from = await stage.view("long", 49_600);
  const rest = (await stage.get("/casts/long/events?order=asc&limit=1000&from=49601&to=50000")).items;
  const state = fold.fold(fold.fromView(from), rest);
  isSame(state, view);
  await shows(page, state);
  assert.equal(Number(await byId(page, "total-tokens").getAttribute("data-value")), view.usage.tokens);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("a long cast opens with its graph, and each event that is scrubbed to is shown", options, async (t) => {
  stage.cast("half", "Long", "go", script(Math.ceil(MEASURED / OF_ITEM), 0));
  const { lastSeq } = await stage.view("half");
  assert.ok(lastSeq >= MEASURED, String(lastSeq));
  const page = await opened("/settings");
  const used = await threadOf(page);
  const before = await used();
  await page.goto(`${stage.url}/casts/half`, { waitUntil: "commit" });
  const drawing = await page.waitForFunction(
    () => {
      const { responseStart } = performance.getEntriesByType("navigation")[0];
      const asked = performance.getEntriesByType("resource").filter((one) => /\/api\/casts\/half/.test(one.name));
      const card = document.querySelector('[data-testid="card-build"]');
      if (!card) return null;
      const answered = asked.find((one) => one.responseStart > 0)?.responseStart ?? 0;
      const last = Math.max(...asked.map((one) => one.responseEnd));
      return [responseStart, answered, last, performance.now()].map(Math.round);
    },
    null,
    { polling: "raf" },
  );
  const [byte, answered, last, drawn] = await drawing.jsonValue();
  t.diagnostic(
    `graph of ${lastSeq} events drawn ${drawn - byte} ms after the first byte of the page, ${drawn - answered} ms after that of the cast, ${drawn - last} ms after its last answer; processor time of the page's thread: ${Math.round((await used()) - before)} ms`,
  );
  await byId(page, "scrub").waitFor();
  // As a hand does that pulls the handle: one event further at each frame.
  const scrub = (from, steps) =>
    page.evaluate(
      ([first, count]) =>
        new Promise((done) => {
          const input = document.querySelector('[data-testid="scrub"]');
          const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
          const seen = new Set();
          const began = performance.now();
          let n = 0;
          const step = () => {
            seen.add(document.querySelector('[data-testid="cast-page"]').dataset.seq);
            if (n === count) return done({ shown: seen.size, ms: performance.now() - began });
            set.call(input, String(first + n));
            input.dispatchEvent(new Event("input", { bubbles: true }));
            n += 1;
            requestAnimationFrame(step);
          };
          step();
        }),
      [from, steps],
    );
  await scrub(20_000, 2);
  await showsEvent(page, 20_001);
  const began = await used();
  const pulled = await scrub(20_010, 150);
  const each = ((await used()) - began) / 150;
  await showsEvent(page, 20_159);
  t.diagnostic(
    `scrubbed 150 events in ${Math.round(pulled.ms)} ms: ${((150 / pulled.ms) * 1000).toFixed(0)} frames/s; processor time of the page's thread: ${each.toFixed(1)} ms a frame, which allows ${(1000 / each).toFixed(0)} frames/s`,
  );
  // Events of a stretch that was read are shown as they are passed.
  assert.ok(pulled.shown > 100, `${pulled.shown} events were shown`);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("at two hundred events a second the page answers, and what rests is not drawn again", options, async (t) => {
  const file = join(stage.project, "..", "fast.json");
  // A turn takes longer than its delay, so that the delay is shorter than the rate asks for.
  stage.writeScript(file, script(5000, Math.round((0.7 * 1000 * OF_ITEM * BRANCHES.length) / RATE)));
  await stage.get("/casts", { loadout: "Fast", request: "Fast", castId: "fast", script: file });
  const page = await opened("/settings");
  await page.goto(`${stage.url}/casts/fast?socket=b0`);
  await page.locator('[data-testid="card-plan"][data-state="done"]').waitFor();
  await page.evaluate(() => {
    window.__redraws = 0;
    window.__delays = {};
    const card = document.querySelector('[data-testid="card-plan"]');
    const watch = { subtree: true, childList: true, attributes: true, characterData: true };
    new MutationObserver((all) => {
      window.__redraws += all.length;
    }).observe(card, watch);
    // An interaction is as slow as the slowest of its events.
    const note = (list) => {
      for (const { interactionId, duration } of list.getEntries())
        if (interactionId) window.__delays[interactionId] = Math.max(window.__delays[interactionId] ?? 0, duration);
    };
    new PerformanceObserver(note).observe({ type: "event", durationThreshold: 16, buffered: true });
  });
  const first = await stage.view("fast");
  const used = await threadOf(page);
  const before = await used();
  const began = Date.now();
  let pressed = 0;
  const frames = await framesOf(page, async () => {
    for (const end = Date.now() + 6000; Date.now() < end; pressed += 2) {
      await byId(page, "dock-events").click();
      await byId(page, "dock-timeline").click();
    }
  });
  const busy = ((await used()) - before) / (Date.now() - began);
  const rate = ((await stage.view("fast")).lastSeq - first.lastSeq) / ((Date.now() - began) / 1000);
  const { delays, redraws } = await page.evaluate(() => ({
    delays: Object.values(window.__delays).sort((a, b) => a - b),
    redraws: window.__redraws,
  }));
  const inp = delays.length > 0 ? at(delays, 0.98) : 16;
  t.diagnostic(
    `${rate.toFixed(0)} events/s; ${pressed} presses, INP ${inp} ms (middle ${delays.length > 0 ? at(delays, 0.5) : 16} ms); the page's thread uses ${Math.round(busy * 100)} of 100 of a processor; frames: middle ${at(frames, 0.5).toFixed(1)} ms, 95 of 100 within ${at(frames, 0.95).toFixed(1)} ms`,
  );
  assert.ok(pressed > 0, String(pressed));
  // Each event draws its own card; one that rests may be drawn once more at the beginning, not at each event.
  assert.ok(redraws < 5, `a card that rests was drawn again ${redraws} times`);
  await stage.get("/casts/fast/commands", { do: "abort" });
  const { lastSeq } = await stage.view("fast");
  await showsEvent(page, lastSeq);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("a thousand casts in the list scroll without a gap", options, async (t) => {
  const file = join(stage.project, "..", "one.json");
  stage.writeScript(file, { turns: { go: [{ text: "Done." }] }, repeatLast: true });
  for (let n = 0; n < CASTS; n += 1)
    await stage.get("/casts", { loadout: "One", request: `Cast ${n}`, castId: `c${n}`, script: file });
  const page = await opened("/casts");
  await byId(page, "casts-page").waitFor();
  const rows = page.locator('[data-testid="group-Recent"] tr[data-testid^="cast-"]');
  const more = page.getByRole("button", { name: "Show older casts" });
  while ((await rows.count()) < CASTS) {
    const before = await rows.count();
    await more.click();
    await page.waitForFunction(
      (count) => document.querySelectorAll('[data-testid="group-Recent"] tr[data-testid^="cast-"]').length > count,
      before,
    );
  }
  const used = await threadOf(page);
  const began = await used();
  const frames = await framesOf(page, () =>
    page.evaluate(async () => {
      let box = document.querySelector("table.casts_list");
      while (box.scrollHeight <= box.clientHeight || getComputedStyle(box).overflowY === "visible")
        box = box.parentElement;
      window.__gaps = 0;
      for (let top = 0; top < box.scrollHeight; top += box.clientHeight / 2) {
        box.scrollTo(0, top);
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        // What is in the middle of the box is a row.
        const { left, top: y, width, height } = box.getBoundingClientRect();
        const hit = document.elementFromPoint(left + width / 2, y + height / 2);
        if (!hit?.closest("tr")) window.__gaps += 1;
      }
    }),
  );
  t.diagnostic(
    `${frames.length} frames, the middle ${at(frames, 0.5).toFixed(1)} ms, 95 of 100 within ${at(frames, 0.95).toFixed(1)} ms, the longest ${frames.at(-1).toFixed(1)} ms; processor time of the page's thread: ${(((await used()) - began) / frames.length).toFixed(1)} ms a frame`,
  );
  assert.equal(await page.evaluate(() => window.__gaps), 0);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("two hundred sockets are drawn apart, and the page draws only those that are seen", options, async (t) => {
  const file = join(stage.project, "..", "wide.json");
  stage.writeScript(file, { turns: { s0: [{ text: "Done.", delayMs: 600_000 }] } });
  await stage.get("/casts", { loadout: "Wide", request: "Wide", castId: "wide", script: file });
  const page = await opened("/casts/wide");
  await byId(page, "card-s0").waitFor();
  assert.ok((await page.locator(".graph_card").count()) < 60);
  // Back and forth for a while, with a little zoom: what a hand does.
  const frames = await framesOf(page, async () => {
    const until = Date.now() + 4000;
    for (let way = 1; Date.now() < until; way = -way) {
      // There and back by as much: what drifts is out of sight on a machine that is fast enough.
      await page.mouse.move(600 + way * 250, 350 - way * 5);
      await page.mouse.down();
      await page.mouse.move(600 - way * 250, 350 + way * 5, { steps: 30 });
      await page.mouse.up();
      await page.mouse.move(600, 350);
      await page.mouse.wheel(0, way * 60);
    }
  });
  t.diagnostic(`${frames.length} frames, 95 of 100 within ${at(frames, 0.95).toFixed(1)} ms`);
  assert.ok((await page.locator(".graph_card").count()) > 0);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});
