import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { withJj, world } from "./support.mjs";

const NAME = "blackbelt-bootstrap.mjs";

/** What it writes into the state, after checking that it writes nothing else. */
function bootstrap(scratch, input = {}) {
  const { status, answer, stderr } = scratch.utility(NAME, input);
  assert.deepEqual(Object.keys(answer), ["state"], stderr);
  assert.deepEqual(Object.keys(answer.state), ["blackbeltBootstrap"]);
  const said = answer.state.blackbeltBootstrap;
  assert.equal(said.ok, status === 0, stderr);
  assert.equal(stderr === "", said.ok, stderr);
  return { status, stderr, ...said };
}

/** The commits from the working commit down to the root: emptiness and description. */
function history(scratch, cwd = scratch.project) {
  const template = 'if(empty, "empty", "full") ++ " " ++ description.first_line() ++ "\\n"';
  const text = scratch.tellIn(
    cwd,
    "jj",
    "log",
    "--no-graph",
    "--revisions=::@ & ~root()",
    `--template=${template}`,
  );
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.trim());
}

const operations = (scratch) =>
  scratch.tell("jj", "operation", "log", "--no-graph", "--ignore-working-copy", "--template=id ++ '\n'");

const colocated = (scratch) =>
  /is currently colocated/.test(scratch.tell("jj", "git", "colocation", "status"));

test("without jj it fails hard, with a payload that says so", (t) => {
  const scratch = world(t, "git");
  const said = bootstrap(scratch);
  assert.equal(said.status, 1);
  assert.deepEqual(
    [said.ok, said.available, said.initialized, said.newWorkingCommit, said.root],
    [false, false, false, false, null],
  );
  assert.match(said.error, /jj is not on PATH/);
  assert.equal(said.stderr, `blackbelt-bootstrap: ${said.error}\n`);
  assert.equal("bookmarkName" in said, false);
  assert.deepEqual(readdirSync(scratch.project), []);
});

test("an empty folder becomes a jj repository that is not colocated", withJj, (t) => {
  const scratch = world(t, "git", "jj");
  const { status, stderr, bookmarkName, ...said } = bootstrap(scratch);
  assert.equal(status, 0, stderr);
  assert.deepEqual(said, {
    ok: true,
    root: scratch.project,
    available: true,
    initialized: true,
    newWorkingCommit: false,
    emptyHead: true,
  });
  assert.match(bookmarkName, /^blackbelt\/[a-z]+-[a-z]+-[0-9a-f]{10}$/);
  assert.deepEqual(readdirSync(scratch.project), [".jj"]);
  assert.equal(colocated(scratch), false);
  assert.deepEqual(history(scratch), ["empty"]);
});

test("files that are there go into a commit below the fresh one", withJj, (t) => {
  const scratch = world(t, "jj");
  scratch.write("a.txt", "a");
  const said = bootstrap(scratch);
  assert.deepEqual(
    [said.ok, said.initialized, said.newWorkingCommit, said.emptyHead],
    [true, true, true, true],
  );
  assert.deepEqual(history(scratch), ["empty", "full"]);
});

test("a plain git repository keeps all it has and gets a jj repository beside it", withJj, (t) => {
  const scratch = world(t, "git", "jj");
  scratch.tell("git", "init", "--quiet");
  scratch.write("a.txt", "a");
  scratch.tell("git", "add", "a.txt");
  scratch.tell("git", "commit", "--quiet", "--message=one");
  scratch.write("b.txt", "b");
  const gitSays = () =>
    ["symbolic-ref HEAD", "for-each-ref", "status --porcelain", "config --list --local"].map((line) =>
      scratch.tell("git", ...line.split(" ")),
    );
  const before = gitSays();
  const said = bootstrap(scratch);
  assert.deepEqual(
    [said.ok, said.root, said.initialized, said.newWorkingCommit],
    [true, scratch.project, true, true],
    said.stderr,
  );
  assert.equal(colocated(scratch), false);
  assert.deepEqual(gitSays(), before);
  assert.deepEqual(readdirSync(scratch.project).sort(), [".git", ".jj", "a.txt", "b.txt"]);
  assert.deepEqual(history(scratch), ["empty", "full"]);
  assert.equal(scratch.tell("jj", "workspace", "root", "--name=default").trim(), scratch.project);

  const again = operations(scratch);
  const second = bootstrap(scratch);
  assert.deepEqual(
    [second.ok, second.initialized, second.newWorkingCommit, second.emptyHead],
    [true, false, false, true],
  );
  assert.equal(operations(scratch), again);
});

