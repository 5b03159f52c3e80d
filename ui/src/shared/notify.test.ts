import { expect, test } from "vitest";
import type { InboxItem } from "../api/generated";
import { fresh, notices } from "./notify";

const item = (part: Partial<InboxItem>): InboxItem => ({
  project: "p",
  next: [],
  castId: "a",
  loadout: "Demo",
  request: "r",
  reason: "approval",
  message: "asks",
  node: "merge",
  since: "1",
  ...part,
});

test("only what did not wait before is told", () => {
  const before = [item({}), item({ castId: "b" })];
  expect(fresh(before, before)).toEqual([]);
  expect(fresh(before, [...before, item({ castId: "c" })]).map((one) => one.castId)).toEqual(["c"]);
  // The same socket that asks anew is another question.
  expect(fresh(before, [item({ since: "2" })])).toHaveLength(1);
});

test("without a browser that can, nothing is told", () => {
  expect(notices()).toBe("unknown");
});
