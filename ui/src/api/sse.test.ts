import { expect, test } from "vitest";
import { type Message, messageParser } from "./sse";

test("messages are whole however the text is cut", () => {
  const text =
    ': hello\r\n\r\nevent: journal\nid: 7\ndata: {"a":\ndata: 1}\n\nevent: live\ndata: x\r\n\r\ndata:no space\n\n';
  const whole = [
    { event: "journal", id: "7", data: '{"a":\n1}' },
    { event: "live", id: null, data: "x" },
    { event: "message", id: null, data: "no space" },
  ];
  for (const size of [text.length, 1, 2, 3, 4, 5, 6, 7, 8]) {
    const out: Message[] = [];
    const parser = messageParser((message) => out.push(message));
    for (let at = 0; at < text.length; at += size) parser.feed(text.slice(at, at + size));
    expect(out).toEqual(whole);
  }
});
