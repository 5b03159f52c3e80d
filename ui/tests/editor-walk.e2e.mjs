// Whole journeys in the editor with the real server: J3 with keys and with the mouse, walks, links, tries; A5, B20, B22.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { violations } from "./axe.mjs";
import { byId, launch } from "./browser.mjs";
import { addByKeys, card, json, loadout, put, until, value, withEditor } from "./editor-page.mjs";
import { mine, skip } from "./editor-server.mjs";

let browser;
before(async () => {
  if (!skip) browser = await launch();
});
after(() => browser?.close());
const options = { skip };

/** What J3 draws, however it is drawn. */
const drawn = {
  entry: "Socket-1",
  sockets: {
    "Socket-1": { materia: "Detect-VCS", edges: [{ when: "always", to: "Socket-2" }] },
    "Socket-2": { materia: "Auto-Plan", edges: [{ when: "always", to: "Socket-3" }] },
    "Socket-3": { materia: "Build", edges: [{ when: "always", to: "Socket-4" }] },
    "Socket-4": {
      materia: "Auto-Eval",
      edges: [
        { when: "satisfied", to: "Socket-5" },
        { when: "not_satisfied", to: "Socket-3" },
      ],
    },
    "Socket-5": {
      materia: "Maintain",
      advance: { cursor: "workItemIndex", when: "satisfied" },
      edges: [{ when: "always", to: "Socket-3" }],
    },
  },
  loops: {
    workItemIteration: {
      sockets: ["Socket-3", "Socket-4", "Socket-5"],
      consumes: { from: "Socket-2", output: "workItems" },
      exits: [{ id: "exit:Socket-5:satisfied", from: "Socket-5", condition: "satisfied", targetSocketId: "end" }],
    },
  },
};
const stored = (server) => value(server.read()).loadouts.Drawn;
const noErrors = (page) =>
  until(
    async () =>
      (await byId(page, "problem").count()) === 0 ||
      !/error/.test(await page.locator(".editor_dh.editor_side").textContent()),
  );

test("J3 with the keyboard alone: a loadout with a loop, walked, saved", options, async () => {
  await withEditor(
    browser,
    async (page, server) => {
      const focused = (id) =>
        until(() => page.evaluate((one) => document.activeElement?.dataset?.socket === one, id), `focus on ${id}`);
      let number = 0;
      for (const name of ["detect-vcs", "auto-plan", "build", "auto-eval", "maintain"]) {
        await addByKeys(page, name);
        number += 1;
        await card(page, `Socket-${number}`).waitFor();
        await focused(`Socket-${number}`);
      }
      // Auto-Eval: its way on asks for a verdict; the other one leads back.
      await page.keyboard.press("ArrowLeft");
      await focused("Socket-4");
      await page.keyboard.press("Enter");
      for (let step = 0; step < 12; step += 1) {
        const at = await page.evaluate(() => document.activeElement?.dataset?.testid);
        if (at === "edge-when-0") break;
        await page.keyboard.press("Tab");
      }
      await page.keyboard.type("sat");
      await until(async () => (await loadout(page, "Drawn")).sockets["Socket-4"].edges[0].when === "satisfied");
      await page.keyboard.press("Escape");
      await focused("Socket-4");
      await page.keyboard.press("e");
      await byId(page, "connect-input").waitFor();
      assert.equal(await byId(page, "connect-when").inputValue(), "not_satisfied");
      await page.keyboard.type("build");
      await page.keyboard.press("Enter");
      await until(async () => (await loadout(page, "Drawn")).sockets["Socket-4"].edges.length === 2);
      // The three that run for each item.
      await page.keyboard.press("Escape");
      await until(async () => /Auto-Eval/.test(await page.locator(".editor_ih h2").textContent()));
      await card(page, "Socket-4").focus();
      await page.keyboard.press("ArrowLeft");
      await focused("Socket-3");
      await page.keyboard.press("Shift+ArrowRight");
      await page.keyboard.press("Shift+ArrowRight");
      assert.equal(await page.locator(".editor_canvas .graph_card.graph_sel").count(), 3);
      await page.keyboard.press("Control+g");
      await byId(page, "wizard-consumes").waitFor();
      assert.equal(await byId(page, "wizard-consumes").inputValue(), "Socket-2");
      assert.equal(await byId(page, "wizard-when").inputValue(), "satisfied");
      for (let step = 0; step < 5; step += 1) await page.keyboard.press("Tab");
      await page.keyboard.press("Tab").catch(() => undefined);
      for (let step = 0; step < 6; step += 1) {
        if ((await page.evaluate(() => document.activeElement?.dataset?.testid)) === "make-loop") break;
        await page.keyboard.press("Shift+Tab");
      }
      await page.keyboard.press("Enter");
      await byId(page, "region-workItemIteration").waitFor();
      assert.deepEqual(await loadout(page, "Drawn"), drawn);
      await noErrors(page);
      // A walk: the second item is sent back once.
      const tabTo = async (testid) => {
        for (let step = 0; step < 200; step += 1) {
          if ((await page.evaluate(() => document.activeElement?.dataset?.testid)) === testid) return;
          await page.keyboard.press("Tab");
        }
        throw new Error(`${testid} is not reached with Tab`);
      };
      await tabTo("open-simulate");
      await page.keyboard.press("Enter");
      await byId(page, "ask-Socket-1").waitFor();
      const outcomes = [
        "done",
        "items",
        "done",
        "satisfied",
        "satisfied",
        "done",
        "not_satisfied",
        "done",
        "satisfied",
        "satisfied",
      ];
      for (const [index, outcome] of outcomes.entries()) {
        await tabTo(`choose-${outcome}`);
        await page.keyboard.press("Enter");
        await until(
          async () => (await page.locator('[data-testid="step"]').count()) === index + 1,
          `step ${index + 1}`,
        );
      }
      await byId(page, "walk-end").waitFor();
      assert.match(await byId(page, "walk-end").textContent(), /completed/);
      const went = await page
        .locator('[data-testid="step"]')
        .evaluateAll((list) => list.map((one) => one.dataset.socket.slice(7)));
      assert.equal(went.join(" "), "1 2 3 4 5 3 4 3 4 5");
      await page.keyboard.press("Control+s");
      await byId(page, "counts").waitFor();
      await until(() => page.evaluate(() => document.activeElement?.dataset?.testid === "save"));
      await page.keyboard.press("Enter");
      await until(async () => /^Saved/.test(await byId(page, "save-state").textContent()));
      assert.deepEqual(stored(server), drawn);
      assert.equal(server.cli("check", "--json").status, 0);
    },
    { text: null, path: "/loadouts/Drawn?begin=1&drawer=json" },
  );
});

