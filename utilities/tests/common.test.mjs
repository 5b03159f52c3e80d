// What holds for every utility: bad input is refused clearly, and the copied parts are the same.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { UTILITIES, world } from "./support.mjs";

const names = readdirSync(UTILITIES).filter((name) => name.endsWith(".mjs"));
const sources = new Map(names.map((name) => [name, readFileSync(join(UTILITIES, name), "utf8")]));

test("the shipped utilities are these", () => {
  assert.deepEqual(names.sort(), [
    "blackbelt-bootstrap.mjs",
    "blackbelt-maintain.mjs",
    "commit-sigil.mjs",
    "detect-vcs.mjs",
    "ignore-artifacts.mjs",
    "join.mjs",
    "verify.mjs",
  ]);
});

test("a utility imports nothing but Node's own modules and runs no shell", () => {
  for (const [name, source] of sources) {
    for (const [, module] of source.matchAll(/from "([^"]+)"/g)) assert.match(module, /^node:/, name);
    assert.doesNotMatch(source, /shell:|execSync|execFile|await import|require\(/, name);
    const programs = source.match(/import \{(.*)\} from "node:child_process"/);
    if (programs) assert.match(programs[1].trim(), /^spawn(Sync)?$/, name);
  }
});

test("the parts that every file carries are the same everywhere", () => {
  for (const [from, to, least] of [
    ["// ---- The same in every utility, so", "// ---- End of the common part. ----", 7],
    ["// ---- The same in every utility that", "// ---- End of the part about programs. ----", 3],
  ]) {
    const parts = [...sources.values()]
      .filter((text) => text.includes(from))
      .map((text) => text.slice(text.indexOf(from), text.indexOf(to) + to.length));
    assert.equal(parts.length, least);
    assert.equal(new Set(parts).size, 1, from);
  }
});

for (const name of names) {
  // The code is the same everywhere (see above), so one of them answers for all in detail.
  const some = name === "join.mjs" ? 99 : 2;
  test(`${name} refuses bad input with a reason and prints nothing`, (t) => {
    const scratch = world(t);
    for (const [stdin, reason] of [
      ["", /stdin is empty/],
      ["{", /one JSON object/],
      ["   \n", /stdin is empty/],
      ["[]", /one JSON object/],
      ["null", /one JSON object/],
      ['"text"', /one JSON object/],
      ['{"params": []}', /`params` must be an object/],
      ['{"params": 1}', /`params` must be an object/],
      ['{"state": "x"}', /`state` must be an object/],
      ["{} {}", /one JSON object/],
    ].slice(0, some)) {
      const { status, stdout, stderr } = scratch.raw(name, stdin);
      assert.equal(status, 2, stdin);
      assert.equal(stdout, "", stdin);
      assert.match(stderr, reason, stdin);
      assert.ok(stderr.startsWith(`${name.slice(0, -4)}: `), stderr);
      assert.equal(stderr.trim().split("\n").length, 1, stderr);
    }
  });
}

test("a utility that looks at the project refuses a folder that is none", (t) => {
  const scratch = world(t);
  for (const name of ["detect-vcs.mjs", "blackbelt-bootstrap.mjs", "blackbelt-maintain.mjs"]) {
    for (const [cwd, reason] of [
      ["relative", /absolute path/],
      [7, /absolute path/],
      [join(scratch.base, "none"), /not a folder/],
    ]) {
      const { status, stdout, stderr } = scratch.raw(name, JSON.stringify({ cwd }));
      assert.deepEqual([status, stdout], [2, ""], name);
      assert.match(stderr, reason, name);
    }
    const { status, stderr } = scratch.utility(name, { params: { timeLimitMs: "soon" } });
    assert.equal(status, 2);
    assert.match(stderr, /timeLimitMs/);
  }
});
