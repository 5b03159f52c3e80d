import { expect, test } from "vitest";
import { NO_BOUNDS, usualBounds } from "./bounds";

test("kept bounds are numbers or nothing", () => {
  expect(usualBounds(null)).toEqual(NO_BOUNDS);
  expect(usualBounds("nonsense")).toEqual(NO_BOUNDS);
  expect(usualBounds('{"maxTurns":"40","maxCost":"2.5","maxTokens":"a lot"}')).toEqual({
    maxTurns: "40",
    maxTokens: "",
    maxCost: "2.5",
  });
  expect(usualBounds("null")).toEqual(NO_BOUNDS);
});
