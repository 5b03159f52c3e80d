// What holds for every utility: bad input is refused clearly, and the copied parts have one source.

import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
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

// Each file must work when it is copied alone, so it carries these parts. `MATERIA_BLESS=1` copies them into the files.
test("the parts that files share are those of `utilities/common`", () => {
  for (const [file, least] of [
    ["input.mjs", 7],
    ["programs.mjs", 3],
  ]) {
    const part = readFileSync(join(UTILITIES, "common", file), "utf8").trimEnd();
    const [from, to] = [part.split("\n").at(0), part.split("\n").at(-1)];
    const users = [...sources].filter(([, text]) => text.includes(from));
    assert.equal(users.length, least, file);
    for (const [name, text] of users) {
      const [start, end] = [text.indexOf(from), text.indexOf(to) + to.length];
      if (process.env.MATERIA_BLESS) {
        sources.set(name, text.slice(0, start) + part + text.slice(end));
        writeFileSync(join(UTILITIES, name), sources.get(name));
      } else assert.equal(text.slice(start, end), part, name);
    }
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
