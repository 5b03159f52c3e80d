// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { cardsOf, linesOfState, regionsOf } from "../pages/cast/views";
import { demo, stateAt } from "../testing/demo";
import { drawn } from "../testing/served";
import { everythingSeen } from "../testing/sizes";
import { Graph } from "./Graph";
import { MiniGraph } from "./MiniGraph";

beforeEach(everythingSeen);
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

async function graph(seq: number, item: string | null = null) {
  const state = stateAt(seq);
  const acts = { onSelect: vi.fn(), onLine: vi.fn(), onItem: vi.fn() };
  drawn(
    <Graph
      grid={demo.graph}
      cards={cardsOf(state, demo.graph, {}, 0, true)}
      lines={linesOfState(state, demo.graph, null)}
      regions={regionsOf(state, demo.graph, item)}
      selected="Socket-2"
      line={null}
      item={item}
      {...acts}
    />,
  );
  await screen.findByTestId("card-Socket-1");
  return acts;
}

test("a card has its name, its state in words and its item; the chosen one is pressed", async () => {
  const { onSelect } = await graph(44);
  expect(screen.getByTestId("card-Socket-1").textContent).toMatch(/Auto-Plan.*Done/);
  const chosen = screen.getByTestId("card-Socket-2");
  expect(chosen.textContent).toMatch(/Build.*Running.*Socket-2/);
  expect(chosen.getAttribute("aria-pressed")).toBe("true");
  fireEvent.click(screen.getByTestId("card-Socket-3"));
  expect(onSelect).toHaveBeenCalledWith("Socket-3");
});

test("the arrow keys walk from card to card", async () => {
  const { onSelect } = await graph(44);
  fireEvent.keyDown(screen.getByTestId("card-Socket-1"), { key: "ArrowDown" });
  expect(onSelect).toHaveBeenCalledWith("Socket-2");
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("card-Socket-2")));
  onSelect.mockClear();
  fireEvent.keyDown(screen.getByTestId("card-Socket-1"), { key: "ArrowLeft" });
  expect(onSelect).not.toHaveBeenCalled();
});

test("a line is a button with its ends in its name, and says how often it was taken", async () => {
  const { onLine } = await graph(44);
  const line = await screen.findByTestId("line-Socket-3->Socket-2");
  expect(line.getAttribute("aria-label")).toBe("Line from Auto-Eval to Build");
  fireEvent.keyDown(line, { key: "Enter" });
  fireEvent.click(line);
  expect(onLine.mock.calls).toEqual([["Socket-3->Socket-2"], ["Socket-3->Socket-2"]]);
  expect(screen.getByText("1 of 3 for Greet in French")).toBeDefined();
});

test("a loop has its items with their states, and can be held at one", async () => {
  const { onItem } = await graph(44);
  const items = within(screen.getByRole("group", { name: "Items of workItems" }));
  expect(items.getAllByRole("button").map((one) => one.getAttribute("aria-label"))).toEqual([
    "Greet by name WI-1: done",
    "Greet in French WI-2: running",
    "Write a README WI-3: idle",
  ]);
  fireEvent.click(items.getByRole("button", { name: /WI-1/ }));
  expect(onItem).toHaveBeenCalledWith("WI-1");
  fireEvent.click(screen.getByRole("button", { name: "Following" }));
  expect(onItem).toHaveBeenLastCalledWith("WI-2");
});

test("a loop that is held at an item says which, and lets it go", async () => {
  const { onItem } = await graph(44, "WI-1");
  fireEvent.click(screen.getByRole("button", { name: /^Locked on Greet by name/ }));
  expect(onItem).toHaveBeenCalledWith(null);
});

test("a small picture has a name, the names of its sockets and nothing to press", async () => {
  drawn(<MiniGraph grid={demo.graph} label="The graph of Demo" />);
  const picture = await screen.findByRole("img", { name: "The graph of Demo" });
  for (const socket of demo.graph.sockets) expect(picture.textContent).toContain(socket.materia);
  expect(screen.queryByRole("button")).toBeNull();
});
