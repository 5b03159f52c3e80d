// The editor with the real server: the canvas, its keys and the text are one document (B1–B4, B9–B15, B21).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { byId, launch } from "./browser.mjs";
import { addByKeys, card, caret, json, loadout, pressEdge, put, until, value, withEditor } from "./editor-page.mjs";
import { mine, skip } from "./editor-server.mjs";

let browser;
before(async () => {
  if (!skip) browser = await launch();
});
after(() => browser?.close());
const options = { skip };
const small =
  '{\n  "activeLoadout": "Mine",\n  "loadouts": {\n    "Mine": {\n      "entry": "Socket-1",\n      "sockets": {\n        "Socket-1": { "materia": "Detect-VCS" }\n      }\n    }\n  }\n}\n';

test(
  "B1, B2: a materia dragged to the canvas, and added with keys, are the same text; undo removes it",
  options,
  async () => {
    const texts = [];
    await withEditor(
      browser,
      async (page) => {
        await card(page, "Socket-1").waitFor();
        const before = await json(page);
        await byId(page, "pal-Build").dragTo(byId(page, "canvas"), { targetPosition: { x: 300, y: 300 } });
        await card(page, "Socket-2").waitFor();
        assert.equal(await page.locator(".editor_canvas .graph_card").count(), 2);
        texts.push(await json(page));
        assert.deepEqual(value(texts[0]).loadouts.Mine.sockets["Socket-2"], { materia: "Build" });
        await byId(page, "drawer-outline").click();
        await byId(page, "outline-socket:Socket-2").waitFor();
        await byId(page, "undo").click();
        await card(page, "Socket-2").waitFor({ state: "detached" });
        await byId(page, "drawer-json").click();
        assert.equal(await json(page), before);
        await page.locator("body").click({ position: { x: 700, y: 400 } });
        await addByKeys(page, "build");
        await card(page, "Socket-2").waitFor();
        texts.push(await json(page));
      },
      { text: small },
    );
    assert.equal(texts[0], texts[1]);
  },
);

test("B3: dropped on an edge, it goes between, and the condition stays on the first half", options, async () => {
  await withEditor(browser, async (page) => {
    await card(page, "Socket-5").waitFor();
    const edge = byId(page, "edge-Socket-5->Socket-6");
    const { x, y } = await edge.evaluate((path) => {
      const at = path.getPointAtLength(path.getTotalLength() * 0.3).matrixTransform(path.getScreenCTM());
      return { x: at.x, y: at.y };
    });
    const from = await byId(page, "pal-Narrate").boundingBox();
    await page.mouse.move(from.x + 60, from.y + 10);
    await page.mouse.down();
    await page.mouse.move(x - 40, y + 30, { steps: 5 });
    await page.mouse.move(x, y, { steps: 5 });
    await page.mouse.up();
    await card(page, "Socket-8").waitFor();
    const { sockets, loops } = await loadout(page);
    assert.deepEqual(sockets["Socket-5"].edges[0], { when: "satisfied", to: "Socket-8" });
    assert.deepEqual(sockets["Socket-8"], { materia: "Narrate", edges: [{ when: "always", to: "Socket-6" }] });
    assert.deepEqual(loops.workItemIteration.sockets, ["Socket-4", "Socket-5", "Socket-8", "Socket-6"]);
  });
});

test("B4: 20 edits, 20 undos, 20 redos give the same bytes", options, async () => {
  await withEditor(browser, async (page) => {
    await card(page, "Socket-5").waitFor();
    const start = await json(page);
    let seed = 7;
    const any = (count) => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return Math.floor((seed / 2147483648) * count);
    };
    const edits = [
      () => addByKeys(page, ["build", "narrate", "verify"][any(3)]),
      async () => {
        await page.keyboard.press("e");
        await byId(page, "connect-input").waitFor();
        await page.keyboard.type("end");
        await page.keyboard.press("Enter");
      },
      () => page.keyboard.press("Control+d"),
      async () => {
        await page.keyboard.press("F2");
        await byId(page, "rename-input").fill(`one-${any(100000)}`);
        await page.keyboard.press("Enter");
      },
      () => page.keyboard.press("Delete"),
    ];
    for (let step = 0; step < 20; step += 1) {
      const ids = Object.keys((await loadout(page)).sockets);
      await card(page, ids[any(ids.length)]).click();
      // A deletion only while there is enough to go on with.
      await edits[ids.length > 4 ? any(5) : any(4)]();
      await until(
        async () => (await byId(page, "change-count").textContent()) === String(step + 1),
        `edit ${step + 1}`,
      );
    }
    const end = await json(page);
    assert.notEqual(end, start);
    for (let step = 0; step < 20; step += 1) await page.keyboard.press("Control+z");
    assert.equal(await json(page), start);
    assert.equal(await byId(page, "undo").isDisabled(), true);
    for (let step = 0; step < 20; step += 1) await page.keyboard.press("Control+Shift+Z");
    assert.equal(await json(page), end);
  });
});

