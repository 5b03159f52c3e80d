// Nothing is lost: drafts, undo, other tabs, other people, and a server that dies (B5–B8, B16–B18).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { byId, launch } from "./browser.mjs";
import { addByKeys, card, json, kept, loadout, until, value, withEditor } from "./editor-page.mjs";
import { mine, skip } from "./editor-server.mjs";

let browser;
before(async () => {
  if (!skip) browser = await launch();
});
after(() => browser?.close());
const options = { skip };

test("B5: after ten edits and a reload the draft is there, and undo is ten deep", options, async () => {
  await withEditor(browser, async (page) => {
    await card(page, "Socket-7").click();
    const before = await json(page);
    for (let step = 0; step < 10; step += 1) {
      await addByKeys(page, "build");
      await card(page, `Socket-${step + 8}`).waitFor();
    }
    const text = await json(page);
    await until(async () => (await byId(page, "kept").count()) > 0);
    await page.reload();
    await card(page, "Socket-17").waitFor();
    assert.equal(await json(page), text);
    assert.equal(await byId(page, "change-count").textContent(), "10");
    for (let step = 0; step < 10; step += 1) await byId(page, "undo").click();
    assert.equal(await json(page), before);
    assert.equal(await byId(page, "undo").isDisabled(), true);
    for (let step = 0; step < 10; step += 1) await byId(page, "redo").click();
    assert.equal(await json(page), text);
  });
});

test("B6: an edit that is kept survives a server that is killed", options, async () => {
  await withEditor(browser, async (page, server) => {
    await card(page, "Socket-7").click();
    await addByKeys(page, "verify");
    await kept(page);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await server.kill();
    // What is done meanwhile stays in the tab, and is kept as soon as the server is back.
    await addByKeys(page, "build");
    await byId(page, "kept-offline").waitFor();
    await server.up();
    await kept(page);
    const text = await json(page);
    await page.reload();
    await card(page, "Socket-9").waitFor();
    assert.equal(await json(page), text);
    assert.equal((await loadout(page)).sockets["Socket-8"].materia, "Verify");
    assert.equal(server.read(), mine());
  });
});

test(
  "B7, B8: a copied loop is pasted whole, here and in another loadout; garbage changes nothing",
  options,
  async () => {
    const text = mine().replace(
      '"loadouts": {',
      '"loadouts": {\n    "Other": { "entry": "Socket-1", "sockets": { "Socket-1": { "materia": "Narrate" } } },',
    );
    await withEditor(
      browser,
      async (page, server) => {
        await byId(page, "loop-workItemIteration").click();
        const fragment = await page.evaluate(() => {
          const data = new DataTransfer();
          document.dispatchEvent(new ClipboardEvent("copy", { clipboardData: data, bubbles: true, cancelable: true }));
          return data.getData("text/plain");
        });
        const parsed = JSON.parse(fragment);
        assert.deepEqual(Object.keys(parsed.sockets), ["Socket-4", "Socket-5", "Socket-6"]);
        const paste = (words) =>
          page.evaluate((one) => {
            const data = new DataTransfer();
            data.setData("text/plain", one);
            document.body.dispatchEvent(
              new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }),
            );
          }, words);
        await paste(fragment);
        await byId(page, "region-workItemIteration-2").waitFor();
        const { sockets, loops } = await loadout(page);
        assert.deepEqual(loops["workItemIteration-2"], {
          sockets: ["Socket-8", "Socket-9", "Socket-10"],
          consumes: { from: "Socket-3", output: "workItems" },
          exits: [{ id: "exit:Socket-10:always", from: "Socket-10", condition: "always", targetSocketId: "Socket-7" }],
        });
        assert.deepEqual(sockets["Socket-9"].edges, [
          { when: "satisfied", to: "Socket-10" },
          { when: "not_satisfied", to: "Socket-8", maxTraversals: 3 },
        ]);
        const now = await json(page);
        for (const garbage of ["hello", '{"sockets": 1}', "[]", '{"sockets": {"a": {"prompt": "x"}}}']) {
          await paste(garbage);
          await byId(page, "notice").waitFor();
          assert.equal(await json(page), now);
        }
        const other = await server.page(browser, "/loadouts/Other?drawer=json");
        await card(other, "Socket-1").waitFor();
        await other.evaluate((one) => {
          const data = new DataTransfer();
          data.setData("text/plain", one);
          document.body.dispatchEvent(
            new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }),
          );
        }, fragment);
        await card(other, "Socket-4").waitFor();
        const pasted = await loadout(other, "Other");
        const known = new Set([...Object.keys(pasted.sockets), "end"]);
        for (const socket of Object.values(pasted.sockets))
          for (const edge of socket.edges ?? []) assert.ok(known.has(edge.to), edge.to);
        for (const exit of pasted.loops.workItemIteration.exits) assert.ok(known.has(exit.targetSocketId));
        await other.context().close();
      },
      { text },
    );
  },
);

