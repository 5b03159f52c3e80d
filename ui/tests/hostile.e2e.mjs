// Hostile content stays text: scripts, links, terminal sequences, deceiving names (checks D1 to D4 of the design).
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { byId, launch } from "./browser.mjs";
import { config, DEMO, skip, startStage } from "./stage.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

/** Ways to get a script run, each with a number, so that it is known which one did. */
function payloads() {
  const out = [];
  const run = (n) => `window.__hit=${n}`;
  const shapes = [
    (n) => `<script>${run(n)}</script>`,
    (n) => `"><script>${run(n)}</script>`,
    (n) => `<img src=x onerror="${run(n)}">`,
    (n) => `<svg onload="${run(n)}"><animate onbegin="${run(n)}" attributeName=x dur=1s>`,
    (n) => `<iframe src="javascript:parent.${run(n)}"></iframe>`,
    (n) => `<iframe srcdoc="<script>parent.${run(n)}</script>"></iframe>`,
    (n) => `<a href="javascript:${run(n)}">press</a>`,
    (n) => `[press](javascript:${run(n)})`,
    (n) => `![x](https://evil.test/${n}.png)`,
    (n) => `<img src="https://evil.test/${n}.png">`,
    (n) => `<link rel=stylesheet href="https://evil.test/${n}.css">`,
    (n) => `<style>@import "https://evil.test/${n}.css";</style>`,
    (n) => `<object data="https://evil.test/${n}"></object>`,
    (n) => `<meta http-equiv=refresh content="0;url=https://evil.test/${n}">`,
    (n) => `<base href="https://evil.test/${n}/">`,
    (n) => `<form action="https://evil.test/${n}"><button autofocus onfocus="${run(n)}">`,
    (n) => `<details open ontoggle="${run(n)}">`,
    (n) => `<video><source onerror="${run(n)}"></video>`,
    (n) => `<math><mtext><table><mglyph><style><img src=x onerror="${run(n)}">`,
    (n) => `{{constructor.constructor('${run(n)}')()}}`,
  ];
  const wraps = [
    (x) => x,
    (x) => `\n${x}\n`,
    (x) => `\`\`\`html\n${x}\n\`\`\``,
    (x) => `]]>${x}`,
    (x) => `</pre></div>${x}`,
    (x) => `</textarea></title>${x}`,
    (x) => `"'>${x}`,
    (x) => `\u0000${x}`,
    (x) => x.toUpperCase().replace("WINDOW.__HIT", "window.__hit"),
    (x) => encodeURIComponent(x),
  ];
  for (const shape of shapes) for (const wrap of wraps) out.push(wrap(shape(out.length + 1)));
  return out;
}

/**
 * A server with a cast in which others write nothing else: the request, prompts, answers, items, reasons, files, and
 * the names and colours of materia.
 */
async function poisoned(id, list) {
  let n = 0;
  const next = () => list[n++ % list.length];
  const all = list.join("\n");
  const names = [next(), next(), next()];
  const [plan, build, judge] = names.map((name) => `Bad ${name}`);
  const loadout = structuredClone(config.loadouts.Demo);
  for (const [place, name] of [plan, build, judge].entries()) loadout.sockets[`Socket-${place + 1}`].materia = name;
  loadout.description = next();
  const written = structuredClone(config);
  written.loadouts.Hostile = loadout;
  Object.assign(written.materia, {
    [plan]: { prompt: all, color: next(), generator: true, description: next(), group: next() },
    [build]: { prompt: all, color: next() },
    [judge]: { prompt: all, color: next(), parse: "json" },
  });
  const server = await startStage([DEMO], written);
  const items = Array.from({ length: 3 }, () => ({ title: next(), context: next(), [next()]: next() }));
  const files = { artifacts: { diff: all, logs: next() } };
  const answers = [false, false, false, true].map((satisfied) => ({
    json: { satisfied, context: next(), [next()]: all },
  }));
  const turns = {
    "Socket-1": [{ json: { workItems: items, context: all } }],
    "Socket-2": [{ text: all, ...files }],
    "Socket-3": [...answers, { error: all, class: "permanent" }],
  };
  // A command line has no room for a zero.
  server.cast(id, "Hostile", all.replaceAll("\u0000", ""), { turns, repeatLast: true });
  const [{ status, visits }, log] = [await server.view(id), await server.events(id)];
  assert.ok(visits.length > 6 && status === "failed", JSON.stringify([status, visits.length]));
  // The names that people gave are in the plan as they were written.
  assert.equal(log[0].data.plan.nodes["Socket-2"].materia, build);
  return server;
}

