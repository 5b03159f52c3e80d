import assert from "node:assert/strict";
import { test } from "node:test";

import { world } from "./support.mjs";

const NAME = "join.mjs";

let payloads = 0;
const from = (fromNodeId, message, more = {}) => ({
  payloadId: `payload-${(payloads += 1)}`,
  kind: "message",
  fromNodeId,
  edgeId: `${fromNodeId}->Join`,
  ts: payloads,
  message,
  status: { ok: true },
  ...more,
});

/** A join in a run: its state carries on from arrival to arrival, merged as the runtime does. */
class Playing {
  constructor(t, params, socketId = "Join") {
    Object.assign(this, { scratch: world(t), params, socketId, state: {} });
  }

  arrive(...inputs) {
    const { params, socketId, state } = this;
    const { status, answer, stderr, stdout } = this.scratch.utility(NAME, {
      params,
      socketId,
      state,
      inputs,
    });
    assert.equal(status, 0, stderr);
    const sources = answer.satisfied ? ["sources"] : [];
    assert.deepEqual(Object.keys(answer), ["satisfied", "context", ...sources, "state"]);
    assert.ok(Buffer.byteLength(stdout) < 1024 * 1024);
    Object.assign(this.state, answer.state);
    return answer;
  }
}

test("it is satisfied only when the last source has arrived", (t) => {
  const play = new Playing(t, { sources: ["A", "B", "C"] });
  const first = play.arrive(from("B", "from b"));
  assert.equal(first.satisfied, false);
  assert.equal(first.context, "Waiting for A, C: 1 of 3 have arrived.");
  assert.equal(play.arrive(from("C", "from c")).satisfied, false);
  const last = play.arrive(from("A", "from a"));
  assert.equal(last.satisfied, true);
  assert.equal(
    last.context,
    "## A\n\nfrom a\n\n## B\n\nfrom b\n\n## C\n\nfrom c",
  );
  const { complete, missing, round, arrived } = play.state.join;
  assert.deepEqual([complete, missing, round, Object.keys(arrived)], [true, [], 1, ["A", "B", "C"]]);
});

test("one turn may bring all of them", (t) => {
  assert.equal(
    new Playing(t, { sources: ["A", "B"] }).arrive(from("A", "1"), from("B", "2")).satisfied,
    true,
  );
});

test("any order of arrival gives the same round", (t) => {
  const sent = { A: from("A", "1"), B: from("B", "2"), C: from("C", "3") };
  const ends = ["ABC", "ACB", "BAC", "BCA", "CAB", "CBA"].map((order) => {
    const play = new Playing(t, { sources: ["A", "B", "C"] });
    const verdicts = [...order].map((name) => play.arrive(sent[name]).satisfied);
    assert.deepEqual(verdicts, [false, false, true], order);
    return JSON.stringify(play.state);
  });
  assert.equal(new Set(ends).size, 1);
});