test("keys copy and paste through the real clipboard", options, async () => {
  await withEditor(
    browser,
    async (page) => {
      await card(page, "Socket-7").click();
      await page.keyboard.press("Control+c");
      await page.keyboard.press("Control+v");
      await card(page, "Socket-8").waitFor();
      assert.equal((await loadout(page)).sockets["Socket-8"].materia, "Narrate");
      await page.keyboard.press("Control+x");
      await card(page, "Socket-8").waitFor({ state: "detached" });
    },
    { options: { permissions: ["clipboard-read", "clipboard-write"] } },
  );
});

test("a reload right after an edit loses nothing, also while the server is gone", options, async () => {
  await withEditor(browser, async (page, server) => {
    await card(page, "Socket-7").click();
    await byId(page, "field-timeoutMs").fill("4711");
    // The draft is kept a moment later; this tab has it at once.
    await page.reload();
    await until(async () => (await loadout(page)).sockets["Socket-7"].timeoutMs === 4711);
    await kept(page);
    await server.kill();
    await byId(page, "field-timeoutMs").fill("4712");
    await byId(page, "kept-offline").waitFor();
    await server.up();
    await page.reload();
    await until(async () => (await loadout(page)).sockets["Socket-7"].timeoutMs === 4712);
    await kept(page);
  });
});

test("going back to what is saved can be undone", options, async () => {
  await withEditor(browser, async (page) => {
    await card(page, "Socket-7").click();
    await byId(page, "field-timeoutMs").fill("4711");
    const text = await json(page);
    await byId(page, "review").click();
    await byId(page, "discard").click();
    await until(async () => (await json(page)) === mine());
    await byId(page, "toast-undo").click();
    await until(async () => (await json(page)) === text);
  });
});

const save = async (page) => {
  await byId(page, "review").click();
  await byId(page, "counts").waitFor();
  await byId(page, "save").click();
};
const saved = (page) => until(async () => /^Saved/.test(await byId(page, "save-state").textContent()), "saved");

