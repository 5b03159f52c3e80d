// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openEditor } from "../../testing/editor";
import { everythingSeen } from "../../testing/sizes";
import { DRAGGED } from "./Canvas";

beforeEach(everythingSeen);
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const heading = () =>
  within(screen.getByRole("complementary", { name: "Inspector" })).getByRole("heading", { level: 2 });
const outline = () => screen.getAllByRole("treeitem").map((one) => one.textContent);
const card = (id: string) => screen.findByTestId(`card-${id}`);
/** Drops a materia of the palette on an element. */
function drop(on: Element, name: string) {
  const told = JSON.stringify({ kind: "materia", name });
  const dataTransfer = { types: [DRAGGED], getData: () => told };
  fireEvent.dragOver(on, { dataTransfer });
  fireEvent.drop(on, { dataTransfer });
}

test("a card is selected with the mouse, and what is selected is in the address", async () => {
  await openEditor();
  fireEvent.click(await card("Socket-3"));
  await waitFor(() => expect(heading().textContent).toBe("Eval"));
  expect(new URLSearchParams(location.search).get("sel")).toBe("socket:Socket-3");
});

test("the arrow keys walk from card to card, and Shift adds to the selection", async () => {
  await openEditor();
  await card("Socket-1");
  const key = (name: string, more = {}) => fireEvent.keyDown(document.body, { key: name, ...more });
  key("ArrowRight");
  await waitFor(() => expect(heading().textContent).toBe("Plan"));
  key("ArrowRight");
  await waitFor(() => expect(heading().textContent).toBe("Build"));
  key("ArrowRight", { shiftKey: true });
  expect(await screen.findByText("2 selected")).toBeDefined();
  key("Escape");
  await waitFor(() => expect(screen.queryByText("2 selected")).toBeNull());
});

test("a materia is dropped on the canvas, or on a line, where it comes between", async () => {
  await openEditor();
  await card("Socket-1");
  drop(screen.getByTestId("rf__wrapper"), "Check");
  await waitFor(() => expect(outline()).toContain("Check (Socket-4)"));
  const line = await waitFor(() => {
    const found = document.querySelector('[data-edge="Socket-1->Socket-2"]');
    if (!found) throw new Error("the line is not drawn yet");
    return found;
  });
  drop(line, "Eval");
  await waitFor(() => expect(outline()).toContain("1. always to Eval (Socket-5)"));
});

test("cards are moved with the keyboard, and laid out anew they have no places of their own", async () => {
  await openEditor("?sel=socket:Socket-2");
  await card("Socket-2");
  fireEvent.keyDown(document.body, { key: "ArrowRight", altKey: true });
  await waitFor(() => expect(screen.getByTestId("change-count").textContent).toBe("1"));
  fireEvent.keyDown(document.body, { key: "L", shiftKey: true });
  await waitFor(() => expect(screen.getByTestId("save-state").textContent).toBe("Saved h0"));
});

test("words find sockets by their prompts, and Enter goes to the first", async () => {
  await openEditor();
  await card("Socket-1");
  fireEvent.keyDown(document.body, { key: "f", ctrlKey: true });
  const field = await screen.findByRole("textbox", { name: "Find in the loadout" });
  fireEvent.change(field, { target: { value: "judge" } });
  expect((await screen.findByText("1 of 3")).dataset.testid).toBe("found");
  fireEvent.keyDown(field, { key: "Enter" });
  await waitFor(() => expect(heading().textContent).toBe("Eval"));
  fireEvent.keyDown(field, { key: "Escape" });
  await waitFor(() => expect(screen.queryByTestId("find")).toBeNull());
});

test("sockets are copied as JSON and pasted with names of their own; other text changes nothing", async () => {
  await openEditor("?sel=socket:Socket-3");
  await card("Socket-3");
  const clip = (type: string, text: string) => {
    const told: Record<string, string> = { "text/plain": text };
    const event = Object.assign(new Event(type, { bubbles: true, cancelable: true }), {
      clipboardData: {
        getData: (kind: string) => told[kind] ?? "",
        setData: (kind: string, data: string) => (told[kind] = data),
      },
    });
    fireEvent(document, event);
    return told["text/plain"] ?? "";
  };
  const copied = clip("copy", "");
  expect(JSON.parse(copied)).toMatchObject({ sockets: { "Socket-3": { materia: "Eval" } } });
  clip("paste", copied);
  await waitFor(() => expect(outline()).toContain("Eval (Socket-4)"));
  clip("paste", "no JSON");
  expect((await screen.findByTestId("notice")).textContent).toContain("The pasted text is not valid JSON.");
});