test("a linked git worktree and a folder inside a git repository work alike", withJj, (t) => {
  const scratch = world(t, "git", "jj");
  scratch.tell("git", "init", "--quiet");
  scratch.tell("git", "commit", "--quiet", "--allow-empty", "--message=one");
  const tree = join(scratch.base, "tree");
  scratch.tell("git", "worktree", "add", "--quiet", tree);
  const inner = join(scratch.project, "inner");
  mkdirSync(inner);
  for (const cwd of [tree, inner]) {
    const said = bootstrap(scratch, { cwd });
    assert.deepEqual([said.ok, said.root, said.initialized], [true, cwd, true], said.stderr);
    assert.equal(scratch.tellIn(cwd, "git", "status", "--porcelain"), "");
  }
});

test("a jj repository with an empty working commit is left exactly as it is", withJj, (t) => {
  const scratch = world(t, "jj");
  scratch.tell("jj", "git", "init", "--no-colocate");
  const before = operations(scratch);
  const said = bootstrap(scratch);
  assert.deepEqual(
    [said.ok, said.initialized, said.newWorkingCommit, said.emptyHead, said.root],
    [true, false, false, true, scratch.project],
  );
  assert.equal(operations(scratch), before);
});

test("a jj repository with a full working commit gets a fresh one, from a folder below too", withJj, (t) => {
  const scratch = world(t, "jj");
  scratch.tell("jj", "git", "init", "--no-colocate");
  scratch.write("part/a.txt", "a");
  scratch.tell("jj", "describe", "--message=mine");
  const said = bootstrap(scratch, { cwd: join(scratch.project, "part") });
  assert.deepEqual(
    [said.ok, said.initialized, said.newWorkingCommit, said.root],
    [true, false, true, scratch.project],
  );
  assert.deepEqual(history(scratch), ["empty", "full mine"]);
});

test("a colocated jj repository of the author's stays colocated", withJj, (t) => {
  const scratch = world(t, "git", "jj");
  scratch.tell("jj", "git", "init", "--colocate");
  assert.equal(bootstrap(scratch).initialized, false);
  assert.equal(colocated(scratch), true);
});

test(
  "a git repository inside a jj repository gets its own, because the outer one leaves it out",
  withJj,
  (t) => {
    const scratch = world(t, "git", "jj");
    scratch.tell("jj", "git", "init", "--no-colocate");
    const inner = join(scratch.project, "inner");
    mkdirSync(inner);
    scratch.tellIn(inner, "git", "init", "--quiet");
    const said = bootstrap(scratch, { cwd: inner });
    assert.deepEqual([said.ok, said.root, said.initialized], [true, inner, true], said.stderr);
  },
);

test("a failing jj fails the cast with what was reached", withJj, (t) => {
  const full = world(t, "git", "jj");
  full.write("a.txt", "a");
  full.breakJj("new");
  const onNew = bootstrap(full);
  assert.deepEqual(
    [onNew.status, onNew.ok, onNew.initialized, onNew.newWorkingCommit, onNew.emptyHead],
    [1, false, true, false, false],
  );
  assert.match(onNew.error, /`jj new`: Error: broken on purpose \(exit status 1\)/);
  full.mendJj();
  const mended = bootstrap(full);
  assert.deepEqual([mended.ok, mended.initialized, mended.newWorkingCommit], [true, false, true]);

  const beside = world(t, "git", "jj");
  beside.tell("git", "init", "--quiet");
  beside.breakJj("git init");
  const onInit = bootstrap(beside);
  assert.deepEqual([onInit.status, onInit.initialized, onInit.root], [1, false, null]);
  assert.match(onInit.error, /`jj git init`/);
  assert.deepEqual(readdirSync(beside.project), [".git"]);

  const broken = world(t, "jj");
  mkdirSync(join(broken.project, ".jj"));
  const onRoot = bootstrap(broken);
  assert.deepEqual([onRoot.status, onRoot.available], [1, true]);
  assert.equal(existsSync(join(broken.project, ".jj/repo")), false);
});

test("a .jj that is a link is refused, whatever it leads to", (t) => {
  for (const make of [
    (at, to) => symlinkSync(to, join(at, ".jj")),
    (at, to) => symlinkSync(join(to, "nowhere"), join(at, ".jj")),
  ]) {
    const scratch = world(t);
    const elsewhere = join(scratch.base, "elsewhere");
    mkdirSync(elsewhere);
    make(scratch.project, elsewhere);
    const { status, answer, stderr } = scratch.utility(NAME);
    assert.equal(status, 1, stderr);
    assert.match(answer.state.blackbeltBootstrap.error, /is a symbolic link, which is not followed/);
    assert.deepEqual(readdirSync(elsewhere), []);
    assert.deepEqual(readdirSync(scratch.project), [".jj"]);
  }
});

test("a jj that hangs is stopped", (t) => {
  const scratch = world(t);
  scratch.hang("jj");
  const said = bootstrap(scratch, { params: { timeLimitMs: 300 } });
  assert.equal(said.status, 1);
  assert.match(said.error, /`jj root`: was stopped after 300 ms/);
});
