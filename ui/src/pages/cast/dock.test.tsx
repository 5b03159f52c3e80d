// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useSearch } from "../../shared/router";
import { loadedStore, serveDemo, stateAt } from "../../testing/demo";
import { type Asked, drawn, openAt } from "../../testing/served";
import { everythingSeen } from "../../testing/sizes";
import { Dock } from "./Dock";
import type { DockProps } from "./props";

const END = 80;
let asked: Asked[];
const onSelect = vi.fn();
beforeEach(() => {
  onSelect.mockClear();
  everythingSeen();
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

function Page(props: Omit<DockProps, "search" | "change">) {
  const [search, change] = useSearch();
  return <Dock {...props} search={search} change={change} />;
}
async function opened(search = "") {
  openAt(`/casts/demo${search}`);
  asked = serveDemo(END);
  const store = await loadedStore();
  const state = stateAt(END);
  const target = { castId: "demo", project: "p" };
  drawn(<Page {...{ store, state, target, onSelect }} past={false} now={0} />);
  await screen.findByRole("tablist", { name: "Dock" });
}
const tab = (name: RegExp) => screen.getByRole("tab", { name });
const searched = (name: string) => new URLSearchParams(location.search).get(name);

test("its tabs are in the address, and it can be closed and opened", async () => {
  await opened();
  expect(tab(/Timeline/).getAttribute("aria-selected")).toBe("true");
  fireEvent.click(tab(/Cost/));
  expect(searched("dock")).toBe("cost");
  await screen.findByTestId("cost-total");
  fireEvent.click(screen.getByRole("button", { name: "Close the dock" }));
  expect(screen.queryByRole("tabpanel")).toBeNull();
  fireEvent.click(tab(/State/));
  expect(screen.getByRole("tabpanel")).toBeDefined();
});

test("its height changes with the arrow keys", async () => {
  await opened();
  const grip = screen.getByRole("separator", { name: "Height of the dock" });
  const before = Number(grip.getAttribute("aria-valuenow"));
  fireEvent.keyDown(grip, { key: "ArrowUp" });
  expect(Number(grip.getAttribute("aria-valuenow"))).toBe(before + 24);
  fireEvent.keyDown(grip, { key: "ArrowDown" });
  expect(Number(grip.getAttribute("aria-valuenow"))).toBe(before);
});

test("an event is opened as it is written, and closed", async () => {
  await opened("?dock=events&event=44");
  const raw = within(await screen.findByTestId("event-raw"));
  expect(raw.getByText("Event 44")).toBeDefined();
  expect(raw.getByText(/"turn.started"/)).toBeDefined();
  fireEvent.click(raw.getByRole("button", { name: "Close" }));
  await waitFor(() => expect(screen.queryByTestId("event-raw")).toBeNull());
});

test("the server finds words in events, and the page says how many there are", async () => {
  await opened("?dock=events");
  expect(screen.getByTestId("events-count").textContent).toBe("80 events");
  fireEvent.change(screen.getByRole("textbox", { name: "Text in events" }), { target: { value: "follow_up" } });
  await waitFor(() => expect(screen.getByTestId("events-count").textContent).toBe("1 of 80 events"));
  expect(asked.at(-1)?.search.get("text")).toBe("follow_up");
  await waitFor(() => expect(screen.getAllByRole("row")).toHaveLength(2));
  fireEvent.change(screen.getByRole("combobox", { name: "Kind" }), { target: { value: "turn" } });
  await waitFor(() => expect(asked.at(-1)?.search.get("type")).toBe("turn"));
});

test("a number leads to its event, and no other number does", async () => {
  await opened("?dock=events");
  const field = screen.getByRole("textbox", { name: "Go to event, 1 to 80" });
  fireEvent.change(field, { target: { value: "81" } });
  expect(field.getAttribute("aria-invalid")).toBe("true");
  fireEvent.keyDown(field, { key: "Enter" });
  expect(searched("at")).toBeNull();
  fireEvent.change(field, { target: { value: "x44" } });
  fireEvent.keyDown(field, { key: "Enter" });
  expect([searched("at"), searched("event")]).toEqual(["44", "44"]);
});

test("the output of turns is searched and leads to its turn", async () => {
  await opened("?dock=output");
  await screen.findByText("12 of 12 turns");
  const field = screen.getByRole("textbox", { name: "Text in the output" });
  fireEvent.change(field, { target: { value: "bonjour with" } });
  expect(screen.getByText("1 of 12 turns")).toBeDefined();
  fireEvent.click(screen.getByRole("button", { name: "Build" }));
  expect(onSelect).toHaveBeenCalledWith("Socket-2");
  expect([searched("turn"), searched("tab")]).toEqual(["31", "output"]);
  fireEvent.change(field, { target: { value: "no such words" } });
  expect(screen.getByText("No output has this text.")).toBeDefined();
});

test("the timeline has a bar for each turn, which leads to it", async () => {
  await opened();
  const bars = screen.getAllByTestId(/^bar-/);
  expect(bars).toHaveLength(12);
  fireEvent.click(screen.getByRole("button", { name: "Last of each item" }));
  expect(searched("attempts")).toBe("last");
  await waitFor(() => expect(screen.getAllByTestId(/^bar-/).length).toBeLessThan(12));
});
