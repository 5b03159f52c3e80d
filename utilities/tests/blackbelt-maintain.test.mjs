import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { withJj, world } from "./support.mjs";

const NAME = "blackbelt-maintain.mjs";
const BOOKMARK = "blackbelt/crystal-casts-1a2b3c4d5e";
const STATE = { blackbeltBootstrap: { ok: true, bookmarkName: BOOKMARK } };

/** Runs it for an item; every answer is a verdict and a context that ends with the bookmark. */
function maintain(scratch, title, { state = STATE, ...input } = {}) {
  const item = title === undefined ? null : { title, context: "c" };
  const { status, answer, stderr } = scratch.utility(NAME, { state, item, ...input });
  assert.equal(status, 0, stderr);
  assert.deepEqual(Object.keys(answer), ["satisfied", "context"]);
  const bookmark = state === STATE ? BOOKMARK : "none";
  assert.ok(answer.context.endsWith(` [bookmark: ${bookmark}]`), answer.context);
  assert.ok(answer.context.length < 900, "fits whole into a follow-up reason");
  return answer;
}

function repository(t) {
  const scratch = world(t, "git", "jj");
  scratch.tell("jj", "git", "init", "--no-colocate");
  return scratch;
}

/** Working commit first: emptiness, bookmarks, description. */
function history(scratch) {
  const template =
    'if(empty, "empty", "full") ++ "|" ++ local_bookmarks.join(",") ++ "|" ++ description.escape_json() ++ "\\n"';
  const text = scratch.tell("jj", "log", "--no-graph", "--revisions=::@ & ~root()", `--template=${template}`);
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [, emptiness, bookmarks, description] = /^(.*?)\|(.*?)\|(.*)$/.exec(line);
      return [emptiness, bookmarks, JSON.parse(description).replace(/\n$/, "")];
    });
}

test("without a title", (t) => {
  const scratch = world(t);
  for (const [item, state, bookmark] of [
    [null, STATE, BOOKMARK],
    [{}, STATE, BOOKMARK],
    [{ title: " " }, STATE, BOOKMARK],
    [{ title: 7 }, STATE, BOOKMARK],
    [null, {}, "none"],
  ]) {
    const { answer } = scratch.utility(NAME, { state, item });
    assert.deepEqual(answer, {
      satisfied: false,
      context: `No checkpoint: the current work item has no title. [bookmark: ${bookmark}]`,
    });
  }
});

test("without jj", (t) => {
  const answer = maintain(world(t, "git"), "feat: x");
  assert.equal(answer.satisfied, false);
  assert.match(answer.context, /jj is not on PATH.*Blackbelt-Bootstrap first/);
});

test("without a bookmark it asks for Blackbelt-Bootstrap and makes none up", withJj, (t) => {
  const scratch = repository(t);
  scratch.write("a.txt", "a");
  for (const blackbeltBootstrap of [
    undefined,
    null,
    {},
    { ok: false },
    { bookmarkName: "" },
    { bookmarkName: 7 },
    { bookmarkName: "--all" },
    { bookmarkName: "a b" },
  ]) {
    const answer = maintain(scratch, "feat: x", { state: { blackbeltBootstrap } });
    assert.equal(answer.satisfied, false);
    assert.match(answer.context, /Run Blackbelt-Bootstrap first/);
  }
  assert.deepEqual(history(scratch), [["full", "", ""]]);
  assert.equal(scratch.tell("jj", "bookmark", "list"), "");
});

test("without a jj repository, also in a plain git repository", withJj, (t) => {
  const scratch = world(t, "git", "jj");
  for (const prepare of [() => {}, () => scratch.tell("git", "init", "--quiet")]) {
    prepare();
    const answer = maintain(scratch, "feat: x");
    assert.equal(answer.satisfied, false);
    assert.match(answer.context, /no jj repository here. Run Blackbelt-Bootstrap first/);
  }
});

test("a clean working commit needs no checkpoint", withJj, (t) => {
  const scratch = repository(t);
  const answer = maintain(scratch, "feat: x");
  assert.deepEqual(answer, {
    satisfied: true,
    context: `Nothing to checkpoint: the working commit is clean. [bookmark: ${BOOKMARK}]`,
  });
  assert.deepEqual(history(scratch), [["empty", "", ""]]);
  assert.equal(scratch.tell("jj", "bookmark", "list"), "");
});

test("each item becomes a commit, the bookmark goes along, an empty commit is opened", withJj, (t) => {
  const scratch = repository(t);
  scratch.write("a.txt", "a");
  const first = maintain(scratch, "feat: first");
  assert.deepEqual(first, { satisfied: true, context: `Checkpoint "feat: first". [bookmark: ${BOOKMARK}]` });
  assert.deepEqual(history(scratch), [
    ["empty", "", ""],
    ["full", BOOKMARK, "feat: first"],
  ]);
  assert.equal(maintain(scratch, "feat: nothing done").satisfied, true);
  scratch.write("part/b.txt", "b");
  assert.equal(maintain(scratch, "fix: second", { cwd: join(scratch.project, "part") }).satisfied, true);
  assert.deepEqual(history(scratch), [
    ["empty", "", ""],
    ["full", BOOKMARK, "fix: second"],
    ["full", "", "feat: first"],
  ]);
});