const boxes = (page) =>
  page.locator(".editor_canvas [data-socket]").evaluateAll((cards) =>
    cards.map((one) => {
      const { x, y, width, height } = one.getBoundingClientRect();
      return { id: one.dataset.socket, x, y, width, height };
    }),
  );
const apart = (list) =>
  list.every((a, index) =>
    list
      .slice(index + 1)
      .every((b) => a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y),
  );

test("B9: Shift+L lays out without overlaps, members inside, twice the same, as one step", options, async () => {
  await withEditor(browser, async (page) => {
    await card(page, "Socket-5").waitFor();
    const first = await boxes(page);
    await card(page, "Socket-5").click();
    for (let step = 0; step < 6; step += 1) await page.keyboard.press("Alt+ArrowDown");
    await until(async () => (await loadout(page)).layout?.sockets["Socket-5"]);
    const moved = await json(page);
    assert.notDeepEqual(await boxes(page), first);
    await page.keyboard.press("Shift+L");
    await until(async () => !(await loadout(page)).layout);
    await until(async () => JSON.stringify(await boxes(page)) === JSON.stringify(first), "the same layout");
    const region = await byId(page, "region-workItemIteration").boundingBox();
    for (const box of (await boxes(page)).filter(({ id }) => ["Socket-4", "Socket-5", "Socket-6"].includes(id)))
      assert.ok(
        box.x >= region.x &&
          box.y >= region.y &&
          box.x + box.width <= region.x + region.width &&
          box.y + box.height <= region.y + region.height,
        `${box.id} is in its region`,
      );
    assert.ok(apart(await boxes(page)));
    await page.keyboard.press("Control+z");
    assert.equal(await json(page), moved);
  });
});

test("a card that is dragged stays where it was put", options, async () => {
  await withEditor(browser, async (page) => {
    await card(page, "Socket-7").waitFor();
    const from = await card(page, "Socket-7").boundingBox();
    await page.mouse.move(from.x + 80, from.y + 20);
    await page.mouse.down();
    await page.mouse.move(from.x + 280, from.y + 60, { steps: 8 });
    await page.mouse.up();
    await until(async () => (await loadout(page)).layout?.sockets["Socket-7"]);
    const to = await card(page, "Socket-7").boundingBox();
    assert.ok(Math.abs(to.x - from.x - 200) < 40 && Math.abs(to.y - from.y - 40) < 20);
    await page.reload();
    await card(page, "Socket-7").waitFor();
    await until(async () => Math.abs((await card(page, "Socket-7").boundingBox()).x - to.x) < 8);
    assert.ok(apart(await boxes(page)));
  });
});

test("B10: a guarded edge behind always is a problem at once; its fix puts it first", options, async () => {
  await withEditor(browser, async (page) => {
    await card(page, "Socket-6").click();
    const begun = Date.now();
    await byId(page, "grip-0").dragTo(byId(page, "edge-row-1"));
    const problem = page.locator('[data-code="graph::unreachable-edge"]');
    await problem.waitFor();
    assert.ok(Date.now() - begun < 5000);
    await page.locator(".editor_canvas .graph_ln.needs_you").first().waitFor();
    await problem.locator('[data-testid="fix"]').click();
    await problem.waitFor({ state: "detached" });
    const { edges } = (await loadout(page)).sockets["Socket-6"];
    assert.deepEqual(
      edges.map((edge) => edge.when),
      ["not_satisfied", "always"],
    );
  });
});

