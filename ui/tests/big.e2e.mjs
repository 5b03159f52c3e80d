// Large things: a cast of a hundred thousand events, a graph of two hundred sockets (check C6 and the bounds).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { loadCasts } from "../dev/fixture-casts.mjs";
import { startFixtures } from "../dev/server.mjs";
import { byId, launch, open } from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

/** Two sockets that hand each other work, for as long as is asked for. */
function longCast(count) {
  const model = loadCasts().get("20261115T123108-c0ffee");
  const events = structuredClone(model.events.slice(0, 2));
  const push = (type, nodeId, data) => {
    const seq = events.length + 1;
    const ts = events[0].ts + seq * 100_000;
    events.push({
      seq,
      id: `e${seq}`,
      runId: "long",
      ts,
      wallTime: new Date(ts / 1000).toISOString(),
      type,
      ...(nodeId ? { nodeId } : {}),
      data,
    });
    return seq;
  };
  let visit = 0;
  while (events.length < count - 8) {
    visit += 1;
    for (const [from, to] of [
      ["coder", "tester"],
      ["tester", "coder"],
    ]) {
      const turn = push("turn.started", from, {
        visit,
        attempt: 1,
        item: null,
        cause: { kind: "input" },
        consumed: [`p${visit}${from}`],
        prompt: `Visit ${visit}`,
        layers: [],
      });
      push("turn.completed", from, {
        turn,
        visit,
        attempt: 1,
        output: `Answer ${visit} of ${from}`,
        usage: { inputTokens: 100, outputTokens: 10, cost: 0.001 },
      });
      push("route.selected", from, { turn, edgeId: `${from}->${to}`, to });
      push("handoff.sent", from, {
        payloadId: `p${visit}${to}`,
        edgeId: `${from}->${to}`,
        to,
        turn,
        kind: "message",
        preview: `Answer ${visit}`,
      });
      push("payload.delivered", to, { payloadId: `p${visit}${to}`, edgeId: `${from}->${to}` });
      push("payload.consumed", to, { payloadId: `p${visit}${to}` });
    }
  }
  while (events.length < count - 1) push("storage.measured", null, { usedMb: 1, freeMb: 1, floorMb: 1 });
  push("run.completed", null, {});
  return { ...model, id: "long", events, all: events, state: null };
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

test("C6: a hundred thousand events open at their end, with few rows in the page", async (t) => {
  const server = await startFixtures({ extra: [longCast(100_000)] });
  const page = await open(browser, server.link);
  const empty = await firstSeen(page, `${server.url}/settings`, "settings-page");
  const first = await firstSeen(page, `${server.url}/casts/long?dock=events`, "row-100000");
  t.diagnostic(`first rows after ${first} ms; a page without a cast: ${empty} ms; ${(first / empty).toFixed(1)} times`);
  // 1.5 s where the machine has nothing else to do; where a page without a cast is slow, too, as many times that.
  assert.ok(first <= Math.max(1500, 16 * empty), `first rows after ${first} ms`);
  const rows = () => page.locator(".evrow").count();
  assert.ok((await rows()) <= 120, String(await rows()));
  const heap = await heapOf(page);
  const before = await heap();
  const list = page.locator(".evlist");
  for (const share of [0.75, 0.5, 0.25, 0, 0.5, 1]) {
    await list.evaluate((one, at) => one.scrollTo(0, (one.scrollHeight - one.clientHeight) * at), share);
    await page.waitForFunction(
      () =>
        document.querySelectorAll('.evrow:not(.evhead)[data-testid="row-empty"]').length === 0 &&
        document.querySelectorAll(".evrow").length > 3,
    );
    assert.ok((await rows()) <= 120);
  }
  const grown = (await heap()) - before;
  t.diagnostic(`the heap grew by ${Math.round(grown / 1024)} KiB`);
  assert.ok(grown < 30 * 1024 * 1024, `the heap grew by ${grown} bytes`);
  await page.goto(`${server.url}/casts/long?at=50000`);
  await page.waitForFunction(() => window.__state?.seq === 50_000);
  const view = await page.evaluate(async () =>
    (
      await fetch("/api/casts/long?at=50000", { headers: { "X-Materia-Key": localStorage.getItem("materia.key") } })
    ).json(),
  );
  const state = await page.evaluate(() => ({
    usage: window.__state.usage,
    visits: window.__state.visits,
    edges: Object.fromEntries(Object.entries(window.__state.edges).map(([id, edge]) => [id, edge.taken])),
  }));
  assert.equal(state.usage.turns, view.usage.turns);
  assert.equal(state.usage.tokens, view.usage.tokens);
  for (const socket of view.sockets) assert.equal(state.visits[socket.socket], socket.visits);
  for (const edge of view.edges) assert.equal(state.edges[edge.id], edge.taken);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
  await server.close();
});

test("two hundred sockets are drawn apart, and the page draws only those that are seen", async (t) => {
  const model = loadCasts().get("20261115T123108-c0ffee");
  const cast = { ...structuredClone(model), id: "wide", state: null };
  const plan = cast.events[0].data.plan;
  const pattern = plan.nodes.coder;
  plan.nodes = {};
  cast.graph = { loadout: "Wide", entry: "s0", ranks: [], loops: {}, sockets: [] };
  for (let n = 0; n < 200; n += 1) {
    const edges = [
      ...(n < 199 ? [{ id: `s${n}->s${n + 1}`, when: "always", to: `s${n + 1}` }] : []),
      ...(n % 10 === 9 ? [{ id: `s${n}->s${n - 4}`, when: "not_satisfied", to: `s${n - 4}`, back: true }] : []),
    ];
    plan.nodes[`s${n}`] = { ...pattern, materia: `Materia ${n}`, edges };
    cast.graph.sockets.push({ id: `s${n}`, materia: `Materia ${n}`, type: "agent", rank: n, edges });
  }
  plan.entry = "s0";
  cast.events = cast.events.slice(0, 1);
  cast.all = cast.events;
  const server = await startFixtures({ extra: [cast] });
  const page = await open(browser, server.link);
  await page.goto(`${server.url}/casts/wide`);
  await byId(page, "card-s0").waitFor();
  assert.ok((await page.locator(".card").count()) < 60);
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
  // Back and forth for a while, with a little zoom: what a hand does.
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
  const frames = await page.evaluate(() => {
    cancelAnimationFrame(window.__tick);
    return window.__frames.sort((a, b) => a - b);
  });
  const p95 = frames[Math.floor(frames.length * 0.95)];
  t.diagnostic(
    `${frames.length} frames, 95 of 100 within ${p95.toFixed(1)} ms, the longest ${frames.at(-1).toFixed(1)} ms`,
  );
  // The goal is 20 ms. What fails here is a page that stutters whatever else the machine does.
  assert.ok(p95 < 120, `frames took ${p95} ms`);
  assert.ok((await page.locator(".card").count()) > 0);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
  await server.close();
});
