// An approval that is refused and then given, with the real server: what is asked is shown whole, before and after.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { violations } from "./axe.mjs";
import { byId, launch } from "./browser.mjs";
import { skip, start } from "./editor-server.mjs";

const words = Array.from({ length: 200 }, (_, n) => `line ${n}`).join("\\n");
const text = JSON.stringify({
  activeLoadout: "Ask",
  artifactDir: ".materia",
  loadouts: {
    Ask: {
      entry: "say",
      sockets: {
        say: { materia: "Say", edges: [{ to: "run" }] },
        run: { materia: "Run", approval: "before", edges: [{ to: "write" }] },
        write: { materia: "Writer", approval: "before" },
      },
    },
  },
  materia: {
    Say: { type: "utility", parse: "text", command: ["printf", `${words}\\nthe very end`] },
    Run: { type: "utility", parse: "text", command: ["sh", "-c", "cat >/dev/null; echo ran | tee ran.txt"] },
    Writer: { prompt: "Write about what ran." },
  },
});

let browser;
let server;
before(async () => {
  if (skip) return;
  browser = await launch();
  server = await start(text);
  const made = server.cli("cast", "--trust", "--no-input", "--provider", "mock", "--cast-id", "asks", "do it");
  assert.match(made.stderr, /asks before it runs|waits/i, made.stderr);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("what is asked is shown whole; a refusal is another card, and approving it takes a second look", {
  skip,
}, async () => {
  const page = await server.page(browser, "/inbox");
  const card = byId(page, "inbox-asks");
  await card.locator('[data-testid="given"]').waitFor();
  // A shell reads what runs, and nothing else is said.
  assert.match(await byId(page, "argv").textContent(), /runs a script in a shell/);
  assert.doesNotMatch(await card.textContent(), /no shell/);
  // The input as the turn gets it, with its end.
  const given = await byId(page, "given").locator("pre").textContent();
  const input = JSON.parse(given);
  assert.equal(input.socketId, "run");
  assert.match(input.inputs[0].message, /the very end$/);
  const folded = await byId(page, "given").locator(".whole_quote").boundingBox();
  await byId(page, "given").getByRole("button", { name: "Show all" }).click();
  assert.ok((await byId(page, "given").locator(".whole_quote").boundingBox()).height > folded.height);
  const hash = (await card.locator("dd.mono").last().textContent()).trim();
  assert.deepEqual(await violations(page), []);
  await byId(page, "deny-reason").fill("not on a Friday");
  await byId(page, "deny").click();
  await byId(page, "refused").waitFor();
  const told = await byId(page, "refused").textContent();
  assert.match(told, /A person on this page refused this/);
  assert.match(told, /not on a Friday/);
  assert.match(told, /\d\d:\d\d/);
  // The same as before stands there, and nothing that looks like the first question.
  assert.equal(await byId(page, "given").locator("pre").textContent(), given);
  assert.equal((await card.locator("dd.mono").last().textContent()).trim(), hash);
  assert.equal((await byId(page, "approve").count()) + (await byId(page, "deny").count()), 0);
  await page.locator(".inbox_index").getByText("Refused: Run").waitFor();
  assert.deepEqual(await violations(page), []);
  // The key that approves does not approve this.
  await page.keyboard.press("y");
  await byId(page, "approve-refused").click();
  assert.equal(existsSync(join(server.project, "ran.txt")), false);
  assert.match(await page.locator(".pop_pop").textContent(), /It was refused: not on a Friday/);
  await byId(page, "approve-refused-confirm").click();
  // The next question is that of an agent: its whole prompt is shown, and there is no shell.
  await card.getByText("Writer asks before it runs").waitFor();
  await card.locator('[data-testid="given"]', { hasText: "Write about what ran." }).waitFor();
  assert.match(await byId(page, "given").locator("pre").textContent(), /ran\s*$/m);
  assert.doesNotMatch(await byId(page, "argv").textContent(), /shell/);
  assert.equal(existsSync(join(server.project, "ran.txt")), true);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test("a refusal at the terminal is told as one", { skip }, async () => {
  const page = await server.page(browser, "/inbox");
  assert.equal(server.cli("deny", "asks", "--reason", "later").status, 0);
  await byId(page, "refused").getByText("A person at a terminal refused this").waitFor();
  await page.goto(`${server.url}/casts/asks`);
  await byId(page, "banner").getByText("Writer was refused: later.").waitFor();
  await page.context().close();
});