test("B11: a verdict asked of text is a problem, and saving says why it is not possible", options, async () => {
  await withEditor(browser, async (page) => {
    await card(page, "Socket-5").click();
    await page.locator(".editor_insp .parts_seg button", { hasText: "text" }).first().click();
    await page.locator('[data-code="graph::needs-json"]').first().waitFor();
    const review = byId(page, "review");
    await until(async () => await review.isDisabled());
    assert.match(await review.textContent(), /fix \d+ errors? first/);
    await page.locator('[data-code="graph::needs-json"] [data-testid="fix"]').first().click();
    await until(async () => !(await review.isDisabled()) || (await byId(page, "start-cast").count()) > 0);
  });
});

test("B12: Ctrl+G makes the loop; deleting the region removes its exits", options, async () => {
  await withEditor(browser, async (page) => {
    await card(page, "Socket-4").waitFor();
    const wanted = (await loadout(page)).loops;
    await byId(page, "loop-workItemIteration").click();
    await page.keyboard.press("Delete");
    await byId(page, "region-workItemIteration").waitFor({ state: "detached" });
    assert.equal((await json(page)).includes("exits"), false);
    await card(page, "Socket-4").click();
    await card(page, "Socket-5").click({ modifiers: ["Shift"] });
    await card(page, "Socket-6").click({ modifiers: ["Shift"] });
    await page.keyboard.press("Control+g");
    await byId(page, "wizard-consumes").waitFor();
    assert.deepEqual(await byId(page, "wizard-consumes").locator("option").allTextContents(), [
      "Auto-Plan, Socket-3",
      "nothing",
    ]);
    await byId(page, "wizard-when").selectOption("always");
    await byId(page, "wizard-to").selectOption("Socket-7");
    await byId(page, "make-loop").click();
    await byId(page, "region-workItemIteration").waitFor();
    assert.deepEqual((await loadout(page)).loops, wanted);
    // Sockets of which only some are in the loop cannot be another one.
    await card(page, "Socket-3").click();
    await card(page, "Socket-4").click({ modifiers: ["Shift"] });
    await page.keyboard.press("Control+g");
    assert.match(await byId(page, "loop-fault").textContent(), /Socket-4 is in the loop/);
  });
});

test("B13: the condition of an exit is changed on the canvas, and sockets stay as they are", options, async () => {
  await withEditor(browser, async (page) => {
    await card(page, "Socket-7").waitFor();
    const before = await loadout(page);
    const edge = "loop-exit:workItemIteration:exit:Socket-6:always";
    await pressEdge(page, edge);
    await byId(page, "insp-edge").waitFor();
    await page.locator(".editor_insp .parts_seg button", { hasText: /^satisfied$/ }).click();
    const now = await loadout(page);
    assert.deepEqual(now.sockets, before.sockets);
    assert.deepEqual(now.loops.workItemIteration.exits, [
      { id: "exit:Socket-6:always", from: "Socket-6", condition: "satisfied", targetSocketId: "Socket-7" },
    ]);
    assert.equal((await json(page)).includes("loop-exit:"), false);
    await page.keyboard.press("Delete");
    await until(async () => !(await loadout(page)).loops.workItemIteration.exits);
    assert.deepEqual((await loadout(page)).sockets, before.sockets);
  });
});

test("B14: numbers on edges are the order of the list; dragging in the inspector changes both", options, async () => {
  await withEditor(browser, async (page) => {
    await card(page, "Socket-5").click();
    const order = async (edge) => byId(page, `order-${edge}`).textContent();
    assert.equal(await order("Socket-5->Socket-6"), "1");
    assert.equal(await order("Socket-5->Socket-4"), "2");
    await byId(page, "grip-1").dragTo(byId(page, "edge-row-0"));
    await until(async () => (await order("Socket-5->Socket-4")) === "1");
    assert.equal(await order("Socket-5->Socket-6"), "2");
    assert.deepEqual(
      (await loadout(page)).sockets["Socket-5"].edges.map((edge) => edge.to),
      ["Socket-4", "Socket-6"],
    );
    assert.equal(await byId(page, "edge-when-0").inputValue(), "not_satisfied");
  });
});

