import { expect, test } from "vitest";
import { emptyState, type Turn } from "../fold";
import { resolved, turnLink, turnPath } from "./turnLink";

const state = {
  ...emptyState("c"),
  turns: [
    { seq: 4, socket: "a/b", item: "WI-1", visit: 1 },
    { seq: 9, socket: "a/b", item: "WI-2", visit: 2 },
    { seq: 11, socket: "a/b", item: "WI-2", visit: 2 },
  ] as Turn[],
};

test("a link says which turn, and is read again", () => {
  const path = turnPath("c", { socket: "a/b", item: "WI-2", visit: 2 });
  expect(path).toBe("/casts/c/sockets/a%2Fb/items/WI-2/turns/2");
  const link = turnLink(path.split("/").slice(3).map(decodeURIComponent));
  expect(link).toEqual({ socket: "a/b", item: "WI-2", visit: 2 });
  expect(link && resolved(state, link)).toEqual({ socket: "a/b", item: "WI-2", turn: 11 });
});

test("parts may be left out, and what is not there is not found", () => {
  expect(turnLink([])).toBeNull();
  expect(turnLink(["compare", "x"])).toBeNull();
  expect(turnLink(["sockets", "a/b"])).toEqual({ socket: "a/b", item: null, visit: null });
  expect(resolved(state, { socket: "a/b", item: null, visit: null }).turn).toBeNull();
  expect(resolved(state, { socket: "a/b", item: null, visit: 7 }).turn).toBeNull();
  expect(turnLink(["sockets", "x", "turns", "many"])?.visit).toBeNull();
});
