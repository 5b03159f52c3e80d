import { readFileSync } from "node:fs";
import { join } from "node:path";
import ELKModule from "elkjs/lib/elk.bundled.js";
import { expect, test } from "vitest";
import type { Grid } from "../api/generated";
import { type Box, FULL, layout } from "./layout";
import { linesOf } from "./rows";

// The package is CommonJS: depending on who loads it, the class is the module or its default.
const ELK = ((ELKModule as unknown as { default?: typeof ELKModule }).default ?? ELKModule) as typeof ELKModule;
const fixture = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, "../testing", name), "utf8")) as Grid;
const apart = (a: Box, b: Box) =>
  a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
const within = (inner: Box, outer: Box) =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width &&
  inner.y + inner.height <= outer.y + outer.height;

function chain(count: number): Grid {
  const sockets = Array.from({ length: count }, (_, n) => ({
    id: `s${n}`,
    materia: `M${n}`,
    type: "agent" as const,
    rank: n,
    edges: [
      ...(n + 1 < count ? [{ id: `s${n}->s${n + 1}`, when: "always" as const, to: `s${n + 1}` }] : []),
      ...(n % 10 === 9
        ? [{ id: `s${n}->s${n - 4}`, when: "not_satisfied" as const, to: `s${n - 4}`, back: true }]
        : []),
      ...(n % 7 === 0 && n + 3 < count
        ? [{ id: `s${n}->s${n + 3}`, when: "satisfied" as const, to: `s${n + 3}` }]
        : []),
    ],
  }));
  return { loadout: "Long", entry: "s0", sockets, ranks: [] };
}

test.each(["grid-Demo.json", "grid-Pair.json"])(
  "%s: cards apart, members in their region, every line drawn",
  async (name) => {
    const grid = fixture(name);
    const drawn = await layout(new ELK(), grid);
    const boxes = Object.values(drawn.sockets);
    boxes.forEach((a, i) => {
      for (const b of boxes.slice(i + 1)) expect(apart(a, b)).toBe(true);
    });
    for (const region of drawn.regions)
      for (const socket of grid.loops?.[region.id]?.sockets ?? []) {
        const box = drawn.sockets[socket];
        expect(box && within(box, region.box)).toBe(true);
      }
    expect(drawn.lines.map((one) => one.line.id).sort()).toEqual(
      linesOf(grid)
        .map((line) => line.id)
        .sort(),
    );
    expect(await layout(new ELK(), grid)).toEqual(drawn);
  },
);

test("forty sockets wrap into rows: cards apart, every line drawn, few beside each other", async () => {
  const grid = chain(40);
  const drawn = await layout(new ELK(), grid);
  const boxes = Object.values(drawn.sockets);
  boxes.forEach((a, i) => {
    for (const b of boxes.slice(i + 1)) expect(apart(a, b)).toBe(true);
  });
  expect(drawn.lines).toHaveLength(linesOf(grid).length);
  expect(drawn.width).toBeLessThan(8 * FULL.card.width);
}, 60_000);

test("two hundred sockets", async () => {
  const grid = chain(200);
  const drawn = await layout(new ELK(), grid);
  expect(Object.keys(drawn.sockets)).toHaveLength(200);
  expect(drawn.lines).toHaveLength(linesOf(grid).length);
}, 60_000);