test("J3 with the mouse alone", options, async () => {
  await withEditor(
    browser,
    async (page, server) => {
      // A press adds behind what is selected; the first one begins.
      let number = 0;
      for (const name of ["Detect-VCS", "Auto-Plan", "Build", "Auto-Eval", "Maintain"]) {
        await byId(page, `pal-${name}`).click();
        number += 1;
        await card(page, `Socket-${number}`).waitFor();
      }
      await card(page, "Socket-4").click();
      await byId(page, "edge-when-0").selectOption("satisfied");
      // From the handle of Auto-Eval to Build.
      const from = await card(page, "Socket-4").boundingBox();
      const to = await card(page, "Socket-3").boundingBox();
      await page.mouse.move(from.x + from.width, from.y + from.height / 2);
      await page.mouse.down();
      await page.mouse.move(to.x + to.width / 2, to.y + to.height + 40, { steps: 8 });
      await page.mouse.move(to.x + 1, to.y + to.height / 2, { steps: 6 });
      await page.mouse.up();
      await until(async () => (await loadout(page, "Drawn")).sockets["Socket-4"].edges.length === 2);
      await card(page, "Socket-3").click();
      await card(page, "Socket-4").click({ modifiers: ["Control"] });
      await card(page, "Socket-5").click({ modifiers: ["Control"] });
      await byId(page, "make-loop-button").click();
      await byId(page, "make-loop").click();
      await byId(page, "region-workItemIteration").waitFor();
      assert.deepEqual(await loadout(page, "Drawn"), drawn);
      await noErrors(page);
      await byId(page, "review").click();
      await byId(page, "counts").waitFor();
      await byId(page, "save").click();
      await until(async () => /^Saved/.test(await byId(page, "save-state").textContent()));
      assert.deepEqual(stored(server), drawn);
      await byId(page, "start-cast").click();
      await byId(page, "request").waitFor();
    },
    { text: null, path: "/loadouts/Drawn?begin=1&drawer=json" },
  );
});

