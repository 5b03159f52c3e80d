import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ELKModule from "elkjs/lib/elk.bundled.js";
import { expect, test } from "vitest";
import { randomFrom } from "../../tests/random";
import { gridOf, materiaInfo, object, readIn, Writer } from "../document";
import { type Box, EDITOR, layout } from "./layout";
import { withSpots } from "./pinned";

const ELK = ((ELKModule as unknown as { default?: typeof ELKModule }).default ?? ELKModule) as typeof ELKModule;
const root = join(import.meta.dirname, "../../..");
const texts = ["loadouts", "examples", "examples/seeds"].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".json") && !name.endsWith("-script.json"))
    .map((name) => readFileSync(join(root, folder, name), "utf8")),
);
const materia = new Map(
  texts.flatMap((text) =>
    Object.entries(object(new Writer(text).value(["materia"]))).map(
      ([name, value]) => [name, materiaInfo(name, "", "", object(value))] as const,
    ),
  ),
);
const loadouts = texts.flatMap((text) => {
  const writer = new Writer(text);
  return writer.keys(["loadouts"]).map((name) => ({ name, loadout: readIn(writer, name) }));
});
const apart = (a: Box, b: Box) =>
  a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
const within = (inner: Box, outer: Box) =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width &&
  inner.y + inner.height <= outer.y + outer.height;

test.each(loadouts)(
  "$name: cards apart, members in their region, also where a person moved some",
  async ({ name, loadout }) => {
    const grid = gridOf(loadout, materia);
    const laid = await layout(new ELK(), grid, EDITOR);
    expect(Object.keys(laid.sockets).sort()).toEqual(loadout.sockets.map((socket) => socket.id).sort());
    expect(withSpots(laid, grid, {}, EDITOR)).toBe(laid);
    const any = randomFrom(name.length);
    for (let round = 0; round < 6; round += 1) {
      const spots = Object.fromEntries(
        loadout.sockets
          .filter(() => round > 0 && any() < 0.4)
          .map((socket) => [socket.id, { x: Math.round(any() * 900), y: Math.round(any() * 500) }]),
      );
      const drawn = withSpots(laid, grid, spots, EDITOR);
      const boxes = Object.values(drawn.sockets);
      boxes.forEach((a, index) => {
        for (const b of boxes.slice(index + 1)) expect(apart(a, b)).toBe(true);
      });
      for (const region of drawn.regions)
        for (const id of grid.loops?.[region.id]?.sockets ?? [])
          expect(within(drawn.sockets[id] as Box, region.box)).toBe(true);
      expect(drawn.lines).toHaveLength(laid.lines.length);
      for (const { points } of drawn.lines)
        for (const point of points) expect(Number.isFinite(point.x) && Number.isFinite(point.y)).toBe(true);
    }
  },
  60_000,
);
