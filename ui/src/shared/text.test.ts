import { expect, test } from "vitest";
import { oneLine, pieces, plain, quoted } from "./text";

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

test("every character without a shape is shown as its code, in every way out", () => {
  const codes = [
    0xad, 0x34f, 0x600, 0x61c, 0x70f, 0x115f, 0x1160, 0x17b4, 0x180b, 0x180e, 0x180f, 0x200b, 0x200c, 0x200d, 0x200f,
    0x2028, 0x2029, 0x202e, 0x2060, 0x2065, 0x2069, 0x206f, 0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff0, 0xfff9,
    0xffff, 0x110bd, 0x13430, 0x1bca0, 0x1d173, 0xe0001, 0xe0041, 0xe007f, 0xe01ef,
  ];
  for (const number of codes) {
    const name = `U+${number.toString(16).toUpperCase().padStart(4, "0")}`;
    const text = `a${String.fromCodePoint(number)}b`;
    for (const strict of [false, true]) expect(pieces(text, strict)[1]).toEqual({ text: name, odd: true });
    expect(plain(text)).toBe(`a<${name}>b`);
    expect(oneLine(text)).toBe(`a<${name}>b`);
  }
  expect(plain("e\u0301 ä 日本語 \u00a0→ 🦀")).toBe("e\u0301 ä 日本語 \u00a0→ 🦀");
});

test("joiners stay inside emoji, but for commands, and nowhere else", () => {
  for (const emoji of ["👩\u200d💻", "❤\ufe0f\u200d🔥", "👩🏽\u200d🚀", "1\ufe0f\u20e3", "✔\ufe0f"]) {
    expect(plain(emoji)).toBe(emoji);
    expect(pieces(emoji, true).some((piece) => piece.odd)).toBe(true);
  }
  expect(plain("👩\u200d")).toBe("👩<U+200D>");
  expect(plain("👩\u200d\u200d💻")).toBe("👩<U+200D><U+200D>💻");
  expect(plain("✔\ufe0f\ufe0f1\ufe0f2")).toBe("✔\ufe0f<U+FE0F>1<U+FE0F>2");
});

test("words of a command line", () => {
  expect(quoted("last")).toBe("last");
  expect(quoted("it's $HOME")).toBe("'it'\\''s $HOME'");
});