test("B20: a walk with the outcomes true, false, true goes where the program goes", options, async () => {
  await withEditor(
    browser,
    async (page, server) => {
      await card(page, "Socket-7").waitFor();
      await byId(page, "open-simulate").click();
      const choose = async (socket, outcome) => {
        await byId(page, `ask-${socket}`).waitFor();
        await byId(page, `ask-${socket}`).locator(`[data-testid="choose-${outcome}"]`).click();
        await until(async () => (await page.locator(`[data-testid="step"][data-socket="${socket}"]`).count()) > 0);
      };
      await choose("Socket-1", "done");
      await choose("Socket-2", "done");
      await byId(page, "walk-items").fill("2");
      await choose("Socket-3", "items");
      const plan = [
        ["Socket-4", "done"],
        ["Socket-5", "satisfied"],
        ["Socket-6", "satisfied"],
        ["Socket-4", "done"],
        ["Socket-5", "not_satisfied"],
        ["Socket-4", "done"],
        ["Socket-5", "satisfied"],
        ["Socket-6", "satisfied"],
      ];
      const steps = () => page.locator('[data-testid="step"]').count();
      for (const [socket, outcome] of plan) {
        const before = await steps();
        await byId(page, `ask-${socket}`).locator(`[data-testid="choose-${outcome}"]`).click();
        await until(async () => (await steps()) === before + 1, `${socket} ${outcome}`);
      }
      await byId(page, "ask-Socket-7").waitFor();
      const walked = await page
        .locator('[data-testid="step"]')
        .evaluateAll((list) => list.map((one) => one.dataset.socket));
      assert.deepEqual(walked, ["Socket-1", "Socket-2", "Socket-3", ...plan.map(([socket]) => socket)]);
      // What is lit is what the program routed over.
      const project = await server.projectId();
      const answer = await server.ask("/simulate", {
        project,
        files: {},
        loadout: "Mine",
        choices: [
          { socket: "Socket-1", outcome: "done" },
          { socket: "Socket-2", outcome: "done" },
          { socket: "Socket-3", outcome: "items", items: 2 },
          ...plan.map(([socket, outcome]) => ({ socket, outcome })),
        ],
      });
      const routes = new Set(answer.body.steps.flatMap((step) => step.routes.map((route) => route.edge)));
      const lit = await page.evaluate(() =>
        [...document.querySelectorAll(".react-flow__edge")]
          .filter((one) => one.querySelector(".graph_ln.graph_lit"))
          .map((one) => one.querySelector(".graph_hit").dataset.edge),
      );
      assert.deepEqual(lit.sort(), [...routes].sort());
      assert.ok(lit.includes("loop-exit:workItemIteration:exit:Socket-6:always"));
      // The walk is saved as a case that the program passes.
      await byId(page, "ask-Socket-7").locator('[data-testid="choose-done"]').click();
      await byId(page, "walk-end").waitFor();
      const [download] = await Promise.all([page.waitForEvent("download"), byId(page, "save-case").click()]);
      const file = join(server.project, "walk.json");
      await download.saveAs(file);
      const proof = server.cli("conformance", "--trust", file);
      assert.equal(proof.status, 0, proof.stdout + proof.stderr);
      // It is a script for a cast as well; and that cast, walked again, goes the same way.
      const [script] = await Promise.all([page.waitForEvent("download"), byId(page, "save-script").click()]);
      await script.saveAs(join(server.project, "script.json"));
      const cast = server.cli("cast", "--loadout", "Mine", "--script", "script.json", "--trust", "--json", "go");
      assert.equal(cast.status, 0, cast.stdout + cast.stderr);
      const { castId, visits } = JSON.parse(cast.stdout);
      assert.deepEqual(
        visits.map((visit) => visit.socket),
        [...walked, "Socket-7"],
      );
      await byId(page, "walk-again").click();
      await until(async () => (await steps()) === 0);
      await byId(page, "walk-cast").locator(`option[value="${castId}"]`).waitFor({ state: "attached" });
      await byId(page, "walk-cast").selectOption(castId);
      // What the server makes of its history is what is walked.
      const { choices } = (await server.ask(`/casts/${castId}/choices?project=${project}`)).body;
      assert.ok(choices.length > 0);
      await until(async () => (await steps()) === choices.length);
      await byId(page, "walk-back").click();
      await until(async () => (await steps()) === choices.length - 1);
    },
    { path: "/loadouts/Mine" },
  );
});

