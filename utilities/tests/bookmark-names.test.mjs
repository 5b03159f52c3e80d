// The names that Blackbelt-Bootstrap gives to bookmarks, against the real git and the real jj.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

import { nameBookmark } from "../blackbelt-bootstrap.mjs?library";
import { withJj, world } from "./support.mjs";

const OVERRIDES = 10_000;

const wish = (bookmarkName) => nameBookmark({ params: { bookmarkName }, castId: "cast-1" }, "/project");
const ofCast = (castId) => nameBookmark({ params: {}, castId }, "/project");

/** The same numbers in every run (mulberry32). */
function numbers(seed) {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Overrides made of what refs do not like, of ordinary words, and of any character at all. */
function overrides(count) {
  const pick = numbers(5);
  const pieces = [
    "/",
    "//",
    ".",
    "..",
    "-",
    "--",
    "@",
    "@{",
    "~",
    "^",
    ":",
    "?",
    "*",
    "[",
    "\\",
    " ",
    "\t",
    "\n",
    "\0",
    "\x7f",
    ".lock",
    ".LOCK",
    "lock",
    "a",
    "Z9",
    "feature",
    "release/1.0",
    "HEAD",
    "refs/heads/",
    "blackbelt/",
    "_",
    "ü",
    "é",
    "日本",
    "🎉",
    "\ud800",
    "'",
    '"',
    "$(x)",
    "#",
    "+",
    "=",
    "{",
    "%00",
  ];
  return Array.from({ length: count }, () => {
    const parts = Array.from({ length: 1 + pick(12) }, () => {
      const kind = pick(10);
      if (kind < 7) return pieces[pick(pieces.length)];
      if (kind < 9) return String.fromCharCode(pick(128));
      return String.fromCodePoint(pick(0xd800)).repeat(1 + pick(40));
    });
    return parts.join("");
  });
}

/** Runs git in the scratch repository, whatever it comes to. */
function git(scratch, words, input) {
  return spawnSync(join(scratch.env.PATH, "git"), words, {
    cwd: scratch.project,
    env: scratch.env,
    input,
    encoding: "utf8",
  });
}

/**
 * What git says against names, each looked at by itself but all in one process: it reads a
 * transaction about them, for which each name must be valid, and gives it up at the end.
 */
function refused(scratch, names) {
  const lines = names.map((name) => `verify refs/heads/${name} ${"0".repeat(40)}\n`);
  return git(scratch, ["update-ref", "--stdin"], `start\n${lines.join("")}abort\n`).stderr;
}

test(`${OVERRIDES} overrides give names that git takes as refs`, (t) => {
  const scratch = world(t, "git");
  scratch.tell("git", "init", "--quiet", "--bare");
  const names = overrides(OVERRIDES).map(wish);
  const different = [...new Set(names)];
  assert.ok(different.length > OVERRIDES / 2, `only ${different.length} different names`);
  for (const name of different) {
    assert.ok(name.startsWith("blackbelt/") && name.length > 10 && name.length <= 100, name);
  }
  assert.equal(refused(scratch, different), "");
  // Names put one below the other make one long ref, whose parts `check-ref-format` all checks.
  for (let start = 0; start < different.length; start += 50) {
    const ref = ["refs", ...different.slice(start, start + 50)].join("/");
    assert.equal(git(scratch, ["check-ref-format", ref]).status, 0, ref);
  }
  for (const name of different.slice(0, 200)) {
    assert.equal(git(scratch, ["check-ref-format", "--branch", name]).status, 0, name);
  }
});

test("these checks can fail", (t) => {
  const scratch = world(t, "git");
  scratch.tell("git", "init", "--quiet", "--bare");
  assert.equal(refused(scratch, ["blackbelt/fine", "blackbelt/fine/too"]), "");
  for (const bad of [
    "blackbelt/a..b",
    "blackbelt/.a",
    "blackbelt/a.lock",
    "blackbelt/a.",
    "blackbelt//a",
    "blackbelt/a~",
    "blackbelt/a@{b",
  ]) {
    assert.match(refused(scratch, ["blackbelt/fine", bad]), /invalid ref format/, bad);
    assert.equal(git(scratch, ["check-ref-format", "--branch", bad]).status === 0, false, bad);
  }
});

test("jj takes the names as they are, without quotes", withJj, (t) => {
  const scratch = world(t, "jj");
  scratch.tell("jj", "git", "init", "--no-colocate");
  const names = [
    ...new Set([
      ...overrides(1000).map(wish),
      ...Array.from({ length: 100 }, (_, number) => ofCast(`cast-${number}`)),
    ]),
  ].sort();
  scratch.tell("jj", "bookmark", "set", "--revision=@", "--", ...names);
  const listed = scratch
    .tell("jj", "bookmark", "list", '--template=name ++ "\n"')
    .split("\n")
    .filter((name) => name !== "");
  assert.deepEqual(listed.sort(), names);
});

test("what is fine already stays, below the prefix", () => {
  for (const [override, name] of [
    ["release", "blackbelt/release"],
    ["release/1.0", "blackbelt/release/1.0"],
    ["blackbelt/release", "blackbelt/release"],
    ["main", "blackbelt/main"],
    ["My_Work-2", "blackbelt/My_Work-2"],
    ["a b", "blackbelt/a-b"],
    ["-rf", "blackbelt/rf"],
    ["a..b", "blackbelt/a-b"],
    ["a.lock", "blackbelt/a-lock"],
    ["/a//b/", "blackbelt/a/b"],
    ["Größe", "blackbelt/Gro-e"],
    [`${"x".repeat(89)}.y`, `blackbelt/${"x".repeat(89)}`],
  ]) {
    assert.equal(wish(override), name);
    assert.equal(wish(name), name, "a safe name is not changed again");
  }
});

test("an override of which nothing is left gives the cast's own name", () => {
  for (const override of ["", "///", "...", "日本", "@", undefined, null])
    assert.equal(wish(override), ofCast("cast-1"));
  assert.throws(() => wish(7), /bookmarkName/);
});

test("a cast's name is always the same and shows nothing of its id", () => {
  // Pinned: a bookmark must be found again by every later version.
  assert.equal(ofCast("2026-05-01T00-00-00-000Z"), "blackbelt/cedar-leaps-70138582d2");
  assert.equal(ofCast("cast-1"), "blackbelt/river-shines-c815bc2120");
  for (let number = 0; number < 1000; number += 1) {
    const castId = `2026-05-01T00-00-00-${String(number).padStart(3, "0")}Z`;
    assert.match(ofCast(castId), /^blackbelt\/[a-z]+-[a-z]+-[0-9a-f]{10}$/);
    assert.equal(ofCast(castId), ofCast(castId));
    assert.equal(ofCast(castId).includes("2026"), ofCast(castId).slice(-10).includes("2026"));
  }
  const names = Array.from({ length: 10_000 }, (_, number) => ofCast(`cast-${number}`));
  assert.equal(new Set(names).size, names.length);
});

test("the run folder and the project are seeds only where there is no cast id", () => {
  const of = (castId, runDir, cwd) => nameBookmark({ params: {}, castId, runDir }, cwd);
  assert.equal(of("c", "/r1", "/p1"), of("c", "/r2", "/p2"));
  assert.equal(of(undefined, "/r", "/p1"), of("", "/r", "/p2"));
  assert.notEqual(of(undefined, "/r", "/p"), of(undefined, "/s", "/p"));
  assert.notEqual(of(undefined, undefined, "/p"), of(undefined, undefined, "/q"));
});
