import assert from "node:assert/strict";
import { test } from "node:test";

import { world } from "./support.mjs";

const NAME = "commit-sigil.mjs";

const items = (...titles) => titles.map((title) => ({ title, context: "why" }));

function judge(t, workItems, params = {}) {
  const { status, answer, stderr } = world(t).utility(NAME, { params, state: { workItems, other: 1 } });
  assert.equal(status, 0, stderr);
  assert.deepEqual(Object.keys(answer), ["workItems", "satisfied", "context"]);
  assert.deepEqual(answer.workItems, workItems);
  return answer;
}

test("titles in the form of the convention pass", (t) => {
  const good = items(
    "feat: add release workflow",
    "fix(parser): handle braces",
    "chore!: drop Node 18",
    "refactor(core)!: one kernel",
    "docs: say why",
    "test(a/b-c.d): more",
    "ci: cache",
    "revert: feat: add x",
    "Feat: upper case is the same",
    "perf: 2: faster",
    "build(deps): größere Dinge",
    "style:  two spaces",
  );
  const answer = judge(t, good);
  assert.equal(answer.satisfied, true);
  assert.equal(answer.context, "All work items validated.");
});

test("the seed's example of a bad title, to the letter", (t) => {
  const answer = judge(t, items("bad title"));
  assert.equal(answer.satisfied, false);
  assert.equal(answer.context, "Work item 0: title must start with type: (feat:, fix:, chore:, docs:, …).");
});

test("each fault has its own hint", (t) => {
  const faults = [
    ["bad title", /must start with type:/],
    ["", /must start with type:/],
    [" feat: leading space", /must start with type:/],
    ["feat add", /must start with type:/],
    ["feat : x", /must start with type:/],
    ["(scope): x", /must start with type:/],
    [": x", /must start with type:/],
    ["feat(a)(b): x", /must start with type:/],
    ["feat!(a): x", /must start with type:/],
    ["feat(a: x", /must start with type:/],
    ["feat!!: x", /must start with type:/],
    ["-m: x", /must start with type:/],
    ["banana: x", /"banana" must be one of feat, fix, chore/],
    ["feat(): x", /scope must not be empty/],
    ["feat(  ): x", /scope must not be empty/],
    ["feat:", /needs a description/],
    ["feat(a)!:   ", /needs a description/],
    ["feat:x", /needs a space/],
    ["feat: x\nmore", /one line/],
    [null, /must be a string/],
    [7, /must be a string/],
  ];
  const answer = judge(t, items("feat: fine", ...faults.map(([title]) => title)));
  assert.equal(answer.satisfied, false);
  const hints = answer.context.split("\n");
  assert.equal(hints.length, faults.length);
  for (const [index, [title, hint]] of faults.entries()) {
    assert.match(hints[index], hint, String(title));
    assert.ok(hints[index].startsWith(`Work item ${index + 1}: title `), hints[index]);
  }
});

test("all faults are named at once, by index", (t) => {
  const { context } = judge(t, items("no", "feat: yes", "fix:", "nope"));
  assert.deepEqual(
    context.split("\n").map((line) => line.slice(0, 12)),
    ["Work item 0:", "Work item 2:", "Work item 3:"],
  );
});

test("items are handed on unchanged, whatever they hold", (t) => {
  const odd = [
    { title: "feat: x", context: "c", extra: [1, { a: null }] },
    { context: "no title" },
    null,
    "text",
    3,
    ["feat: x"],
  ];
  const { satisfied, context } = judge(t, odd);
  assert.equal(satisfied, false);
  assert.equal(context.split("\n").length, 5);
});

test("no items are fine", (t) => {
  assert.equal(judge(t, []).satisfied, true);
  for (const stdin of ["{}", '{"state":{}}', '{"state":{"workItems":null}}']) {
    const { status, answer } = world(t).raw(NAME, stdin);
    assert.equal(status, 0);
    assert.deepEqual([answer.workItems, answer.satisfied], [[], true]);
  }
});

test("without a state the items may stand at the top", (t) => {
  const { answer } = world(t).raw(NAME, JSON.stringify({ workItems: items("bad") }));
  assert.deepEqual([answer.workItems, answer.satisfied], [items("bad"), false]);
  const both = { state: { workItems: items("feat: state") }, workItems: items("bad") };
  assert.equal(world(t).raw(NAME, JSON.stringify(both)).answer.satisfied, true);
});

test("other types can be named", (t) => {
  assert.equal(judge(t, items("deps: bump"), { types: ["deps"] }).satisfied, true);
  assert.equal(
    judge(t, items("no type"), { types: ["deps"] }).context,
    "Work item 0: title must start with type: (deps:).",
  );
  assert.equal(judge(t, items("feat: x"), { types: ["deps"] }).satisfied, false);
});

test("a list that is none, and types that are none, are refused", (t) => {
  for (const input of [
    { state: { workItems: {} } },
    { state: { workItems: "x" } },
    { params: { types: [] } },
    { params: { types: ["a b"] } },
    { params: { types: "feat" } },
  ]) {
    const { status, stdout, stderr } = world(t).utility(NAME, input);
    assert.deepEqual([status, stdout], [2, ""]);
    assert.match(stderr, /workItems|types/);
  }
});
