import { expect, test } from "vitest";
import type { TurnView } from "../../api/types";
import { against, layerPairs, told } from "./layers";

function turn(...layers: [string, string][]): TurnView {
  let prompt = "";
  const cut = layers.map(([name, text]) => {
    const start = new TextEncoder().encode(prompt).length;
    prompt += text;
    return { name, start, end: new TextEncoder().encode(prompt).length };
  });
  return { prompt, layers: cut } as unknown as TurnView;
}

test("layers are put beside each other by name and place", () => {
  const a = turn(["materia", "Bäume"], ["incoming", "x"], ["item", "do it"]);
  const b = turn(["materia", "Bäume"], ["incoming", "y"], ["instruction", "so"], ["item", "do it"]);
  expect(layerPairs(a, b)).toEqual([
    { key: "materia 1", name: "materia", a: "Bäume", b: "Bäume", same: true },
    { key: "incoming 1", name: "incoming", a: "x", b: "y", same: false },
    { key: "instruction 1", name: "instruction", a: null, b: "so", same: false },
    { key: "item 1", name: "item", a: "do it", b: "do it", same: true },
  ]);
});

test("a prompt without layers is one, and a missing turn has none", () => {
  const plain = { prompt: "all of it", layers: [] } as unknown as TurnView;
  expect(layerPairs(plain, null)).toEqual([{ key: "prompt 1", name: "prompt", a: "all of it", b: null, same: false }]);
  expect(layerPairs(null, null)).toEqual([]);
});

test("differences are said as fewer or more", () => {
  const show = (value: number) => `${value} turns`;
  expect(against(5, 3, show, "fewer", "more")).toBe("2 turns fewer");
  expect(against(3, 5, show, "fewer", "more")).toBe("2 turns more");
  expect(against(3, 3, show, "fewer", "more")).toBe("");
});

test("layers that are the same in both are told together", () => {
  const a = turn(["materia", "m"], ["request", "r"], ["incoming", "x"], ["item", "i"], ["mode", "o"]);
  const b = turn(["materia", "m"], ["request", "r"], ["incoming", "y"], ["item", "i"], ["mode", "o"]);
  const pairs = told(layerPairs(a, b));
  expect(pairs.map((pair) => [pair.name, pair.same])).toEqual([
    ["materia, request", true],
    ["incoming", false],
    ["item, mode", true],
  ]);
  expect(pairs[0]?.a).toBe("mr");
});
