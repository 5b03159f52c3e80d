// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { ConfigFile, Draft, Findings } from "../../api/generated";
import { object } from "../../document";
import { draftsOf, drawEditor, openEditor, text } from "../../testing/editor";
import { refusal, sentOf } from "../../testing/served";
import { draftId, readText } from "./state";

afterEach(cleanup);

const outline = () => screen.getAllByRole("treeitem").map((one) => one.textContent);
const item = (name: RegExp) => screen.getByRole("treeitem", { name });
const key = (name: string, more = {}) => fireEvent.keyDown(document.body, { key: name, ...more });
/** A value of the draft that was kept last. */
const keptAt = (asked: Parameters<typeof draftsOf>[0], ...path: string[]) =>
  path.reduce<unknown>(
    (value, name) => (value as Record<string, unknown>)?.[name],
    object(readText(draftsOf(asked).at(-1) ?? "").value),
  );

test("a loadout opens with its sockets and edges, and nothing is unsaved", async () => {
  await openEditor();
  expect(outline()).toEqual([
    "Demoloadout",
    "Plan (Socket-1)entry",
    "1. always to Build (Socket-2)",
    "Build (Socket-2)",
    "1. always to Eval (Socket-3)",
    "Eval (Socket-3)",
    "1. always to end",
  ]);
  expect(screen.getByTestId("save-state").textContent).toBe("Saved h0");
  expect(screen.getByRole("link", { name: "Start a cast" })).toBeDefined();
  expect(document.title).toBe("Demo · Materia");
});

test("a socket is added after the selected one with the keyboard alone, and the draft is kept", async () => {
  const asked = await openEditor();
  fireEvent.click(item(/^Build/));
  key("a");
  const sheet = within(await screen.findByRole("dialog", { name: "Add after Socket-2" }));
  const field = sheet.getByRole("textbox");
  fireEvent.change(field, { target: { value: "chec" } });
  fireEvent.keyDown(field, { key: "Enter" });
  await waitFor(() => expect(outline()).toContain("Check (Socket-4)"));
  expect(screen.getByTestId("change-count").textContent).toBe("1");
  await waitFor(() => expect(keptAt(asked, "loadouts", "Demo", "sockets", "Socket-4", "materia")).toBe("Check"));
  expect(draftsOf(asked).at(-1)).toContain("// Who does what.");
  expect(document.title).toBe("• Demo · Materia");
});

test("undo and redo give back exactly what was there", async () => {
  const asked = await openEditor();
  fireEvent.click(item(/^Eval/));
  key("Delete");
  await waitFor(() => expect(outline()).not.toContain("Eval (Socket-3)"));
  key("z", { ctrlKey: true });
  await waitFor(() => expect(outline()).toContain("Eval (Socket-3)"));
  expect(screen.getByTestId("save-state").textContent).toBe("Saved h0");
  key("z", { ctrlKey: true, shiftKey: true });
  await waitFor(() => expect(outline()).not.toContain("Eval (Socket-3)"));
  await waitFor(() => expect(draftsOf(asked).at(-1)).not.toContain("Socket-3"));
});

test("a socket is renamed wherever it is named; a name that is taken is refused", async () => {
  const asked = await openEditor();
  fireEvent.click(item(/^Build/));
  key("F2");
  const sheet = within(await screen.findByRole("dialog", { name: "Rename Socket-2" }));
  const field = sheet.getByRole("textbox", { name: "New id" });
  fireEvent.change(field, { target: { value: "Socket-3" } });
  expect(sheet.getByRole("button", { name: "Rename" })).toHaveProperty("disabled", true);
  fireEvent.change(field, { target: { value: "builder" } });
  fireEvent.click(sheet.getByRole("button", { name: "Rename" }));
  await waitFor(() => expect(outline()).toContain("1. always to Build (builder)"));
  await waitFor(() => expect(draftsOf(asked).at(-1)).not.toContain("Socket-2"));
});

test("an edge is made by keys, to a socket or the end", async () => {
  await openEditor();
  fireEvent.click(item(/^Eval/));
  key("e");
  const sheet = within(await screen.findByRole("dialog", { name: "Connect Socket-3" }));
  fireEvent.change(sheet.getByRole("combobox", { name: "Condition" }), { target: { value: "not_satisfied" } });
  const field = sheet.getByRole("textbox", { name: "Leads to" });
  fireEvent.change(field, { target: { value: "build" } });
  fireEvent.keyDown(field, { key: "Enter" });
  await waitFor(() => expect(outline().join()).toMatch(/not satisfied to Build \(Socket-2\)/));
});