test("B15: the text changes the graph; a fault keeps the last sound graph and marks the line", options, async () => {
  await withEditor(browser, async (page) => {
    await byId(page, "edge-Socket-5->Socket-6").waitFor({ state: "attached" });
    const text = await json(page);
    await put(page, text.replace('"when": "satisfied", "to": "Socket-6"', '"when": "not_satisfied", "to": "Socket-6"'));
    await page
      .locator('[data-testid="edge-Socket-5->Socket-6"][data-kind="not_satisfied"]')
      .waitFor({ state: "attached" });
    const broken = text.replace('"entry": "Socket-1",', '"entry": "Socket-1"');
    await put(page, broken);
    await byId(page, "problem-syntax").waitFor();
    assert.equal(await page.locator(".editor_canvas .graph_card").count(), 7);
    const line = broken.slice(0, broken.indexOf('"sockets"')).split("\n").length;
    await byId(page, `json-note-${line}`).waitFor();
    assert.match(await byId(page, "review").textContent(), /fix line/);
    // The canvas does not write into a broken text.
    await card(page, "Socket-4").click();
    await page.keyboard.press("Delete");
    assert.equal(await json(page), broken);
    assert.match(await byId(page, "notice").textContent(), /Fix the text first/);
  });
});

test("the text completes fields and words from the schema, and names from the document", options, async () => {
  await withEditor(browser, async (page) => {
    const text = await json(page);
    const at = text.indexOf('"when": "always", "to": "Socket-2"') + '"when": "'.length;
    await caret(page, at);
    await page.keyboard.press("Control+Space");
    await page.locator(".cm-completionLabel").first().waitFor();
    assert.deepEqual(await page.locator(".cm-completionLabel").allTextContents(), [
      "always",
      "satisfied",
      "not_satisfied",
    ]);
    await page.keyboard.press("Escape");
    for (let step = 0; step < 6; step += 1) await page.keyboard.press("Delete");
    await page.keyboard.type("not");
    await page.locator(".cm-completionLabel", { hasText: "not_satisfied" }).waitFor();
    await page.keyboard.press("Enter");
    assert.equal((await loadout(page)).sockets["Socket-1"].edges[0].when, "not_satisfied");
  });
});

test("B21: a search finds a socket by its prompt and dims the others", options, async () => {
  await withEditor(browser, async (page) => {
    await card(page, "Socket-6").waitFor();
    await page.keyboard.press("Control+f");
    await byId(page, "find").fill("zzz nothing");
    await until(async () => /^0 of/.test(await byId(page, "found").textContent()));
    const config = JSON.parse(
      await page.evaluate(async () => {
        const key = { "X-Materia-Key": localStorage.getItem("materia.key") };
        const project = (await (await fetch("/api/projects", { headers: key })).json()).items[0].id;
        return (await fetch(`/api/materia?project=${project}`, { headers: key })).text();
      }),
    );
    const words = (name) => JSON.stringify(config.items.find((item) => item.name === name).value).toLowerCase();
    const sockets = (await loadout(page)).sockets;
    const expected = Object.entries(sockets)
      .filter(([, socket]) => words(socket.materia).includes("commit"))
      .map(([id]) => id);
    await byId(page, "find").fill("commit");
    await until(async () => (await byId(page, "found").textContent()) === `${expected.length} of 7`);
    const dim = await page
      .locator(".editor_canvas .graph_card.editor_dimmed")
      .evaluateAll((cards) => cards.map((one) => one.dataset.socket));
    assert.deepEqual(
      dim.sort(),
      Object.keys(sockets)
        .filter((id) => !expected.includes(id))
        .sort(),
    );
  });
});

test("a drag from a handle into the open asks what follows, and connects it", options, async () => {
  await withEditor(
    browser,
    async (page) => {
      await card(page, "Socket-1").waitFor();
      const box = await card(page, "Socket-1").boundingBox();
      await page.mouse.move(box.x + box.width, box.y + box.height / 2);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width + 160, box.y + 140, { steps: 8 });
      await page.mouse.up();
      await byId(page, "add-input").waitFor();
      await page.keyboard.type("auto-plan");
      await page.keyboard.press("Enter");
      await card(page, "Socket-2").waitFor();
      assert.deepEqual((await loadout(page)).sockets["Socket-1"].edges, [{ when: "always", to: "Socket-2" }]);
      assert.match(await card(page, "Socket-2").textContent(), /Generator/);
    },
    { text: small },
  );
  await withEditor(browser, async (page) => {
    assert.match(await card(page, "Socket-4").textContent(), /Loop consumer/);
  });
});