test("a source that sends again before the others is remembered by its newest", (t) => {
  const play = new Playing(t, { sources: ["A", "B"] });
  play.arrive(from("A", "old"));
  assert.equal(play.arrive(from("A", "new")).satisfied, false);
  assert.match(play.arrive(from("B", "b")).context, /## A\n\nnew\n/);
  assert.equal(play.state.join.arrived.A.times, 2);
});

test("after a complete round the next one begins", (t) => {
  const play = new Playing(t, { sources: ["A", "B"] });
  play.arrive(from("A", "1"), from("B", "1"));
  const next = play.arrive(from("A", "2"));
  assert.deepEqual([next.satisfied, next.state.join.round, next.state.join.missing], [false, 2, ["B"]]);
  assert.equal(play.arrive(from("B", "2")).satisfied, true);
});

test("the same arrival given twice, as after an interruption, changes nothing", (t) => {
  const play = new Playing(t, { sources: ["A", "B"] });
  const sent = from("A", "1");
  const once = play.arrive(sent);
  assert.deepEqual(play.arrive(sent), once);
});

test("what comes from elsewhere does not count", (t) => {
  const play = new Playing(t, { sources: ["A"] });
  const answer = play.arrive({ payloadId: "u", kind: "user", message: "go" }, from("X", "x"));
  assert.equal(answer.satisfied, false);
  assert.equal(answer.context, "Waiting for A: 0 of 1 have arrived. Not a source, left out: user, X.");
  assert.equal(play.arrive().satisfied, false);
});

test("an edge can be a source", (t) => {
  const play = new Playing(t, { sources: ["draft", "review"] });
  assert.equal(play.arrive(from("A", "1", { edgeId: "draft" })).satisfied, false);
  assert.equal(play.arrive(from("A", "2", { edgeId: "review" })).satisfied, true);
});

test("a number waits for that many different sockets", (t) => {
  const play = new Playing(t, { sources: 2 });
  assert.equal(play.arrive(from("B", "1")).satisfied, false);
  assert.equal(play.arrive(from("B", "2")).satisfied, false);
  assert.equal(play.arrive(from("A", "3")).satisfied, true);
  assert.deepEqual(Object.keys(play.state.join.arrived), ["A", "B"]);
});

test("a handoff shows its context, a verdict against it is said, structured data is kept", (t) => {
  const play = new Playing(t, { sources: ["A", "B", "C"] });
  const handoff = { satisfied: false, context: "no test" };
  const { context } = play.arrive(
    from("A", JSON.stringify(handoff), { kind: "handoff", status: { ok: false } }),
    from("B", undefined, { structured: { n: 1 } }),
    from("C", undefined),
  );
  assert.match(context, /## A\n\n\(not satisfied\)\n\nno test\n/);
  assert.match(context, /## B\n\n```json\n\{\n {2}"n": 1\n\}\n```/);
  assert.match(context, /## C\n\n\(no text\)$/);
  assert.deepEqual(play.state.join.arrived.B.structured, { n: 1 });
});

test("everything that a source sent reaches the next node (D67)", (t) => {
  const play = new Playing(t, { sources: ["A", "B", "C"] });
  const handoff = { satisfied: false, context: "no test", score: 3 };
  const artifacts = [{ kind: "diff", name: "sockets/B/1-1.diff", hash: "h" }];
  play.arrive(from("C", "c ".repeat(15_000)));
  const { context, sources } = play.arrive(
    from("B", "both", { structured: { n: 1 }, artifacts }),
    from("A", JSON.stringify(handoff), { kind: "handoff", status: { ok: false } }),
  );
  assert.deepEqual(sources, [
    { socket: "A", message: "no test", satisfied: false, structured: handoff, artifacts: [] },
    { socket: "B", message: "both", satisfied: null, structured: { n: 1 }, artifacts },
    { socket: "C", message: "c ".repeat(15_000), satisfied: null, structured: null, artifacts: [] },
  ]);
  assert.match(context, /## A\n\n\(not satisfied\)\n\nno test\n\n```json\n[^`]*"score": 3/);
  assert.match(context, /## B\n\nboth\n\n```json\n[^`]*"n": 1[^`]*```\n\nArtifact diff: sockets\/B\/1-1\.diff/);
});

test("much text is cut, and said to be", (t) => {
  const sources = Array.from({ length: 256 }, (_, index) => `S${index}`);
  const play = new Playing(t, { sources });
  const answer = play.arrive(
    ...sources.map((name) => from(name, "ä".repeat(100_000), { structured: { s: "x".repeat(100_000) } })),
  );
  assert.equal(answer.satisfied, true);
  assert.equal(play.state.join.arrived.S7.truncated, true);
  assert.equal(play.state.join.arrived.S7.structured, undefined);
  assert.match(answer.context, /cut/);
});

test("two joins keep apart by name, and say so when they do not", (t) => {
  const play = new Playing(t, { sources: ["A", "B"], as: "research" });
  play.arrive(from("A", "1"));
  assert.deepEqual(Object.keys(play.state), ["research"]);
  const inputs = [from("B", "2")];
  const other = play.scratch.utility(NAME, {
    params: play.params,
    state: play.state,
    socketId: "Other",
    inputs,
  });
  assert.equal(other.status, 2);
  assert.match(other.stderr, /belongs to the join in socket Join/);
  // After a complete round, as in a linked cast, the field is free.
  play.arrive(from("B", "2"));
  const later = play.scratch.utility(NAME, {
    params: play.params,
    state: play.state,
    socketId: "Other",
    inputs,
  });
  assert.deepEqual([later.status, later.answer.state.research.round], [0, 1]);
});

test("parameters, inputs and a state that make no sense are refused", (t) => {
  const scratch = world(t);
  for (const [input, reason] of [
    [{ params: {} }, /sources/],
    [{ params: { sources: [] } }, /sources/],
    [{ params: { sources: ["A", "A"] } }, /sources/],
    [{ params: { sources: [""] } }, /sources/],
    [{ params: { sources: "A" } }, /sources/],
    [{ params: { sources: 0 } }, /sources/],
    [{ params: { sources: 1.5 } }, /sources/],
    [{ params: { sources: 1, as: "a.b" } }, /params\.as/],
    [{ params: { sources: 1, as: "workItems" } }, /params\.as/],
    [{ params: { sources: 1 }, inputs: {} }, /inputs/],
    [{ params: { sources: 1 }, inputs: [1] }, /inputs/],
    [{ params: { sources: 1 }, state: { join: "mine" } }, /something else/],
    [{ params: { sources: 1 }, state: { join: {} } }, /something else/],
  ]) {
    const { status, stdout, stderr } = scratch.utility(NAME, input);
    assert.deepEqual([status, stdout], [2, ""], JSON.stringify(input));
    assert.match(stderr, reason);
  }
});