test("sockets that are selected together become a loop", async () => {
  const asked = await openEditor();
  fireEvent.click(item(/^Build/));
  fireEvent.click(item(/^Eval/), { ctrlKey: true });
  key("g", { ctrlKey: true });
  const strip = within(await screen.findByRole("form", { name: "Make a loop" }));
  expect(strip.getByRole("combobox", { name: "consumes from" })).toHaveProperty("value", "Socket-1");
  fireEvent.click(strip.getByRole("button", { name: "Make the loop" }));
  await waitFor(() => expect(outline().join()).toMatch(/Loop \w+for each item of Plan/));
  await waitFor(() => expect(JSON.stringify(keptAt(asked, "loadouts", "Demo", "loops"))).toContain("Socket-3"));
});

test("the tree is walked with the arrow keys, and Enter leads to the fields", async () => {
  await openEditor();
  const first = item(/^Demo/);
  first.focus();
  fireEvent.keyDown(first, { key: "ArrowDown" });
  await waitFor(() => expect(document.activeElement).toBe(item(/^Plan/)));
  fireEvent.keyDown(item(/^Plan/), { key: "End" });
  await waitFor(() => expect(document.activeElement?.textContent).toBe("1. always to end"));
  fireEvent.keyDown(document.activeElement as HTMLElement, { key: "ArrowLeft" });
  await waitFor(() => expect(document.activeElement).toBe(item(/^Eval/)));
  expect(
    within(screen.getByRole("complementary", { name: "Inspector" })).getByRole("heading", { name: "Eval" }),
  ).toBeDefined();
});

test("what the check finds is listed, leads to its place, and stops saving", async () => {
  const found: Findings = {
    ok: false,
    findings: [
      {
        code: "E-PARSE",
        severity: "error",
        message: "`Socket-2` puts out text",
        pointer: "/loadouts/Demo/sockets/Socket-2",
      },
    ],
  };
  await openEditor("", { "/check": found });
  const problem = await screen.findByTestId("problem");
  fireEvent.click(within(problem).getByRole("button", { name: /puts out text/ }));
  expect(item(/^Build/).getAttribute("aria-selected")).toBe("true");
  key("Delete");
  await waitFor(() => expect(screen.getByTestId("review").textContent).toBe("Review and save: fix 1 error first"));
});

test("a shipped loadout stays as it is, and says how it can be changed", async () => {
  const shipped: ConfigFile = { layer: "shipped", file: "(shipped)", text, hash: "h0", editable: false };
  const asked = await openEditor("", {}, [shipped]);
  expect(screen.getByTestId("save-state").textContent).toBe("Shipped. It stays as it is; a copy can be changed.");
  fireEvent.click(item(/^Eval/));
  key("Delete");
  expect((await screen.findByTestId("notice")).textContent).toContain("Make a copy to change it.");
  expect(outline()).toContain("Eval (Socket-3)");
  expect(sentOf(asked).filter(({ method }) => method === "PUT")).toEqual([]);
});

test("a draft that was kept is opened again with its changes", async () => {
  const id = draftId({ kind: "loadout", name: "Demo" });
  const draft: Draft = {
    id,
    layer: "project",
    file: "materia.json",
    base: "h0",
    text: text.replace('"Build it"', '"Build one"'),
    history: null,
    version: 3,
    updatedAt: "2026-11-15T12:00:00Z",
  };
  await openEditor("", { "/drafts": { items: [{ ...draft, bytes: 9 }] }, [`/drafts/${id}`]: draft });
  expect(screen.getByTestId("save-state").textContent).toContain("Draft");
  expect(screen.getByTestId("kept")).toBeDefined();
});

test("a loadout that is not there, and a configuration that cannot be read, say so", async () => {
  drawEditor("", { "/config": { items: [], findings: [] } });
  expect((await screen.findByRole("alert")).textContent).toBe("There is no loadout Demo.");
  cleanup();
  drawEditor("", { "/config": refusal(500, "internal", "It cannot be read.") });
  expect((await screen.findByRole("alert")).textContent).toBe("It cannot be read.");
});
