// @vitest-environment happy-dom
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { CastSummary } from "../../api/generated";
import { drawn } from "../../testing/served";
import { Group } from "./Rows";

afterEach(cleanup);
const now = Date.parse("2026-11-15T12:00:00Z");
const cast = (part: Partial<CastSummary>): CastSummary => ({
  castId: "a",
  status: "completed",
  loadout: "Demo",
  request: "Greet people",
  startedAt: "2026-11-15T11:00:00Z",
  updatedAt: "2026-11-15T11:05:00Z",
  project: "p",
  driven: false,
  lastSeq: 9,
  usage: { turns: 3, tokens: 1200, cost: 0.5 },
  ...part,
});
const casts = [
  cast({}),
  cast({ castId: "b", status: "failed", error: { code: "utility_timeout", message: "it took `too` long" } }),
  cast({ castId: "c", status: "waiting", waiting: { reason: "approval", message: "asks" } }),
  cast({ castId: "d", status: "running", driven: true, items: { done: 1, total: 3 } }),
];
const group = (at: number, toggle = vi.fn()) => (
  <table>
    <Group title="Recent" casts={casts} now={at} picked={{ keys: ["/b"], toggle }} />
  </table>
);

test("a row says where its cast stands, what it waits for and what it cost", () => {
  drawn(group(now));
  expect(screen.getByTestId("cast-a").textContent).toMatch(/Done.*Greet people.*\$0\.50/);
  expect(screen.getByTestId("cast-b").textContent).toContain("it took too long");
  expect(screen.getByTestId("cast-c").textContent).toMatch(/Needs you.*waits 55 min.*Review/);
  expect(screen.getByRole("img", { name: "1 of 3 items done" })).toBeDefined();
});

test("a cast is chosen by its key", () => {
  const toggle = vi.fn();
  drawn(group(now, toggle));
  fireEvent.click(screen.getByTestId("choose-a"));
  expect(toggle).toHaveBeenCalledWith("p/a");
});

test("a tick of the clock changes only the rows whose words change", () => {
  const toggle = vi.fn();
  const { container, rerender } = drawn(group(now, toggle));
  const before = new Map([...container.querySelectorAll("tr")].map((row) => [row.dataset.testid, row.innerHTML]));
  rerender(group(now + 1000, toggle));
  const changed = [...container.querySelectorAll("tr")].filter(
    (row) => row.innerHTML !== before.get(row.dataset.testid),
  );
  expect(changed.map((row) => row.dataset.testid)).toEqual(["cast-d"]);
});