test("comments and unknown fields survive edits on the canvas", options, async () => {
  const text = mine().replace(
    '"entry": "Socket-1",',
    '"entry": "Socket-1", // begin here\n      "mine": { "kept": [1.50,] },',
  );
  await withEditor(
    browser,
    async (page) => {
      await card(page, "Socket-7").click();
      await addByKeys(page, "build");
      await card(page, "Socket-8").waitFor();
      await page.keyboard.press("Control+z");
      await until(async () => (await json(page)) === text);
      await page.keyboard.press("Control+Shift+Z");
      assert.ok((await json(page)).includes('// begin here\n      "mine": { "kept": [1.50,] },'));
    },
    { text },
  );
});

test("a file with CRLF keeps its line ends when its text is typed into", options, async () => {
  const text = mine().replaceAll("\n", "\r\n");
  await withEditor(
    browser,
    async (page, server) => {
      await card(page, "Socket-7").click();
      await caret(page, (await json(page)).indexOf("Plans the request"));
      await page.keyboard.type("Now: ");
      await byId(page, "review").click();
      await byId(page, "counts").waitFor();
      await byId(page, "save").click();
      await until(async () => /^Saved/.test(await byId(page, "save-state").textContent()));
      assert.equal(server.read(), text.replace("Plans the request", "Now: Plans the request"));
    },
    { text },
  );
});

test("names and words of others are text, wherever the editor shows them", options, async () => {
  const bad = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>';
  const materia = {
    [bad]: { prompt: bad, description: bad, label: bad, group: bad, color: `red;background:url(javascript:${bad})` },
    "javascript:window.hurt=1": { type: "utility", command: ["echo", bad], description: "\u202Egnp.exe" },
  };
  const text = JSON.stringify({
    activeLoadout: "Mine",
    loadouts: {
      Mine: {
        entry: "Socket-1",
        description: bad,
        sockets: {
          "Socket-1": {
            materia: bad,
            parse: "json",
            edges: [
              { id: bad, when: "satisfied", where: { path: `state.${bad}`, equals: bad }, to: "Socket-2" },
              { to: "end" },
            ],
          },
          "Socket-2": { materia: "javascript:window.hurt=1", edges: [{ to: "end" }] },
          [`"]${bad}`]: { materia: bad },
        },
        layout: { sockets: { constructor: { x: 1, y: 1 } } },
      },
      [bad]: { entry: "Socket-1", sockets: { "Socket-1": { materia: bad } } },
    },
    materia,
  });
  await withEditor(
    browser,
    async (page, server) => {
      await card(page, "Socket-1").click();
      for (const tab of ["prompt", "loadout", "socket"]) await byId(page, `insp-${tab}`).click();
      for (const tab of ["outline", "simulate", "json"]) await byId(page, `drawer-${tab}`).click();
      await page.keyboard.press("Escape");
      await card(page, "Socket-2").click();
      await page.keyboard.press("a");
      await page.keyboard.type("img");
      await byId(page, "add-list").locator("button").first().waitFor();
      await page.keyboard.press("Escape");
      for (const path of ["/materia", `/materia/${encodeURIComponent("javascript:window.hurt=1")}`, "/loadouts"]) {
        await page.goto(server.url + path);
        await page.waitForSelector("h1");
        await page.waitForTimeout(200);
        const found = await page.evaluate(() => ({
          hurt: window.hurt,
          images: document.querySelectorAll("#root img, #root script").length,
          handlers: [...document.querySelectorAll("#root *")].filter((one) =>
            [...one.attributes].some(
              (attribute) => /^on/i.test(attribute.name) || /^\s*javascript:/i.test(attribute.value),
            ),
          ).length,
        }));
        assert.deepEqual(
          { ...found, handlers: path.startsWith("/materia/") ? 0 : found.handlers },
          { hurt: undefined, images: 0, handlers: 0 },
        );
      }
    },
    { text },
  );
});
