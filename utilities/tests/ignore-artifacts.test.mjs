import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { world } from "./support.mjs";

const NAME = "ignore-artifacts.mjs";

/** Runs it over a .gitignore with the given text; what it says and what the file holds then. */
function over(t, text, input) {
  const scratch = world(t);
  const file = join(scratch.project, ".gitignore");
  if (text !== null) writeFileSync(file, text);
  const { status, answer, stderr } = scratch.utility(NAME, input);
  assert.equal(status, 0, stderr);
  assert.deepEqual(Object.keys(answer), ["state"]);
  const said = answer.state.artifactIgnore;
  assert.equal(said.ok, true);
  assert.equal(said.file, file);
  return { ...said, text: existsSync(file) ? readFileSync(file, "latin1") : null };
}

test("a missing .gitignore is created", (t) => {
  const { changed, added, text } = over(t, null);
  assert.deepEqual({ changed, added, text }, { changed: true, added: [".materia/"], text: ".materia/\n" });
});

test("what is there stays, with or without a last line end, in its own style", (t) => {
  for (const [before, after] of [
    ["", ".materia/\n"],
    ["target\n", "target\n.materia/\n"],
    ["target", "target\n.materia/\n"],
    ["target\r\nx\r\n", "target\r\nx\r\n.materia/\r\n"],
    ["target\r\nx", "target\r\nx\r\n.materia/\r\n"],
    ["\n\n", "\n\n.materia/\n"],
    ["\xff\xfe not UTF-8 \xe9\n", "\xff\xfe not UTF-8 \xe9\n.materia/\n"],
  ]) {
    // Binary, so that a broken encoding would show.
    assert.equal(over(t, Buffer.from(before, "latin1")).text, after);
  }
});

test("what is ignored already is not added again", (t) => {
  for (const text of [
    ".materia/\n",
    ".materia/",
    "x\r\n.materia/\r\n",
    "/.materia/\n",
    ".materia\n",
    "/.materia\n",
    "\ufeff.materia/\n",
    ".materia/  \n",
  ]) {
    const said = over(t, text);
    assert.deepEqual([said.changed, said.added], [false, []], JSON.stringify(text));
    assert.equal(Buffer.from(said.text, "latin1").toString(), text);
  }
  for (const text of ["# .materia/\n", "!.materia/\n", "x.materia/\n", ".materia/casts\n"]) {
    assert.equal(over(t, text).changed, true, text);
  }
});

test("a second run changes nothing", (t) => {
  const scratch = world(t);
  scratch.write(".gitignore", "a");
  assert.equal(scratch.utility(NAME).answer.state.artifactIgnore.changed, true);
  assert.equal(scratch.utility(NAME).answer.state.artifactIgnore.changed, false);
  assert.equal(readFileSync(join(scratch.project, ".gitignore"), "utf8"), "a\n.materia/\n");
});

test("the folder of the artifacts follows from the run folder", (t) => {
  for (const [artifacts, pattern] of [
    [".pi/pi-materia", ".pi/pi-materia/"],
    ["build/casts", "build/casts/"],
    ["#casts", "\\#casts/"],
    ["!casts", "\\!casts/"],
    ["ca[s]t*s", "ca\\[s\\]t\\*s/"],
    ["with space", "with\\ space/"],
    ["$(touch x);`y`|&", "\\$\\(touch\\ x\\)\\;\\`y\\`\\|\\&/"],
    ["a=b~\"'<>{}^%@+,:", "a\\=b\\~\\\"\\'\\<\\>\\{\\}\\^\\%\\@\\+\\,\\:/"],
    ["back\\slash", "back\\\\slash/"],
    ["größe", "größe/"],
  ]) {
    const scratch = world(t, "git");
    scratch.tell("git", "init", "--quiet");
    const runDir = join(scratch.project, artifacts, "cast-1");
    const { answer } = scratch.utility(NAME, { runDir });
    assert.deepEqual(answer.state.artifactIgnore.added, [pattern]);
    assert.equal(scratch.utility(NAME, { runDir }).answer.state.artifactIgnore.changed, false);
    // git itself has the last word about the pattern.
    mkdirSync(runDir, { recursive: true });
    writeFileSync(join(runDir, "manifest.json"), "{}");
    assert.equal(scratch.tell("git", "status", "--porcelain"), "?? .gitignore\n", artifacts);
  }
});

test("artifacts outside the project, or the project itself, need no pattern", (t) => {
  for (const runDir of ["/elsewhere/casts/cast-1", "../cast-1"]) {
    const said = over(t, null, { runDir });
    assert.deepEqual([said.changed, said.added, said.text], [false, [], null], runDir);
  }
  const said = over(t, "x\n", { runDir: "cast-1" });
  assert.deepEqual([said.changed, said.text], [false, "x\n"]);
});

test("the patterns and the file of the seed's example", (t) => {
  const scratch = world(t);
  const params = { file: "ignored.txt", patterns: [".pi/pi-materia/", "*.log", "*.log"] };
  const { answer } = scratch.utility(NAME, { params });
  const file = join(scratch.project, "ignored.txt");
  assert.deepEqual(answer, {
    state: { artifactIgnore: { ok: true, file, changed: true, added: [".pi/pi-materia/", "*.log"] } },
  });
  assert.equal(readFileSync(file, "utf8"), ".pi/pi-materia/\n*.log\n");
});

