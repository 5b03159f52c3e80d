// Lines of a cast under way, with the real server: what went over them, what waits there, each payload whole.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "./axe.mjs";
import { byId, launch } from "./browser.mjs";
import { pointOn } from "./editor-page.mjs";
import { skip, start } from "./editor-server.mjs";

const long = Array.from({ length: 400 }, (_, n) => `sentence ${n}`).join("; ");
const text = JSON.stringify({
  activeLoadout: "Flow",
  artifactDir: ".materia",
  loadouts: {
    Flow: {
      entry: "plan",
      sockets: {
        plan: { materia: "Plan", edges: [{ to: "build" }] },
        build: { materia: "Build", edges: [{ to: "merge" }] },
        merge: { materia: "Build", approval: "before" },
      },
    },
  },
  materia: {
    Plan: { type: "utility", parse: "json", command: ["printf", JSON.stringify({ context: long, satisfied: true })] },
    Build: { type: "utility", parse: "text", command: ["echo", "built"] },
  },
});

let browser;
let server;
before(async () => {
  if (skip) return;
  browser = await launch();
  server = await start(text);
  server.cli("cast", "--trust", "--no-input", "--no-request", "--cast-id", "flow");
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("a line that is pressed shows what went over it, whole, and the turn that took it", { skip }, async () => {
  const page = await server.page(browser, "/casts/flow");
  await byId(page, "line-plan->build").waitFor({ state: "attached" });
  const { x, y } = await pointOn(page, "plan->build", 0.5, "line");
  await page.mouse.click(x, y);
  const panel = byId(page, "line-panel");
  await panel.getByText("taken 1 time").waitFor();
  await page.waitForURL((url) => url.searchParams.get("line") === "plan->build");
  const row = byId(page, "line-passed").locator("li");
  assert.equal(await row.count(), 1);
  assert.match(await row.textContent(), /Build took it/);
  await row.getByRole("button", { name: "Show all" }).click();
  const whole = JSON.parse(await byId(page, "payload-text").locator("pre").textContent());
  assert.equal(whole.context, long);
  assert.deepEqual(await violations(page), []);
  await row.getByRole("button", { name: "Its turn" }).click();
  await byId(page, "panel").waitFor();
  await page.waitForURL((url) => url.searchParams.get("socket") === "build");
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("what waits on a line is shown; a line is reached and left by keys, and told as of an event", {
  skip,
}, async () => {
  const page = await server.page(browser, "/casts/flow");
  const line = byId(page, "line-build->merge");
  await line.waitFor({ state: "attached" });
  await line.focus();
  await page.keyboard.press("Enter");
  const waits = byId(page, "line-waits").locator("li");
  await waits.waitFor();
  assert.match(await waits.textContent(), /waits for Build/);
  await waits.getByRole("button", { name: "Show all" }).click();
  assert.equal((await byId(page, "payload-text").locator("pre").textContent()).trim(), "built");
  await page.keyboard.press("Escape");
  await byId(page, "panel").waitFor();
  await page.waitForURL((url) => !url.searchParams.has("line"));
  // Before it was sent, nothing waited.
  await page.goto(`${server.url}/casts/flow?at=5&line=${encodeURIComponent("build->merge")}`);
  await byId(page, "line-panel").getByText("Nothing waits.").waitFor();
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("on a narrow screen lines are rows of the outline", { skip }, async () => {
  const page = await server.page(browser, "/casts/flow", { viewport: { width: 390, height: 844 } });
  await byId(page, "outline")
    .getByRole("button", { name: /to Build/ })
    .last()
    .click();
  await byId(page, "line-waits").locator("li").waitFor();
  assert.deepEqual(await violations(page), []);
  await byId(page, "line-close").click();
  await byId(page, "outline").waitFor();
  await page.context().close();
});
