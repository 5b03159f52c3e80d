// Pictures of the editor with the real server: `node tests/editor-shots.mjs FOLDER`.
import { mkdirSync } from "node:fs";
import { byId, launch } from "./browser.mjs";
import { mine, start } from "./editor-server.mjs";

const [folder = "shots"] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const server = await start(mine());
const browser = await launch();
for (const colorScheme of ["light", "dark"]) {
  const page = await server.page(browser, "/loadouts/Mine?drawer=json", { colorScheme });
  const shot = (name) => page.screenshot({ path: `${folder}/${name}-${colorScheme}.png` });
  // A verdict that is asked of text, and an edge that is never taken.
  await byId(page, "card-Socket-5").click();
  if (colorScheme === "light") {
    await page.locator(".editor_insp .parts_seg button", { hasText: "text" }).first().click();
    await byId(page, "card-Socket-6").click();
    await byId(page, "edge-up-1").click();
    await byId(page, "card-Socket-5").click();
  }
  await page.locator('[data-code="graph::needs-json"]').first().waitFor();
  await byId(page, "kept").waitFor();
  await page.waitForTimeout(500);
  await shot("editor");
  await page.goto(`${server.url}/loadouts/Release?drawer=simulate`);
  await byId(page, "ask-Socket-1").waitFor();
  for (const socket of ["Socket-1", "Socket-2", "Socket-4"]) {
    await byId(page, `ask-${socket}`).waitFor();
    await byId(page, `ask-${socket}`).locator("button").first().click();
  }
  await byId(page, "ask-Socket-5").waitFor();
  await page.waitForTimeout(500);
  await shot("editor-simulate");
  await page.goto(`${server.url}/materia/Detect-VCS`);
  await page.waitForSelector("h1");
  await page.waitForTimeout(500);
  await shot("editor-materia");
  await page.context().close();
}
await browser.close();
await server.stop();
