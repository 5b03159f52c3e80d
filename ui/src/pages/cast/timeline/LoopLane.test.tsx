// @vitest-environment happy-dom
import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { emptyState } from "../../../fold";
import css from "../style.module.css";
import { LoopLane } from "./LoopLane";

afterEach(cleanup);

/** A loop whose items took a second each, in a lane of 800 pixels. */
function lane(total: number) {
  const turns = Array.from({ length: total }, (_, n) => ({
    seq: n + 1,
    socket: "build",
    item: `WI-${n + 1}`,
    start: n * 1_000_000,
    end: (n + 1) * 1_000_000,
  }));
  const loop = { id: "items", entry: 1, index: total, total, exhausted: true, labels: [], sentBack: 0, skipped: [] };
  const plan = { nodes: {}, loops: { items: { members: ["build"] } } };
  const state = { ...emptyState("cast"), turns, loops: { items: loop }, plan } as never;
  const share = (from: number, to: number) => (to - from) / (total * 1000);
  const places = {
    left: (time: number) => `${share(0, time) * 100}%`,
    wide: (from: number, to: number) => `${share(from, to) * 100}%`,
    room: (from: number, to: number) => share(from, to) * 800,
  };
  return render(<LoopLane state={state} id="items" depth={0} places={places} end={total * 1000} />).container;
}

test("a few items have their labels; of two hundred some share a bar, which says which", () => {
  const few = lane(4);
  expect(few.querySelectorAll(`.${css.itlab}`)).toHaveLength(4);
  cleanup();
  const many = lane(200);
  expect(many.querySelectorAll(`.${css.bar}.${css.item}`)).toHaveLength(100);
  expect(many.querySelectorAll(`.${css.itlab}`)).toHaveLength(0);
  expect(many.querySelector(`.${css.bar}.${css.item}`)?.getAttribute("title")).toBe("WI-1 to WI-2");
});
