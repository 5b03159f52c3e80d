import { expect, test } from "vitest";
import { pieces, plain, quoted } from "./text";

test("terminal sequences are gone, their neighbours stay", () => {
  expect(plain("a\u001b[31mred\u001b[0mb")).toBe("aredb");
  expect(plain("x\u001b]8;;https://evil.test\u0007link\u001b]8;;\u0007y")).toBe("xlinky");
  expect(plain("\u001b]52;c;ZXZpbA==\u001b\\after")).toBe("after");
  expect(plain("\u001b[2J\u001b[Hclear")).toBe("clear");
  expect(plain("\u001bP1;2|evil\u001b\\dcs")).toBe("dcs");
  expect(plain("\u009b31m8bit\u009d0;title\u009c!")).toBe("8bit!");
  expect(plain("over\rwritten\r\nnext\ttab")).toBe("over\nwritten\nnext\ttab");
  expect(plain("\u001b]0;title without end")).toBe("");
});

test("what deceives is shown by its number", () => {
  expect(pieces("a\u202eb")).toEqual([
    { text: "a", odd: false },
    { text: "U+202E", odd: true },
    { text: "b", odd: false },
  ]);
  expect(pieces("g\u0456t", true).some((piece) => piece.odd)).toBe(true);
  expect(pieces("привет", true).some((piece) => piece.odd)).toBe(false);
  expect(pieces("plain")).toEqual([{ text: "plain", odd: false }]);
});

test("words of a command line", () => {
  expect(quoted("last")).toBe("last");
  expect(quoted("it's $HOME")).toBe("'it'\\''s $HOME'");
});
