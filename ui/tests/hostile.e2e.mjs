// Hostile content stays text: scripts, links, terminal sequences, deceiving names (checks D1 to D4 of the design).
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { loadCasts } from "../dev/fixture-casts.mjs";
import { startFixtures } from "../dev/server.mjs";
import { byId, launch, open } from "./browser.mjs";

const approval = "20261115T130214-5d20e1";
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

/** A recorded cast in which every text that others write is replaced. */
function poisoned(id, list) {
  const cast = structuredClone(loadCasts().get("20261115T100502-e99a01"));
  cast.id = id;
  let n = 0;
  const next = () => list[n++ % list.length];
  for (const event of cast.events) {
    const { data } = event;
    if (data.request !== undefined) data.request = next();
    if (data.plan)
      for (const node of Object.values(data.plan.nodes)) Object.assign(node, { materia: next(), color: next() });
    if (data.prompt !== undefined && data.prompt !== null) {
      data.prompt = list.join("\n");
      const bytes = new TextEncoder().encode(data.prompt).length;
      data.layers = [{ name: next(), origin: next(), start: 0, end: bytes }];
    }
    if (data.itemLabel) data.itemLabel = next();
    if (data.output !== undefined) {
      data.output = list.join("\n");
      delete data.object;
    }
    for (const name of ["reason", "message", "preview", "context"])
      if (typeof data[name] === "string") data[name] = next();
    if (data.workItems)
      for (const item of data.workItems) Object.assign(item, { title: next(), context: next(), [next()]: next() });
    if (data.assigned)
      data.assigned = { [next().replaceAll(".", "")]: next(), workItems: [{ title: next(), [next()]: next() }] };
    if (data.artifacts) data.artifacts = [{ kind: "diff", name: next(), hash: "0", content: next() }];
  }
  for (const socket of cast.graph.sockets) socket.materia = next();
  for (const why of Object.values(cast.why)) why.sentence = `${next()} \`${next()}\` (event 3)`;
  cast.all = cast.events;
  return cast;
}

test("D1: two hundred payloads stay text on every page", async () => {
  const list = payloads();
  assert.equal(list.length, 200);
  const server = await startFixtures({ extra: [poisoned("hostile", list)] });
  const page = await open(browser, server.link);
  for (const path of [
    "/casts",
    ...["input", "output", "why", "history", "files", "now"].flatMap((tab) =>
      ["events", "timeline", "state"].map((dock) => `/casts/hostile?tab=${tab}&dock=${dock}`),
    ),
    "/casts/hostile?dock=output&event=5",
    "/casts/hostile/compare/20261115T124651-09a44c",
    ...["output", "route"].map((show) => `/casts/hostile/compare/20261115T124651-09a44c?show=${show}`),
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
  await server.close();
});

test("D2: terminal sequences are gone; the title and the clipboard stay as they were", async () => {
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
  const server = await startFixtures({ extra: [poisoned("ansi", corpus)] });
  const page = await open(browser, server.link, { permissions: ["clipboard-read", "clipboard-write"] });
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
  await server.close();
});

test("D3: an approval shows characters that deceive by their number", async () => {
  const cast = structuredClone(loadCasts().get(approval));
  cast.id = "deceiving";
  cast.all = cast.events;
  cast.events[0].data.plan.nodes.merge.behavior.command = [
    "git",
    "pu\u200bsh",
    "\u202egnp.exe",
    "m\u0430in",
    "a\ufe0fb",
  ];
  const server = await startFixtures({ extra: [cast] });
  const page = await open(browser, server.link);
  await page.goto(`${server.url}/inbox?cast=deceiving`);
  const argv = byId(page, "inbox-deceiving").locator('[data-testid="argv"]');
  await argv.waitFor();
  const odd = await argv.locator(".odd").allTextContents();
  assert.deepEqual(odd, ["U+200B", "U+202E", "\u0430 U+0430", "U+FE0F"]);
  assert.match(await argv.textContent(), /4 unusual characters/);
  await page.context().close();
  await server.close();
});

test("D4: the page refuses to be framed", async () => {
  const server = await startFixtures();
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
  await server.close();
});
