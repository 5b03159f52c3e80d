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

test("C6: a hundred thousand events open at their end, with few rows in the page", async () => {
  const server = await startFixtures({ extra: [longCast(100_000)] });
  const page = await open(browser, server.link);
  await page.goto(`${server.url}/casts/long?dock=events`);
  await byId(page, "row-100000").waitFor();
  const rows = () => page.locator(".evrow").count();
  assert.ok((await rows()) <= 120, String(await rows()));
  const heap = () => page.evaluate(() => performance.memory?.usedJSHeapSize ?? 0);
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
  assert.ok((await heap()) - before < 30 * 1024 * 1024);
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

test("two hundred sockets are drawn apart, and the page draws only those that are seen", async () => {
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
  await page.mouse.move(500, 350);
  await page.mouse.down();
  await page.mouse.move(100, 330, { steps: 20 });
  await page.mouse.up();
  assert.ok((await page.locator(".card").count()) > 0);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
  await server.close();
});
