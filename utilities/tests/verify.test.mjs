import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { world } from "./support.mjs";

const NAME = "verify.mjs";
const NODE = process.execPath;

const verify = (t, command, more = {}) => world(t).utility(NAME, { params: { command }, ...more });

test("it is satisfied by status 0 and by nothing else", (t) => {
  for (const [code, satisfied] of [[0, true], [1, false], [2, false], [127, false]]) {
    const { status, answer } = verify(t, [NODE, "-e", `console.log("said"); process.exit(${code})`]);
    assert.equal(status, 0);
    assert.deepEqual(answer, { satisfied, context: "said" });
  }
  const { answer } = verify(t, [NODE, "-e", "process.exit(3)"]);
  assert.deepEqual(answer, { satisfied: false, context: "exit status 3" });
});

test("the context is how standard output ends, then standard error", (t) => {
  const program = 'process.stdout.write("a".repeat(5000) + "END\\n"); process.stderr.write("é".repeat(3000) + "!\\n"); process.exitCode = 1';
  const { answer, stderr } = verify(t, [NODE, "-e", program]);
  assert.equal(answer.context, `${"a".repeat(1997)}END\n${"é".repeat(1999)}!`);
  assert.ok(stderr.includes("a".repeat(5000)), "all of it is kept with the turn");
});

test("what the command says is passed on while it runs", async (t) => {
  const program = 'process.stdout.write("begun\\n"); process.stdin.resume(); setTimeout(() => {}, 60_000)';
  const child = spawn(NODE, [fileURLToPath(new URL(`../${NAME}`, import.meta.url))], { detached: true });
  t.after(() => process.kill(-child.pid, "SIGKILL"));
  child.stdin.end(JSON.stringify({ params: { command: [NODE, "-e", program] } }));
  const [first] = await once(child.stderr, "data");
  assert.equal(String(first), "begun\n");
});

test("no shell reads the command, and it runs in the project", (t) => {
  const scratch = world(t);
  const show = "console.log(process.cwd(), process.argv.slice(1).join('|'))";
  const params = { command: [NODE, "-e", show, "$HOME; touch x", "a b"] };
  const { answer } = scratch.utility(NAME, { cwd: scratch.base, params });
  assert.equal(answer.context, `${scratch.base} $HOME; touch x|a b`);
});

test("a program that is not there, or that a signal ends, is a failure and no verdict", (t) => {
  for (const [command, reason] of [
    [["no-such-program-anywhere"], /cannot be run/],
    [[NODE, "-e", 'process.kill(process.pid, "SIGKILL")'], /ended by SIGKILL/],
  ]) {
    const { status, stdout, stderr } = world(t).raw(NAME, JSON.stringify({ params: { command } }));
    assert.deepEqual([status, stdout], [1, ""]);
    assert.match(stderr, reason);
  }
});

test("what is no command is refused", (t) => {
  for (const command of [undefined, "npm test", [], [""], ["a", 1], ["a\u0000b"], [["a"]]]) {
    const { status, stdout, stderr } = world(t).raw(NAME, JSON.stringify({ params: { command } }));
    assert.deepEqual([status, stdout], [2, ""], JSON.stringify(command));
    assert.match(stderr, /params.command/);
  }
});
