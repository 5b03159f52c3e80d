// Pictures of every page, in both themes: `node tests/shots.mjs FOLDER [NAME…]`.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFixtures } from "../dev/server.mjs";
import { byId, launch, open } from "./browser.mjs";
import { exportOf, writeExport } from "./exported.mjs";

const [folder = "shots", ...names] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const demo = "20261115T124651-09a44c";
const pages = {
  casts: "/casts",
  cast: `/casts/${demo}`,
  "cast-why": `/casts/${demo}?tab=why&dock=events`,
  "cast-past": `/casts/${demo}?at=30&dock=state&tab=output`,
  "cast-done": `/casts/${demo}-fork?dock=cost`,
  "cast-failed": "/casts/20261115T100502-e99a01",
  "cast-approval": "/casts/20261115T130214-5d20e1",
  inbox: "/inbox",
  launch: "/casts?new=1",
  compare: `/casts/${demo}/compare/${demo}-fork`,
  loadouts: "/loadouts",
  materia: "/materia",
  settings: "/settings",
};
const sizes = { 1440: { width: 1440, height: 900 }, 390: { width: 390, height: 844 } };
const server = await startFixtures({ live: [[demo, 44]] });
const browser = await launch();
for (const [width, viewport] of Object.entries(sizes))
  for (const colorScheme of ["light", "dark"]) {
    const page = await open(browser, server.link, { viewport, colorScheme });
    for (const [name, path] of Object.entries(pages)) {
      if (names.length > 0 && !names.includes(name)) continue;
      await page.goto(server.url + path);
      await page.waitForSelector("h1");
      if (name === "cast") {
        server.live(demo, { socket: "Socket-2", kind: "tool", text: "read greet.sh (7 lines)" });
        server.live(demo, { socket: "Socket-2", kind: "tool", text: "edit greet.sh +1 −0" });
      }
      if (name === "launch")
        await byId(page, "request").fill(
          "Keep comments when the editor writes a loadout back.\n\n- A comment moves with the field below it.\n- Trailing commas survive as well.",
        );
      const graph =
        { compare: ".mini-card", launch: ".mini-card", loadouts: ".mini-card" }[name] ??
        (name.startsWith("cast-") || name === "cast" ? ".card" : null);
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
  const nobody = await startFixtures({ empty: true, demo });
  const page = await open(browser, nobody.link, { viewport, colorScheme });
  await page.locator(".mini-card").first().waitFor();
  await page.waitForTimeout(300);
  await page.screenshot({ path: `${folder}/empty-${width}-${colorScheme}.png` });
  await page.context().close();
  await nobody.close();
}

/** A cast as a file. */
async function filePage(width, viewport, colorScheme) {
  const place = mkdtempSync(join(tmpdir(), "materia-shots-"));
  const address = writeExport(join(place, "cast.html"), await exportOf(server.url, `${demo}-fork`));
  const context = await browser.newContext({ viewport, colorScheme });
  const page = await context.newPage();
  await page.goto(address);
  await page.locator(".card").first().waitFor({ state: "attached" });
  await page.waitForTimeout(300);
  await page.screenshot({ path: `${folder}/file-${width}-${colorScheme}.png` });
  await context.close();
  rmSync(place, { recursive: true });
}
await browser.close();
await server.close();
