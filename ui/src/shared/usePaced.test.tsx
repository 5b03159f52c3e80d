// @vitest-environment happy-dom
import { act, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { usePaced } from "./usePaced";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test("a value stays for its time, then comes the newest; another key shows it at once", () => {
  const { result, rerender } = renderHook(({ value, key }) => usePaced(value, 1000, key), {
    initialProps: { value: 1, key: "a" },
  });
  rerender({ value: 2, key: "a" });
  rerender({ value: 3, key: "a" });
  expect(result.current).toBe(1);
  act(() => vi.advanceTimersByTime(1000));
  expect(result.current).toBe(3);
  rerender({ value: 4, key: "a" });
  expect(result.current).toBe(3);
  rerender({ value: 5, key: "b" });
  expect(result.current).toBe(5);
});
