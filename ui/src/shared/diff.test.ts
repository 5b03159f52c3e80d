import { expect, test } from "vitest";
import { byFile, unifiedRows } from "./diff";
import { diffLines, diffWords } from "./differences";

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

test("a line of a hunk that looks like a head is a line", () => {
  const text =
    "diff --git a/x b/x\nnew file mode 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- gone\n same\n\\ No newline\n";
  expect(unifiedRows(text)?.map((row) => row.kind)).toEqual([
    "head",
    "head",
    "head",
    "head",
    "head",
    "del",
    "same",
    "head",
  ]);
});

test("a diff is told file by file", () => {
  const one = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-diff --git\n+b\n";
  const two = "diff --git a/y b/y\nindex 1..2 100644\nBinary files a/y and b/y differ\n";
  expect(byFile(one + two)).toEqual(["@@ -1 +1 @@\n-diff --git\n+b\n", "Binary files a/y and b/y differ\n"]);
  expect(byFile("")).toEqual([]);
});