test("a title is data, whatever it looks like", withJj, (t) => {
  const scratch = repository(t);
  const titles = ["-foo", "--help", "=$(touch x) `x`; '\"\\ größe 🎉", "two\nlines", `${"x".repeat(5000)}\0`];
  for (const [index, title] of titles.entries()) {
    scratch.write("a.txt", String(index));
    assert.equal(maintain(scratch, title).satisfied, true, title);
  }
  const [open, ...done] = history(scratch);
  assert.deepEqual(open, ["empty", "", ""]);
  assert.deepEqual(
    done.map(([, , description]) => description).reverse(),
    titles.map((title) => title.replace("\0", "")),
  );
});

test(
  "a failing `jj new` leaves the bookmark on the described commit, and the next try mends it",
  withJj,
  (t) => {
    const scratch = repository(t);
    scratch.write("a.txt", "a");
    scratch.breakJj("new");
    const failed = maintain(scratch, "feat: x");
    assert.equal(failed.satisfied, false);
    assert.match(
      failed.context,
      /Described "feat: x" and moved the bookmark.*`jj new`: Error: broken on purpose \(exit status 1\)/,
    );
    scratch.mendJj();
    assert.deepEqual(history(scratch), [["full", BOOKMARK, "feat: x"]]);
    assert.equal(maintain(scratch, "feat: x").satisfied, true);
    assert.deepEqual(history(scratch), [
      ["empty", "", ""],
      ["full", BOOKMARK, "feat: x"],
    ]);
  },
);

test("every failing command is a verdict with the reason", withJj, (t) => {
  const scratch = repository(t);
  scratch.write("a.txt", "a");
  for (const [subcommand, reason] of [
    ["diff", /^No checkpoint: `jj diff`: Error: broken on purpose/],
    ["describe", /^No checkpoint of "feat: x": `jj describe`: /],
    ["bookmark set", /^Described "feat: x", but the bookmark did not move: `jj bookmark set`: /],
    ["root", /^No checkpoint: `jj root`: /],
  ]) {
    scratch.breakJj(subcommand);
    const answer = maintain(scratch, "feat: x");
    assert.equal(answer.satisfied, false);
    assert.match(answer.context, reason);
  }
});

test("a long title and a long complaint are cut", withJj, (t) => {
  const scratch = repository(t);
  scratch.write("a.txt", "a");
  scratch.breakJj("describe", "z".repeat(5000));
  const { satisfied, context } = maintain(scratch, "y".repeat(5000));
  assert.equal(satisfied, false);
  assert.match(context, /y…": `jj describe`: Error: z+… \(exit status 1\)/);
});

test("a bookmark that somebody moved elsewhere comes back", withJj, (t) => {
  const scratch = repository(t);
  scratch.write("a.txt", "a");
  maintain(scratch, "feat: one");
  scratch.tell("jj", "new", "root()");
  scratch.write("b.txt", "b");
  assert.equal(maintain(scratch, "feat: other line").satisfied, true);
  assert.deepEqual(history(scratch), [
    ["empty", "", ""],
    ["full", BOOKMARK, "feat: other line"],
  ]);
});

test("files that jj leaves out are named", withJj, (t) => {
  const scratch = repository(t);
  scratch.write("large.bin", Buffer.alloc(2 * 1024 * 1024, 1));
  const answer = maintain(scratch, "feat: x");
  assert.equal(answer.satisfied, true);
  assert.match(answer.context, /Warning: .*large\.bin/);
});

test("a jj that hangs is stopped", (t) => {
  const scratch = world(t);
  scratch.hang("jj");
  const answer = maintain(scratch, "feat: x", { params: { timeLimitMs: 300 } });
  assert.equal(answer.satisfied, false);
  assert.match(answer.context, /`jj root`: was stopped after 300 ms/);
});

test("what Blackbelt-Bootstrap writes is what it reads", withJj, (t) => {
  const scratch = world(t, "git", "jj");
  scratch.tell("git", "init", "--quiet");
  scratch.write("a.txt", "a");
  const { state } = scratch.utility("blackbelt-bootstrap.mjs", {
    params: { bookmarkName: "-weird name..lock/x.lock" },
  }).answer;
  scratch.write("a.txt", "b");
  const { answer } = scratch.utility(NAME, { state, item: { title: "feat: x", context: "" } });
  const name = "blackbelt/weird-name-lock/x-lock";
  assert.deepEqual(answer, { satisfied: true, context: `Checkpoint "feat: x". [bookmark: ${name}]` });
  assert.deepEqual(history(scratch), [
    ["empty", "", ""],
    ["full", name, "feat: x"],
    ["full", "", ""],
  ]);
});