test("B16: who saves second sees both and decides; nothing is overwritten", options, async () => {
  await withEditor(browser, async (one, server) => {
    await card(one, "Socket-7").click();
    const two = await server.page(browser, "/loadouts/Mine?drawer=json");
    await card(two, "Socket-7").click();
    await addByKeys(one, "build");
    await save(one);
    await saved(one);
    const first = server.read();
    assert.match(first, /"Socket-8": \{ "materia": "Build"/);
    await addByKeys(two, "verify");
    await until(async () => (await loadout(two)).sockets["Socket-8"]?.materia === "Verify");
    await save(two);
    await byId(two, "merge").waitFor();
    assert.equal(server.read(), first, "nothing was overwritten");
    const both = async (side) => (await byId(two, `merge-${side}`).allTextContents()).join("");
    assert.match(await both("yours"), /Verify/);
    assert.match(await both("theirs"), /Build/);
    await byId(two, "all-theirs").click();
    await byId(two, "merge-done").click();
    await byId(two, "merge").waitFor({ state: "detached" });
    assert.equal(await json(two), first);
    // What was not taken is one undo away.
    await two.keyboard.press("Control+z");
    assert.match(await json(two), /Verify/);
    await two.context().close();
  });
});

test("two tabs with changes that do not touch each other have both", options, async () => {
  await withEditor(browser, async (one, server) => {
    await card(one, "Socket-7").waitFor();
    const two = await server.page(browser, "/loadouts/Mine?drawer=json");
    await card(two, "Socket-1").waitFor();
    await byId(one, "card-Socket-7").click();
    await byId(one, "field-timeoutMs").fill("1000");
    await kept(one);
    await byId(two, "card-Socket-1").click();
    await byId(two, "field-timeoutMs").fill("2000");
    await until(async () => (await loadout(two)).sockets["Socket-7"].timeoutMs === 1000, "the other tab's change");
    await kept(two);
    assert.equal((await loadout(two)).sockets["Socket-1"].timeoutMs, 2000);
    await two.context().close();
  });
});

test("a file that was changed elsewhere: the draft is laid over it, or asks", options, async () => {
  await withEditor(browser, async (page, server) => {
    await card(page, "Socket-7").click();
    await byId(page, "field-timeoutMs").fill("1000");
    await kept(page);
    server.write(server.read().replace("// The default: plan", "// Changed by hand: plan"));
    await page.reload();
    await byId(page, "notice").waitFor();
    assert.match(await json(page), /Changed by hand/);
    assert.equal((await loadout(page)).sockets["Socket-7"].timeoutMs, 1000);
    await save(page);
    await saved(page);
    assert.match(server.read(), /Changed by hand[\s\S]*"timeoutMs": 1000/);
  });
});

test("B17: back from B to A and save writes only A", options, async () => {
  const text = mine("A").replace(
    '"loadouts": {',
    '"loadouts": {\n    "B": { "entry": "Socket-1", "sockets": { "Socket-1": { "materia": "Narrate" } } },',
  );
  await withEditor(
    browser,
    async (page, server) => {
      await card(page, "Socket-7").click();
      await byId(page, "field-timeoutMs").fill("111");
      await kept(page);
      await page.evaluate(() => {
        history.pushState(null, "", "/loadouts/B?drawer=json");
        dispatchEvent(new PopStateEvent("popstate"));
      });
      await until(async () => (await page.locator(".editor_canvas .graph_card").count()) === 1);
      await card(page, "Socket-1").click();
      await byId(page, "field-timeoutMs").fill("222");
      await kept(page);
      await until(async () => {
        if (new URL(page.url()).pathname === "/loadouts/A") return true;
        await page.goBack();
        return false;
      });
      await card(page, "Socket-7").waitFor();
      await save(page);
      await saved(page);
      const stored = value(server.read()).loadouts;
      assert.equal(stored.A.sockets["Socket-7"].timeoutMs, 111);
      assert.deepEqual(stored.B.sockets["Socket-1"], { materia: "Narrate" });
      // B's draft is still there.
      await page.goto(`${server.url}/loadouts/B?drawer=json`);
      await until(async () => (await loadout(page, "B")).sockets["Socket-1"].timeoutMs === 222);
    },
    { text, path: "/loadouts/A?drawer=json" },
  );
});

test("B18: an empty loadout is not kept by itself, and undo brings it back", options, async () => {
  await withEditor(browser, async (page, server) => {
    await card(page, "Socket-7").click();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Delete");
    await byId(page, "blank").waitFor();
    await byId(page, "kept-held").waitFor();
    const project = await server.projectId();
    const drafts = (await server.ask(`/drafts?project=${project}`)).body.items;
    assert.equal(drafts.length, 0);
    await byId(page, "toast-undo").click();
    await card(page, "Socket-7").waitFor();
    assert.equal(await json(page), mine());
  });
});

test("B18: saving a cleared loadout asks for its name, and takes it out of the file", options, async () => {
  await withEditor(browser, async (page, server) => {
    await card(page, "Socket-7").click();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Delete");
    await byId(page, "blank").waitFor();
    await byId(page, "review").click();
    await byId(page, "type-name").waitFor();
    assert.equal(await byId(page, "save").isDisabled(), true);
    await byId(page, "type-name").fill("Min");
    assert.equal(await byId(page, "save").isDisabled(), true);
    assert.equal(server.read(), mine());
    await byId(page, "type-name").fill("Mine");
    await byId(page, "save").click();
    await byId(page, "loadouts-page").waitFor();
    assert.equal(value(server.read()).loadouts.Mine, undefined);
    assert.equal(server.cli("check", "--json").status, 0);
  });
});
