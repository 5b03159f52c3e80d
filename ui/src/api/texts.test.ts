import { expect, test, vi } from "vitest";
import { field } from "./events";
import type { EventLine } from "./generated";
import { longText, withTexts, withWords } from "./texts";

const hash = "ab".repeat(32);
const event = (data: unknown) => ({ seq: 1, ts: 1, wallTime: "", type: "turn.completed", data }) as EventLine;

test("words stand for a text that is named, and for nothing that only looks like one", () => {
  const plain = event({ output: "short", nested: [{ bytes: 3 }] });
  expect(withWords(plain)).toBe(plain);
  const named = withWords(
    event({ output: { $blob: hash, bytes: 600_000 }, artifacts: [{ $blob: hash, bytes: 70_000 }] }),
  );
  expect(typeof field(named, "output")).toBe("string");
  expect(longText(field(named, "output"))).toEqual({ hash, bytes: 600_000 });
  expect(longText(field(named, "artifacts")?.[0])).toEqual({ hash, bytes: 70_000 });
  const honest = withWords(event({ value: { $$blob: hash, bytes: 1 }, other: { $blob: "x", bytes: 1 } }));
  expect(honest.data).toEqual({ value: { $blob: hash, bytes: 1 }, other: { $blob: "x", bytes: 1 } });
  expect(longText("anything else")).toBeNull();
});

test("a text is fetched by its hash, unless it is too long", async () => {
  const fetched = vi.fn(async (..._: unknown[]) => new Response("the text"));
  vi.stubGlobal("fetch", fetched);
  const named = withWords(
    event({ output: { $blob: hash, bytes: 70_000 }, message: { $blob: hash, bytes: 9_000_000 } }),
  );
  const whole = await withTexts(named, null);
  expect(field(whole, "output")).toBe("the text");
  expect(longText(field(whole, "message"))).toEqual({ hash, bytes: 9_000_000 });
  expect(fetched).toHaveBeenCalledTimes(1);
  expect(String(fetched.mock.calls[0]?.[0])).toContain(`/api/blobs/${hash}`);
  vi.unstubAllGlobals();
});
