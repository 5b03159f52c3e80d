import { expect, test } from "vitest";
import { diffLines, diffWords, unifiedRows } from "./diff";

test("a difference gives back both texts", () => {
  const [a, b] = ["greet.sh says Bonjour with --french.", "greet.sh takes --french off before it reads the name."];
  const parts = diffWords(a, b);
  expect(
    parts
      .filter((part) => part.kind !== "add")
      .map((part) => part.text)
      .join(""),
  ).toBe(a);
  expect(
    parts
      .filter((part) => part.kind !== "del")
      .map((part) => part.text)
      .join(""),
  ).toBe(b);
  expect(parts[0]).toEqual({ kind: "same", text: "greet.sh " });
  expect(diffWords("x", "x")).toEqual([{ kind: "same", text: "x" }]);
  expect(diffLines("a\nb\n", "a\nc\n").map((part) => part.kind)).toEqual(["same", "del", "add"]);
});

test("rows of a unified diff have the numbers of their lines", () => {
  const rows = unifiedRows("--- a\n+++ b\n@@ -3,2 +3,3 @@\n one\n+two\n three\n");
  expect(rows?.filter((row) => row.kind !== "head")).toEqual([
    { kind: "same", line: 3, text: "one" },
    { kind: "add", line: 4, text: "two" },
    { kind: "same", line: 5, text: "three" },
  ]);
  expect(unifiedRows("no diff")).toBeNull();
});