test(
  "a loadout linked behind another shows what is stitched, or why not, and can be opened as a new one",
  options,
  async () => {
    await withEditor(
      browser,
      async (page, server) => {
        await card(page, "Socket-1").waitFor();
        await byId(page, "loadout-Full-Auto").dragTo(byId(page, "canvas"), { targetPosition: { x: 400, y: 300 } });
        await byId(page, "link-graph").waitFor();
        await byId(page, "link-name").fill("Both");
        await byId(page, "link-save").click();
        await until(async () => new URL(page.url()).pathname === "/loadouts/Both");
        await page.locator(".editor_canvas .graph_card").first().waitFor();
        await byId(page, "review").click();
        await byId(page, "save").click();
        await until(async () => /^Saved/.test(await byId(page, "save-state").textContent()));
        assert.ok(Object.keys(value(server.read()).loadouts.Both.sockets).length > 7);
        assert.equal(server.cli("check", "--json").status, 0);
      },
      {
        text: '{\n  "activeLoadout": "Mine",\n  "loadouts": {\n    "Mine": { "entry": "Socket-1", "sockets": { "Socket-1": { "materia": "Narrate" } } }\n  }\n}\n',
      },
    );
  },
);

test("a materia is written, saved, and tried after consent", options, async () => {
  await withEditor(
    browser,
    async (page, server) => {
      await page.goto(`${server.url}/materia/Counts?begin=1`);
      await byId(page, "materia-editor").waitFor();
      await page.locator(".parts_seg button", { hasText: "utility" }).click();
      await byId(page, "materia-command").fill("sh\n-c\nwc -c");
      await byId(page, "review").click();
      await byId(page, "save").click();
      await until(async () => /^Saved/.test(await byId(page, "save-state").textContent()));
      assert.deepEqual(value(server.read()).materia.Counts.command, ["sh", "-c", "wc -c"]);
      await byId(page, "try").click();
      await byId(page, "try-consent").waitFor();
      assert.match(await byId(page, "try-consent").textContent(), /wc -c/);
      await byId(page, "try-yes").click();
      await byId(page, "tried").waitFor();
      assert.match(await byId(page, "tried").textContent(), /Ended with 0/);
      assert.match(await byId(page, "tried").textContent(), /\d+/);
    },
    {},
  );
});

test("A5: no serious finding of axe in the editor, in both themes", options, async () => {
  await withEditor(browser, async (page, server) => {
    await card(page, "Socket-5").click();
    for (const tab of ["outline", "json", "simulate"]) {
      await byId(page, `drawer-${tab}`).click();
      await page.waitForTimeout(200);
      assert.deepEqual(await violations(page), [], tab);
    }
    await page.keyboard.press("Escape");
    await byId(page, "loop-workItemIteration").click();
    assert.deepEqual(await violations(page), [], "loop");
    await card(page, "Socket-5").click();
    await page.locator(".editor_insp .parts_seg button", { hasText: "text" }).first().click();
    await page.locator('[data-code="graph::needs-json"]').first().waitFor();
    assert.deepEqual(await violations(page), [], "problems");
    await byId(page, "fix").first().click();
    await byId(page, "field-timeoutMs").fill("1");
    await byId(page, "review").click();
    await byId(page, "counts").waitFor();
    assert.deepEqual(await violations(page), [], "review");
    await page.keyboard.press("Escape");
    for (const path of ["/loadouts", "/materia", "/materia/Build", "/materia/Detect-VCS"]) {
      await page.goto(server.url + path);
      await page.waitForSelector("h1");
      await page.waitForTimeout(200);
      assert.deepEqual(await violations(page), [], path);
    }
  });
});

/** F3: 200 sockets in a row, with ways back and ahead. */
function large(count = 200) {
  const sockets = {};
  for (let n = 1; n <= count; n += 1) {
    const edges = [];
    if (n % 10 === 0) edges.push({ when: "not_satisfied", to: `Socket-${n - 4}`, maxTraversals: 2 });
    if (n % 7 === 0 && n + 3 <= count) edges.push({ when: "satisfied", to: `Socket-${n + 3}` });
    edges.push({ when: "always", to: n < count ? `Socket-${n + 1}` : "end" });
    sockets[`Socket-${n}`] = { materia: n % 10 === 0 || n % 7 === 0 ? "Auto-Eval" : "Build", edges };
  }
  return JSON.stringify({ activeLoadout: "Big", loadouts: { Big: { entry: "Socket-1", sockets } } }, null, 2);
}

