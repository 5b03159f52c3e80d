import { expect, test } from "vitest";
import { MessageParser } from "./sse";

test("messages are whole however the text is cut", () => {
  const text =
    ': hello\r\n\r\nevent: journal\nid: 7\ndata: {"a":\ndata: 1}\n\nevent: live\ndata: x\r\n\r\ndata:no space\n\n';
  const whole = new MessageParser().push(text);
  expect(whole).toEqual([
    { event: "journal", id: "7", data: '{"a":\n1}' },
    { event: "live", id: null, data: "x" },
    { event: "message", id: null, data: "no space" },
  ]);
  for (let size = 1; size < 9; size += 1) {
    const parser = new MessageParser();
    const out = [];
    for (let at = 0; at < text.length; at += size) out.push(...parser.push(text.slice(at, at + size)));
    expect(out).toEqual(whole);
  }
});
