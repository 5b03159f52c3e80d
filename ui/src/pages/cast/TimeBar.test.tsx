// @vitest-environment happy-dom
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { stateAt } from "../../testing/demo";
import { drawn } from "../../testing/served";
import { TimeBar } from "./TimeBar";

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

function bar(seq: number, end = 80) {
  const onAt = vi.fn();
  const props = { state: stateAt(seq), tip: stateAt(end), past: seq < end, offline: false, onAt };
  const { rerender } = drawn(<TimeBar {...props} />);
  return { onAt, at: (next: number) => rerender(<TimeBar {...props} state={stateAt(next)} past={next < end} />) };
}
const button = (name: string) => screen.getByRole("button", { name });

test("the slider says which event is shown, and its end is the newest one", () => {
  const { onAt } = bar(44);
  const slider = screen.getByRole("slider", { name: "Event" });
  expect(slider.getAttribute("aria-valuetext")).toBe("Event 44 of 80");
  fireEvent.change(slider, { target: { value: "30" } });
  fireEvent.change(slider, { target: { value: "80" } });
  expect(onAt.mock.calls).toEqual([[30], [null]]);
});

test("a step goes one event back or on, and at the ends no further", () => {
  const { onAt, at } = bar(79);
  fireEvent.click(button("Previous event"));
  fireEvent.click(button("Next event"));
  expect(onAt.mock.calls).toEqual([[78], [null]]);
  at(80);
  expect(button("Next event")).toHaveProperty("disabled", true);
  at(1);
  expect(button("Previous event")).toHaveProperty("disabled", true);
});

test("it plays event by event at a speed, and stops at the end", () => {
  vi.useFakeTimers();
  const { onAt, at } = bar(78);
  fireEvent.click(button("Speed 5×"));
  fireEvent.click(button("Play from here"));
  vi.advanceTimersByTime(40);
  expect(onAt).toHaveBeenLastCalledWith(79);
  at(79);
  vi.advanceTimersByTime(40);
  expect(onAt).toHaveBeenLastCalledWith(null);
});

test("the space bar holds a cast that runs, and does not when a button has the focus", () => {
  const { onAt } = bar(44, 44);
  fireEvent.keyDown(button("Previous event"), { key: " " });
  expect(onAt).not.toHaveBeenCalled();
  fireEvent.keyDown(document.body, { key: " " });
  expect(onAt).toHaveBeenCalledWith(44);
});

test("what happened to the work is marked, and the way back leads to the end", () => {
  const { onAt } = bar(44);
  expect(screen.getByTitle(/^Event 40: sent back/).textContent).toBe("↺");
  fireEvent.click(screen.getByRole("button", { name: "Go to the end L" }));
  expect(onAt).toHaveBeenCalledWith(null);
});