test("B9, B22: 200 sockets are laid out and moved about smoothly", options, async () => {
  await withEditor(
    browser,
    async (page) => {
      await card(page, "Socket-1").waitFor();
      await page.waitForTimeout(500);
      const box = await byId(page, "canvas").boundingBox();
      const measured = page.evaluate(
        () =>
          new Promise((resolve) => {
            const frames = [];
            const long = [];
            new PerformanceObserver((list) => {
              for (const entry of list.getEntries()) long.push(entry.duration);
            }).observe({ entryTypes: ["longtask"] });
            const begin = performance.now();
            let last = begin;
            const frame = (now) => {
              frames.push(now - last);
              last = now;
              if (now - begin < 5000) requestAnimationFrame(frame);
              else resolve({ frames, long });
            };
            requestAnimationFrame(frame);
          }),
      );
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      const end = Date.now() + 4800;
      for (let step = 0; Date.now() < end; step += 1) {
        if (step % 30 === 0) await page.mouse.down();
        await page.mouse.move(
          box.x + box.width / 2 + Math.sin(step / 5) * 200,
          box.y + box.height / 2 + Math.cos(step / 7) * 80,
        );
        if (step % 30 === 29) await page.mouse.up();
        if (step % 30 === 29)
          for (let turn = 0; turn < 3; turn += 1) await page.mouse.wheel(0, step % 60 === 29 ? -120 : 120);
      }
      await page.mouse.up();
      const { frames, long } = await measured;
      const sorted = frames.toSorted((a, b) => a - b);
      const p95 = sorted[Math.floor(sorted.length * 0.95)];
      console.log(
        `# 200 sockets: ${frames.length} frames, p95 ${p95.toFixed(1)} ms, long tasks ${long.map((one) => Math.round(one)).join(" ") || "none"}`,
      );
      // The figures are for docs; what fails here is a page that stands still.
      assert.ok(frames.length > 50, `${frames.length} frames in 5 s`);
      const drawnAgain = await page.evaluate(() => {
        const cards = [...document.querySelectorAll(".editor_canvas [data-socket]")].map((one) =>
          one.getBoundingClientRect(),
        );
        return cards.every((a, index) =>
          cards
            .slice(index + 1)
            .every(
              (b) => a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1,
            ),
        );
      });
      assert.ok(drawnAgain);
    },
    { text: large(), path: "/loadouts/Big" },
  );
});

test("the text of a large loadout is edited without delay", options, async () => {
  await withEditor(
    browser,
    async (page) => {
      await card(page, "Socket-1").waitFor();
      const text = await json(page);
      await put(page, text.replace('"materia": "Build"', '"materia": "Narrate"'));
      await until(async () => /Narrate/.test(await card(page, "Socket-1").textContent()));
    },
    { text: large(), path: "/loadouts/Big?drawer=json" },
  );
});

test("the outline does with keys what the canvas does with the mouse", options, async () => {
  await withEditor(
    browser,
    async (page) => {
      await byId(page, "outline-loadout").focus();
      await page.keyboard.press("ArrowDown");
      await until(async () => (await byId(page, "outline-socket:Socket-1").getAttribute("aria-selected")) === "true");
      await page.keyboard.press("a");
      await page.keyboard.type("verify");
      await page.keyboard.press("Enter");
      await byId(page, "outline-socket:Socket-8").waitFor();
      await byId(page, "outline-edge:Socket-5->Socket-4").focus();
      await byId(page, "outline-edge:Socket-5->Socket-4").click();
      await page.keyboard.press("Alt+ArrowUp");
      await until(async () =>
        /^1\. not satisfied/.test(await byId(page, "outline-edge:Socket-5->Socket-4").textContent()),
      );
      await page.keyboard.press("Delete");
      await byId(page, "outline-edge:Socket-5->Socket-4").waitFor({ state: "detached" });
      await byId(page, "outline-socket:Socket-7").click();
      await page.keyboard.press("F2");
      await byId(page, "rename-input").fill("Tell");
      await page.keyboard.press("Enter");
      await byId(page, "outline-socket:Tell").waitFor();
      await byId(page, "drawer-json").click();
      assert.equal((await loadout(page)).loops.workItemIteration.exits[0].targetSocketId, "Tell");
      assert.ok((await json(page)).includes("// What cannot be committed"));
      assert.notEqual(await json(page), mine());
    },
    { path: "/loadouts/Mine?drawer=outline" },
  );
});
