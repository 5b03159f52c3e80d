import { expect, test } from "vitest";
import type { SocketState } from "../api/generated";
import { groupItems } from "./groups";

const running =
  (place: number) =>
  (index: number): SocketState =>
    index < place ? "done" : index === place ? "running" : "idle";
const items = (total: number) => ({ total, labels: [] });

test("every item is in one group, and what stands out is what is shown", () => {
  const groups = groupItems(items(250), running(101));
  expect(groups.length).toBeLessThanOrEqual(60);
  expect(groups.reduce((sum, group) => sum + group.size, 0)).toBe(250);
  const now = groups.filter((group) => group.state === "running");
  expect(now).toHaveLength(1);
  expect(now[0]?.pick).toBe("WI-102");
  expect(groups[0]).toMatchObject({ first: "WI-1", last: "WI-5", state: "done", done: 5 });
  expect(groups.at(-1)?.state).toBe("idle");
});

test("few items are groups of one", () => {
  expect(groupItems(items(3), running(1)).map((group) => group.size)).toEqual([1, 1, 1]);
  expect(groupItems(items(0), running(0))).toEqual([]);
});
