// Nothing is lost: drafts, undo, other tabs, other people, and a server that dies (B5–B8, B16–B19).
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { byId, launch } from "./browser.mjs";
import { addByKeys, card, json, kept, loadout, until, value, withEditor } from "./editor-page.mjs";
import { example, mine, shipped, skip, start } from "./editor-server.mjs";

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
    await byId(one, "socket-timeout").fill("1000");
    await kept(one);
    await byId(two, "card-Socket-1").click();
    await byId(two, "socket-timeout").fill("2000");
    await until(async () => (await loadout(two)).sockets["Socket-7"].timeoutMs === 1000, "the other tab's change");
    await kept(two);
    assert.equal((await loadout(two)).sockets["Socket-1"].timeoutMs, 2000);
    await two.context().close();
  });
});

test("a file that was changed elsewhere: the draft is laid over it, or asks", options, async () => {
  await withEditor(browser, async (page, server) => {
    await card(page, "Socket-7").click();
    await byId(page, "socket-timeout").fill("1000");
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
      await byId(page, "socket-timeout").fill("111");
      await kept(page);
      await page.evaluate(() => {
        history.pushState(null, "", "/loadouts/B?drawer=json");
        dispatchEvent(new PopStateEvent("popstate"));
      });
      await until(async () => (await page.locator(".canvas .card").count()) === 1);
      await card(page, "Socket-1").click();
      await byId(page, "socket-timeout").fill("222");
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

test("B19: the review counts as the command line does, for 30 pairs", options, async () => {
  await withEditor(browser, async (page, server) => {
    await card(page, "Socket-7").waitFor();
    const base = server.read();
    let seed = 11;
    const any = (count) => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return Math.floor((seed / 2147483648) * count);
    };
    const words = ["Build", "Narrate", "Auto-Eval", "Verify"];
    for (let pair = 0; pair < 30; pair += 1) {
      let text = base;
      for (let step = 0; step <= any(4); step += 1) {
        const number = 1 + any(7);
        const edits = [
          () =>
            text.replace(
              `"Socket-${number}": { "materia": "`,
              `"Socket-${number}": { "timeoutMs": ${1 + any(900)}, "materia": "`,
            ),
          () => text.replace('"maxTraversals": 3', `"maxTraversals": ${4 + any(5)}`),
          () =>
            text.replace(
              '"Socket-7": {',
              `"Extra-${any(1000)}": { "materia": "${words[any(4)]}" },\n        "Socket-7": {`,
            ),
          () => text.replace('"condition": "always"', '"condition": "satisfied"'),
          () => text.replace(/"description": "[^"]*"/, `"description": "other ${any(1000)}"`),
        ];
        text = edits[any(edits.length)]();
      }
      if (text === base) text = base.replace("Plans the request", `Plans ${pair}`);
      const file = join(server.project, "other.json");
      writeFileSync(file, text);
      const told = JSON.parse(server.cli("check", "--diff", "materia.json", "other.json", "--json").stdout);
      await byId(page, "json-text").fill(text);
      await until(async () => (await byId(page, "review").count()) > 0 && !(await byId(page, "review").isDisabled()));
      await byId(page, "review").click();
      const wanted = `${told.added.length} added, ${told.removed.length} removed, ${told.changed.length} changed`;
      await until(async () => (await byId(page, "counts").textContent()) === wanted, wanted);
      assert.equal(await byId(page, "change").count(), told.added.length + told.removed.length + told.changed.length);
      await page.keyboard.press("Escape");
      await byId(page, "counts").waitFor({ state: "detached" });
    }
  });
});

test("a shipped loadout is copied, not changed; what is saved is what check accepts", options, async () => {
  await withEditor(
    browser,
    async (page, server) => {
      await card(page, "Socket-7").click();
      await page.keyboard.press("Delete");
      assert.match(await byId(page, "notice").textContent(), /shipped/);
      await byId(page, "copy-to-edit").click();
      assert.equal(await byId(page, "copy-name").inputValue(), "My-Full-Auto");
      await page.keyboard.press("Enter");
      await card(page, "Socket-7").waitFor();
      await byId(page, "drawer-json").click();
      await until(async () => /Draft/.test(await byId(page, "save-state").textContent()));
      assert.deepEqual(
        value(await json(page)).loadouts["My-Full-Auto"],
        value(shipped("Full-Auto")).loadouts["Full-Auto"],
      );
      await save(page);
      await saved(page);
      assert.equal(server.cli("check", "--json").status, 0);
      assert.ok(value(server.read()).loadouts["My-Full-Auto"]);
    },
    { text: null, path: "/loadouts/Full-Auto?drawer=json" },
  );
});

test("problems are those of materia check: the same codes at the same places", options, async () => {
  const text = mine()
    .replace('"when": "satisfied", "to": "Socket-6"', '"when": "satisfied", "to": "Nowhere"')
    .replace('"consumes": { "from": "Socket-3"', '"consumes": { "from": "Socket-1"');
  await withEditor(
    browser,
    async (page, server) => {
      await page.locator('[data-testid="problem"]').first().waitFor();
      const told = server.cli("check", "--json");
      const findings = JSON.parse(told.stdout).error.findings;
      const seen = await page
        .locator('[data-testid="problem"]')
        .evaluateAll((list) => list.map((one) => one.querySelector(".code").textContent));
      assert.deepEqual(
        seen.sort(),
        findings.map((one) => `${one.code}${one.line ? ` · line ${one.line}` : ""}`).sort(),
      );
    },
    { text },
  );
});

test("every shipped loadout and example opens, is laid out apart, and is not changed by looking", options, async () => {
  const files = [
    "graph-semantics-loadout.json",
    "interactive-plan.json",
    "release-notes.json",
    "review-until-good.json",
    "hello.json",
    "hello-utility.json",
  ];
  const server = await start(mine());
  try {
    const page = await server.page(browser, "/loadouts");
    const look = async (name) => {
      await page.goto(`${server.url}/loadouts/${encodeURIComponent(name)}?drawer=json`);
      await page.locator(".canvas .card").first().waitFor();
      await page.waitForTimeout(150);
      const cards = await page.locator(".canvas [data-socket]").evaluateAll((list) =>
        list.map((one) => {
          const { x, y, width, height } = one.getBoundingClientRect();
          return { id: one.dataset.socket, x, y, width, height };
        }),
      );
      for (const a of cards)
        for (const b of cards)
          if (a.id < b.id)
            assert.ok(
              a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y,
              `${name}: ${a.id} and ${b.id}`,
            );
    };
    for (const name of ["Full-Auto", "Hojo-Consult", "Planning-Consult", "Release"]) await look(name);
    for (const file of files) {
      const text = example(file);
      server.write(text);
      for (const name of Object.keys(value(text).loadouts ?? {})) {
        await look(name);
        assert.equal(await json(page), text);
      }
      assert.equal(server.read(), text);
    }
    assert.deepEqual(page.trouble, []);
  } finally {
    await server.stop();
  }
});