test("another folder's .gitignore and git's own exclude file get a pattern that fits there", (t) => {
  const scratch = world(t, "git");
  scratch.tell("git", "init", "--quiet");
  mkdirSync(join(scratch.project, "part"));
  const given = { runDir: join(scratch.project, "part/.pi/casts/cast-1") };
  const inside = scratch.utility(NAME, { ...given, params: { file: "part/.gitignore" } });
  assert.deepEqual(inside.answer.state.artifactIgnore.added, [".pi/casts/"]);
  const exclude = scratch.utility(NAME, { params: { file: ".git/info/exclude" } });
  assert.deepEqual(exclude.answer.state.artifactIgnore.added, [".materia/"]);
});

test("parameters that make no sense are refused", (t) => {
  const scratch = world(t);
  for (const params of [
    { patterns: "x" },
    { patterns: [1] },
    { patterns: ["a\nb"] },
    { patterns: [""] },
    { patterns: [" "] },
    { patterns: ["a\u001b[2J"] },
    { file: "" },
    { file: 1 },
    { file: "../x" },
    { file: "../../x" },
    { file: "a/../../x" },
    { file: "a/../.gitignore" },
    { file: "/tmp/materia-never-written" },
    { file: ".git/config" },
    { file: ".git/hooks/pre-commit" },
    { file: ".GIT/config" },
    { file: "./.git//config" },
    { file: ".git" },
    { file: "sub/.git/config" },
    { file: "a\nb" },
    { file: "folder/" },
    { file: "." },
  ]) {
    const { status, stdout, stderr } = scratch.utility(NAME, { params });
    assert.deepEqual([status, stdout], [2, ""], JSON.stringify(params));
    assert.match(stderr, /params\.(patterns|file)/);
  }
  assert.equal(existsSync(join(scratch.project, ".gitignore")), false);
});

test("a file that cannot be read or written is named", (t) => {
  const scratch = world(t);
  mkdirSync(join(scratch.project, ".gitignore"));
  const folder = scratch.utility(NAME);
  assert.equal(folder.status, 2);
  assert.match(folder.stderr, /cannot read .*\.gitignore/);
  const nowhere = scratch.utility(NAME, { params: { file: "no/such/folder" } });
  assert.equal(nowhere.status, 2);
  assert.match(nowhere.stderr, /cannot write .*no\/such\/folder/);
});

test("in Planning mode a project that may not be written does not end the cast", (t) => {
  const scratch = world(t);
  chmodSync(scratch.project, 0o555);
  // Nothing is closed to root, so it becomes somebody else for this.
  scratch.asNobody();
  const planning = scratch.utility(NAME, { globalMode: "PLANNING" });
  assert.equal(planning.status, 0, planning.stderr);
  const { ok, changed, added } = planning.answer.state.artifactIgnore;
  assert.deepEqual([ok, changed, added], [false, false, []]);
  assert.match(planning.stderr, /cannot write/);
  assert.equal(scratch.utility(NAME).status, 2);
});

test("no link is followed, wherever it stands, and the cast goes on", (t) => {
  for (const [make, params] of [
    [(at, to) => symlinkSync(join(to, "bashrc"), join(at, ".gitignore")), {}],
    [(at, to) => symlinkSync(join(to, "new"), join(at, ".gitignore")), {}],
    [(at, to) => symlinkSync(to, join(at, "part")), { file: "part/bashrc" }],
    [(at, to) => symlinkSync(to, join(at, "part")), { file: "part/new" }],
    [(at, to) => mkdirSync(join(at, "deep")) ?? symlinkSync(to, join(at, "deep/part")), { file: "deep/part/bashrc" }],
    [(at, to) => symlinkSync(to, join(at, ".git")), { file: ".git/info/exclude" }],
    [(at, to) => mkdirSync(join(at, ".git")) ?? symlinkSync(to, join(at, ".git/info")), { file: ".git/info/exclude" }],
  ]) {
    const scratch = world(t);
    const home = join(scratch.base, "home-of-user");
    mkdirSync(join(home, "info"), { recursive: true });
    writeFileSync(join(home, "bashrc"), "precious\n");
    make(scratch.project, home);
    const { status, answer, stderr } = scratch.utility(NAME, { params });
    assert.equal(status, 0, stderr);
    assert.match(stderr, /is a symbolic link, which is not followed/);
    const said = answer.state.artifactIgnore;
    assert.deepEqual([said.ok, said.changed, said.added], [false, false, []]);
    assert.deepEqual(readdirSync(home).sort(), ["bashrc", "info"]);
    assert.deepEqual(readdirSync(join(home, "info")), []);
    assert.equal(readFileSync(join(home, "bashrc"), "utf8"), "precious\n");
  }
});

test("a file with a second name elsewhere gets a copy in its place", (t) => {
  const scratch = world(t);
  const outside = join(scratch.base, "bashrc");
  const file = join(scratch.project, ".gitignore");
  writeFileSync(outside, "precious\xe9\n", { encoding: "latin1", mode: 0o640 });
  linkSync(outside, file);
  const { answer, stderr } = scratch.utility(NAME);
  assert.equal(answer?.state.artifactIgnore.changed, true, stderr);
  assert.equal(readFileSync(outside, "latin1"), "precious\xe9\n");
  assert.equal(readFileSync(file, "latin1"), "precious\xe9\n.materia/\n");
  assert.equal(statSync(file).mode & 0o777, 0o640);
  assert.deepEqual(readdirSync(scratch.project), [".gitignore"]);
  assert.equal(lstatSync(file).nlink, 1);
});

test("a pipe in its place holds nobody up", (t) => {
  const scratch = world(t, "mkfifo");
  scratch.tell("mkfifo", ".gitignore");
  const { status, stderr } = scratch.utility(NAME);
  assert.equal(status, 2);
  assert.match(stderr, /it is no file/);
});
