// @vitest-environment happy-dom
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { loadedStore, serveDemo, stateAt } from "../../../testing/demo";
import { drawn, openAt } from "../../../testing/served";
import { everythingSeen } from "../../../testing/sizes";
import { Timeline, type TimelineProps } from ".";
import { ALL } from "./scale";

beforeEach(everythingSeen);
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const [change, onSelect] = [vi.fn(), vi.fn()];
function Shown(props: Omit<TimelineProps, "view" | "setView">) {
  const [view, setView] = useState(ALL);
  return <Timeline {...props} view={view} setView={setView} />;
}
async function opened(seq: number, search = "", past = false) {
  change.mockClear();
  openAt("/casts/demo");
  serveDemo(seq);
  const store = await loadedStore();
  const shown = { store, state: stateAt(seq), past, now: 0, change, onSelect };
  const target = { castId: "demo", project: "p" };
  drawn(<Shown {...shown} target={target} search={new URLSearchParams(search)} />);
  return screen.findByTestId("timeline");
}
const drawnTime = () => Number(screen.getByTestId("timeline").dataset.drawn);

test("each turn has a bar with its words, which leads to the turn", async () => {
  await opened(80);
  const bar = screen.getByRole("button", { name: "Auto-Eval visit 2: not satisfied, 0:47" });
  fireEvent.click(bar);
  expect(change).toHaveBeenCalledWith({ socket: "Socket-3", turn: 37, item: null });
});

test("a lane has the name of its socket, which selects it", async () => {
  await opened(80);
  fireEvent.click(screen.getByRole("button", { name: "utility Checkpoint" }));
  expect(onSelect).toHaveBeenCalledWith("Socket-4");
});

test("only the last turn of each item is shown where somebody wants that", async () => {
  await opened(80, "attempts=last");
  expect(screen.queryByTestId("bar-31")).toBeNull();
  expect(screen.getByTestId("bar-44")).toBeDefined();
});

test("the wheel zooms in and out, and never out of the whole", async () => {
  const timeline = await opened(80);
  const whole = drawnTime();
  fireEvent.wheel(timeline, { deltaY: -100 });
  expect(drawnTime()).toBeLessThan(whole);
  for (let turn = 0; turn < 5; turn += 1) fireEvent.wheel(timeline, { deltaY: 100 });
  expect(drawnTime()).toBe(whole);
});

test("a span that is chosen is marked, and pressing elsewhere takes it back", async () => {
  const timeline = await opened(80, "evfrom=31&evto=44");
  expect(screen.getByTestId("brush")).toBeDefined();
  timeline.setPointerCapture = () => {};
  fireEvent.pointerDown(timeline, { button: 0, clientX: 5, pointerId: 1 });
  fireEvent.pointerUp(timeline, { clientX: 5, pointerId: 1 });
  expect(change).toHaveBeenCalledWith({ evfrom: null, evto: null });
});

test("a bar says how its turn ended, also where nobody judged it", async () => {
  await opened(80);
  expect(screen.getByRole("button", { name: "Build visit 1: completed, 1:14" })).toBeDefined();
});

test("what runs has no end yet", async () => {
  await opened(44, "", true);
  expect(screen.getByTestId("bar-44").getAttribute("aria-label")).toMatch(/running/);
});
