// Pictures of every page, in both themes: `node tests/shots.mjs FOLDER [NAME…]`.
import { mkdirSync } from "node:fs";
import { byId, launch } from "./browser.mjs";
import { start } from "./editor-server.mjs";
import { exportOf } from "./exported.mjs";
import { ASKS, DEMO, FAILS, FORK, startStage } from "./stage.mjs";

const [folder = "shots", ...names] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const LIVE = "running";
const pages = {
  casts: "/casts",
  cast: `/casts/${LIVE}`,
  "cast-why": `/casts/${LIVE}?tab=why&dock=events`,
  "cast-past": `/casts/${LIVE}?at=14&dock=state&tab=output`,
  "cast-done": `/casts/${FORK}?dock=cost`,
  "cast-failed": `/casts/${FAILS}`,
  "cast-approval": `/casts/${ASKS}`,
  inbox: "/inbox",
  launch: "/casts?new=1",
  compare: `/casts/${DEMO}/compare/${FORK}`,
  loadouts: "/loadouts",
  materia: "/materia",
  settings: "/settings",
};
const sizes = { 1440: { width: 1440, height: 900 }, 390: { width: 390, height: 844 } };
const server = await startStage();
await (await server.live(LIVE)).step();
const browser = await launch();
for (const [width, viewport] of Object.entries(sizes))
  for (const colorScheme of ["light", "dark"]) {
    const page = await server.page(browser, "/", { viewport, colorScheme });
    for (const [name, path] of Object.entries(pages)) {
      if (names.length > 0 && !names.includes(name)) continue;
      await page.goto(server.url + path);
      await page.waitForSelector("h1");
      if (name === "launch")
        await byId(page, "request").fill(
          "Keep comments when the editor writes a loadout back.\n\n- A comment moves with the field below it.\n- Trailing commas survive as well.",
        );
      const graph =
        { compare: ".graph_mini-card", launch: ".graph_mini-card", loadouts: ".graph_mini-card" }[name] ??
        (name.startsWith("cast-") || name === "cast" ? ".graph_card" : null);
      if (graph) await page.locator(graph).first().waitFor({ state: "attached" });
      await page.waitForTimeout(700);
      await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png` });
    }
    for (const one of page.trouble) console.log(width, colorScheme, one);
    await page.context().close();
    if (names.length === 0 || names.includes("empty")) await emptyPage(width, viewport, colorScheme);
    if (names.length === 0 || names.includes("file")) await filePage(width, viewport, colorScheme);
  }

/** Before the first cast. */
async function emptyPage(width, viewport, colorScheme) {
  const nobody = await start("{}");
  const page = await nobody.page(browser, "/", { viewport, colorScheme });
  await byId(page, "nothing").waitFor();
  await page.waitForTimeout(300);
  await page.screenshot({ path: `${folder}/empty-${width}-${colorScheme}.png` });
  await page.context().close();
  await nobody.stop();
}

/** A cast as a file. */
async function filePage(width, viewport, colorScheme) {
  const { address } = exportOf(server, FORK);
  const context = await browser.newContext({ viewport, colorScheme });
  const page = await context.newPage();
  await page.goto(address);
  await page.locator(".graph_card").first().waitFor({ state: "attached" });
  await page.waitForTimeout(300);
  await page.screenshot({ path: `${folder}/file-${width}-${colorScheme}.png` });
  await context.close();
}
await browser.close();
await server.stop();
