// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { Envelope } from "../../../api/generated";
import { linesOf } from "../../../graph/rows";
import { demo, loadedStore, serveDemo, stateAt } from "../../../testing/demo";
import { drawn, openAt, refusal } from "../../../testing/served";
import { LinePanel } from "./LinePanel";

afterEach(cleanup);

const [change, onEvent] = [vi.fn(), vi.fn()];
async function opened(id: string, seq: number, more: Record<string, unknown> = {}) {
  change.mockClear();
  openAt("/casts/demo");
  serveDemo(seq, more);
  const line = linesOf(demo.graph).find((one) => one.id === id);
  if (!line) throw new Error(`the graph has no line ${id}`);
  const store = await loadedStore();
  const state = stateAt(seq);
  const taken = state.edges[id]?.taken ?? 0;
  drawn(<LinePanel {...{ store, state, line, taken, change, onEvent }} />);
  return screen.findByRole("complementary");
}
const payload = (message: string): Envelope => ({ payloadId: "x", kind: "handoff", ts: 0, message });

test("a line says what it is, how often it was taken, and how often it can be", async () => {
  const panel = await opened("Socket-3->Socket-2", 80);
  expect(panel.getAttribute("aria-label")).toBe("Line, Auto-Eval to Build");
  expect(panel.textContent).toContain("not satisfied, taken 1 time, at most 3 for one item");
  fireEvent.click(screen.getByRole("button", { name: "Close" }));
  expect(change).toHaveBeenCalledWith({ line: null });
});

test("what waits stands apart from what was sent, and a payload leads to its turn", async () => {
  await opened("Socket-2->Socket-3", 80);
  expect(screen.getByText("Nothing waits.")).toBeDefined();
  const rows = within(screen.getByTestId("line-passed")).getAllByRole("listitem");
  expect(rows).toHaveLength(4);
  fireEvent.click(within(rows[0] as HTMLElement).getByRole("button", { name: "Its turn" }));
  expect(change).toHaveBeenCalledWith({ line: null, socket: "Socket-3", turn: 69, tab: "input" });
});

test("a payload that no turn took yet waits", async () => {
  await opened("Socket-2->Socket-3", 16);
  const waits = within(screen.getByTestId("line-waits"));
  expect(waits.getByText("waits for Auto-Eval")).toBeDefined();
  expect(waits.queryByRole("button", { name: "Its turn" })).toBeNull();
  expect(screen.getByText("Nothing yet.")).toBeDefined();
});

test("a payload is read whole when somebody opens it", async () => {
  await opened("Socket-2->Socket-3", 16, { "/casts/demo/payloads/15": payload("It greets") });
  fireEvent.click(screen.getByRole("button", { name: "Show all" }));
  expect((await screen.findByTestId("payload-text")).textContent).toContain("It greets");
  fireEvent.click(screen.getByRole("button", { name: "Collapse" }));
  expect(screen.queryByTestId("payload-text")).toBeNull();
});

test("a payload that the server does not have says so", async () => {
  await opened("Socket-2->Socket-3", 16, { "/casts/demo/payloads/15": refusal(404, "resolution", "It is gone.") });
  fireEvent.click(screen.getByRole("button", { name: "Show all" }));
  expect((await screen.findByRole("alert")).textContent).toBe("It is gone.");
});
