// What the editor's tests do on a page.
import { byId } from "./browser.mjs";
import { mine, start } from "./editor-server.mjs";

/** A server of its own and the editor open on a loadout; `act` gets both. */
export async function withEditor(browser, act, { text = mine(), path = "/loadouts/Mine?drawer=json", options } = {}) {
  const server = await start(text);
  try {
    const page = await server.page(browser, path, options);
    await page.waitForSelector('[data-testid="editor"]');
    await act(page, server);
    if (page.trouble.length > 0) throw new Error(page.trouble.join("\n"));
    await page.context().close();
  } finally {
    await server.stop();
  }
}

/** The text in the JSON pane. The pane itself only has the lines in view. */
export const json = (page) => byId(page, "json-text").evaluate((pane) => pane.cmTile.root.view.state.doc.toString());
/** Puts the caret of the JSON pane at a place. */
export const caret = (page, at) =>
  byId(page, "json-text").evaluate((pane, place) => {
    pane.focus();
    pane.cmTile.root.view.dispatch({ selection: { anchor: place } });
  }, at);
/** What a JSON document with comments says. */
export function value(text) {
  const plain = text.replace(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (_, string) => string ?? "");
  return JSON.parse(plain.replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_, string) => string ?? ""));
}
export const loadout = async (page, name = "Mine") => value(await json(page)).loadouts[name];
export const card = (page, id) => byId(page, `card-${id}`);

export async function until(check, what = "it", ms = 20_000) {
  const end = Date.now() + ms;
  let last;
  for (;;) {
    try {
      const result = await check();
      if (result) return result;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`${what} did not happen in ${ms} ms${last ? `: ${last.message}` : ""}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Adds a materia with the keyboard alone. */
export async function addByKeys(page, words) {
  await page.keyboard.press("a");
  await byId(page, "add-input").waitFor();
  await page.keyboard.type(words);
  await page.keyboard.press("Enter");
  await byId(page, "add-input").waitFor({ state: "detached" });
}

/** Where a line can be pressed: a point of it on the screen, some way along. */
export async function pointOn(page, edge, share = 0.5, kind = "edge") {
  return byId(page, `${kind}-${edge}`).evaluate((path, along) => {
    const at = path.getPointAtLength(path.getTotalLength() * along);
    const on = at.matrixTransform(path.getScreenCTM());
    return { x: on.x, y: on.y };
  }, share);
}

export async function pressEdge(page, edge, share) {
  const { x, y } = await pointOn(page, edge, share);
  await page.mouse.click(x, y);
}

export const kept = (page) => byId(page, "kept").waitFor();

/** Puts a text into the pane at once: a browser takes long to type a large one. */
export const put = (page, text) =>
  byId(page, "json-text").evaluate((pane, insert) => {
    const { view } = pane.cmTile.root;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert } });
  }, text);