test("D1: two hundred payloads stay text on every page", { skip }, async () => {
  const list = payloads();
  assert.equal(list.length, 200);
  const server = await poisoned("hostile", list);
  const page = await server.page(browser, "/settings");
  for (const path of [
    "/casts",
    ...["input", "output", "why", "history", "files", "now"].flatMap((tab) =>
      ["events", "timeline", "state"].map((dock) => `/casts/hostile?tab=${tab}&dock=${dock}`),
    ),
    "/casts/hostile?dock=output&event=5",
    `/casts/hostile/compare/${DEMO}`,
    ...["output", "route"].map((show) => `/casts/hostile/compare/${DEMO}?show=${show}`),
    "/casts/hostile?tab=output&beside=1",
    "/casts/hostile/sockets/Socket-2/items/%3Cscript%3E/turns/1",
    "/inbox",
  ]) {
    await page.goto(server.url + path);
    await page.locator("h1").first().waitFor();
    await page.waitForTimeout(150);
    const found = await page.evaluate(() => ({
      hit: window.__hit,
      bad: [...document.querySelectorAll("*")].flatMap((one) =>
        [...one.attributes]
          .filter((at) => at.name.startsWith("on") || /^\s*javascript:/i.test(at.value))
          .map((at) => `${one.tagName} ${at.name}=${at.value}`),
      ),
      foreign: document.querySelectorAll("iframe, object, embed, base, img, video, form, main script, main style")
        .length,
      here: location.origin,
    }));
    assert.deepEqual(found, { hit: undefined, bad: [], foreign: 0, here: server.url }, path);
  }
  await page.goto(`${server.url}/casts/hostile?tab=input&socket=Socket-2`);
  await byId(page, "prompt-layers").waitFor();
  assert.ok((await byId(page, "prompt-layers").textContent()).includes("<script>window.__hit=1</script>"));
  assert.deepEqual(page.trouble, []);
  await page.context().close();
  await server.stop();
});

test("D2: terminal sequences are gone; the title and the clipboard stay as they were", { skip }, async () => {
  const corpus = [
    "\u001b]0;evil title\u0007",
    "\u001b]2;evil title\u001b\\",
    "\u001b]52;c;ZXZpbA==\u0007",
    "\u001b]8;;https://evil.test\u0007link\u001b]8;;\u0007",
    "\u001b[2J\u001b[H",
    "\u001b[10A\u001b[1K",
    "\u001bP+q544e\u001b\\",
    "\u009b31m",
    "\u009d0;evil title\u009c",
    "\u001b[31mred\u001b[0m",
    "\u001b(0qqq\u001b(B",
    "a\u0008b\u0007c\u007f",
  ];
  const server = await poisoned("ansi", corpus);
  const page = await server.page(browser, "/settings", { permissions: ["clipboard-read", "clipboard-write"] });
  await page.evaluate(() => navigator.clipboard.writeText("mine"));
  for (const path of [
    "/casts/ansi?tab=output&dock=output",
    "/casts/ansi?tab=input&dock=events",
    "/casts/ansi?tab=why&dock=state",
  ]) {
    await page.goto(server.url + path);
    await byId(page, "panel").waitFor();
    await page.waitForTimeout(200);
    const text = await page.evaluate(() => document.body.textContent);
    assert.doesNotMatch(text, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/u, path);
    assert.doesNotMatch(await page.title(), /evil/);
  }
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "mine");
  assert.deepEqual(page.trouble, []);
  await page.context().close();
  await server.stop();
});

test("D3: an approval shows characters that deceive by their number", { skip }, async () => {
  const deceiving = structuredClone(config);
  deceiving.materia.Merge.command = ["git", "pu\u200bsh", "\u202egnp.exe", "m\u0430in", "a\ufe0fb"];
  const server = await startStage([], deceiving);
  const turns = { coder: [{ text: "Done." }], verifier: [{ json: { satisfied: true } }] };
  server.cast("deceiving", "Pair", "Deceive", { turns });
  const page = await server.page(browser, "/inbox?cast=deceiving");
  const argv = byId(page, "inbox-deceiving").locator('[data-testid="argv"]');
  await argv.waitFor();
  const odd = await argv.locator(".parts_odd").allTextContents();
  assert.deepEqual(odd, ["U+200B", "U+202E", "\u0430 U+0430", "U+FE0F"]);
  assert.match(await argv.textContent(), /4 unusual characters/);
  await page.context().close();
  await server.stop();
});

test("D4: the page refuses to be framed", { skip }, async () => {
  const server = await startStage([]);
  const other = createServer((_request, response) => {
    response.setHeader("Content-Type", "text/html");
    response.end(`<iframe id="f" src="${server.url}/casts"></iframe>`);
  });
  await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${other.address().port}/`);
  await page.waitForTimeout(500);
  const framed = page.frames().find((frame) => frame !== page.mainFrame());
  assert.equal(await framed.locator("#root").count(), 0);
  await context.close();
  other.close();
  await server.stop();
});
