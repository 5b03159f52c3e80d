import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { withJj, world } from "./support.mjs";

const NAME = "detect-vcs.mjs";

/** What it says about a folder of the world; the verdict is `undefined` where it gives none. */
function look(scratch, cwd = scratch.project, params = {}) {
  const { status, answer, stderr } = scratch.utility(NAME, { cwd, params });
  assert.equal(status, 0, stderr);
  assert.deepEqual(Object.keys(answer.state), ["vcs"]);
  assert.equal(typeof answer.context, "string");
  return { satisfied: answer.satisfied, context: answer.context, ...answer.state.vcs };
}

function folder(scratch, name) {
  const path = join(scratch.project, name);
  mkdirSync(path, { recursive: true });
  return path;
}

test("no repository: no verdict, so that an `always` edge is taken", (t) => {
  const said = look(world(t, "git"));
  assert.equal("satisfied" in world(t, "git").utility(NAME).answer, false);
  assert.deepEqual([said.kind, said.root, said.ok, said.problems], ["none", null, true, []]);
  assert.deepEqual(
    [said.available, said.roots, said.colocated],
    [{ jj: false, git: true }, { jj: null, git: null }, false],
  );
});

test("neither program", (t) => {
  const said = look(world(t));
  assert.deepEqual(
    [said.satisfied, said.kind, said.available],
    [undefined, "none", { jj: false, git: false }],
  );
});

test("a git repository, from its root and from below, also through a link", (t) => {
  const scratch = world(t, "git");
  scratch.tell("git", "init", "--quiet");
  symlinkSync(scratch.project, join(scratch.base, "link"));
  for (const cwd of [scratch.project, folder(scratch, "a/b c/ü"), join(scratch.base, "link", "a")]) {
    const said = look(scratch, cwd);
    assert.deepEqual([said.satisfied, said.kind, said.root], [false, "git", scratch.project], cwd);
    assert.equal(said.context, `The git repository is ${scratch.project}.`);
  }
});

test("a linked worktree has its own root, and a submodule too", (t) => {
  const scratch = world(t, "git");
  scratch.tell("git", "init", "--quiet");
  scratch.tell("git", "commit", "--quiet", "--allow-empty", "--message=one");
  const tree = join(scratch.base, "tree");
  scratch.tell("git", "worktree", "add", "--quiet", tree);
  assert.equal(look(scratch, tree).root, tree);
  const nested = folder(scratch, "nested");
  scratch.tellIn(nested, "git", "init", "--quiet");
  assert.equal(look(scratch, nested).root, nested);
});

test("a caller's GIT_DIR does not lead elsewhere", (t) => {
  const scratch = world(t, "git");
  const other = folder(scratch, "other");
  scratch.tellIn(other, "git", "init", "--quiet");
  scratch.env.GIT_DIR = join(other, ".git");
  scratch.env.GIT_WORK_TREE = other;
  assert.equal(look(scratch).kind, "none");
});

test("a repository that cannot be used is named, not passed over", (t) => {
  const broken = world(t, "git");
  folder(broken, ".git");
  const said = look(broken);
  assert.deepEqual([said.satisfied, said.kind, said.ok], [undefined, "none", false]);
  assert.match(said.context, /There is a \.git in .*project, but `git rev-parse`: .*not a git repository/);

  const lone = world(t);
  folder(lone, ".jj");
  assert.match(look(lone).context, /There is a \.jj in .*, but jj is not on PATH/);
});

test("a jj repository, from its root and from below", withJj, (t) => {
  const scratch = world(t, "git", "jj");
  scratch.tell("jj", "git", "init", "--no-colocate");
  for (const cwd of [scratch.project, folder(scratch, "a/b")]) {
    const said = look(scratch, cwd);
    assert.deepEqual(
      [said.satisfied, said.kind, said.root, said.colocated],
      [true, "jj", scratch.project, false],
    );
  }
});

test("where jj and git share a root, jj counts", withJj, (t) => {
  const scratch = world(t, "git", "jj");
  scratch.tell("jj", "git", "init", "--colocate");
  const said = look(scratch);
  assert.deepEqual([said.satisfied, said.kind, said.colocated], [true, "jj", true]);
  assert.deepEqual(said.roots, { jj: scratch.project, git: scratch.project });
});

test("the nearer repository counts", withJj, (t) => {
  const scratch = world(t, "git", "jj");
  scratch.tell("jj", "git", "init", "--no-colocate");
  const inner = folder(scratch, "inner");
  scratch.tellIn(inner, "git", "init", "--quiet");
  assert.deepEqual([look(scratch, inner).kind, look(scratch, inner).root], ["git", inner]);
  const innermost = folder(scratch, "inner/jj");
  scratch.tellIn(innermost, "jj", "git", "init", "--no-colocate");
  assert.deepEqual([look(scratch, innermost).kind, look(scratch, innermost).root], ["jj", innermost]);
});

test("a second jj workspace has its own root", withJj, (t) => {
  const scratch = world(t, "jj");
  scratch.tell("jj", "git", "init", "--no-colocate");
  const second = join(scratch.base, "second");
  scratch.tell("jj", "workspace", "add", second);
  assert.equal(look(scratch, second).root, second);
});

test("looking changes nothing, not even jj's record of the working copy", withJj, (t) => {
  const scratch = world(t, "git", "jj");
  scratch.tell("jj", "git", "init", "--no-colocate");
  scratch.write("new.txt", "x");
  // Only the ids: the usual log says how long ago an operation was.
  const ids = ["--no-graph", "--ignore-working-copy", "--template", 'id ++ "\\n"'];
  const operations = () => scratch.tell("jj", "operation", "log", ...ids);
  const before = operations();
  look(scratch);
  assert.equal(operations(), before);
});

test("a program that hangs is stopped and named", (t) => {
  const scratch = world(t, "git");
  scratch.hang("jj");
  const said = look(scratch, scratch.project, { timeLimitMs: 300 });
  assert.deepEqual([said.kind, said.ok], ["none", false]);
  assert.match(said.context, /`jj root`: was stopped after 300 ms/);
});
