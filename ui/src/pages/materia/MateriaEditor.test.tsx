// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { draftsOf, serveEditor } from "../../testing/editor";
import { type Asked, drawn, openAt } from "../../testing/served";
import { readText } from "../editor/state";
import { MateriaEditor } from "./MateriaEditor";

afterEach(cleanup);

function opened(name: string, search = "", more: Record<string, unknown> = {}) {
  openAt(`/materia/${name}${search}`);
  const asked = serveEditor(more);
  drawn(<MateriaEditor name={name} />);
  return asked;
}
/** What the draft that was kept last says of a materia. */
function draftOf(asked: Asked[], name: string): unknown {
  const value = readText(draftsOf(asked).at(-1) ?? "").value as { materia?: Record<string, unknown> } | undefined;
  return value?.materia?.[name];
}

test("an agent has its prompt, what it is called, and where it is used", async () => {
  opened("Build");
  await screen.findByTestId("materia-editor");
  expect(screen.getByRole("textbox", { name: "Description" })).toHaveProperty("value", "Builds one item");
  expect((await screen.findByRole("textbox", { name: "Prompt" })).textContent).toContain("Build it");
  const uses = screen.getAllByRole("link").map((one) => one.getAttribute("href"));
  expect(uses).toContain("/loadouts/Demo?sel=socket:Socket-2");
  expect(uses).toContain("/loadouts/Other?sel=socket:Socket-1");
  expect(screen.queryByTestId("try-it")).toBeNull();
});

test("what is changed is kept as a draft, and taken back with the keys", async () => {
  const asked = opened("Build");
  // It was checked, so it listens to keys.
  await screen.findByText("No problems found.");
  const label = screen.getByRole("textbox", { name: "Label" });
  fireEvent.change(label, { target: { value: "Builder" } });
  await waitFor(() =>
    expect(draftOf(asked, "Build")).toEqual({
      prompt: "Build it",
      description: "Builds one item",
      label: "Builder",
    }),
  );
  fireEvent.keyDown(document.body, { key: "z", ctrlKey: true });
  await waitFor(() => expect(label).toHaveProperty("value", ""));
});

test("an agent becomes a utility with a command of its own", async () => {
  const asked = opened("Build");
  const kind = within(await screen.findByRole("group", { name: "Kind" }));
  fireEvent.click(kind.getByRole("button", { name: "utility" }));
  const command = await screen.findByRole("textbox", { name: "Command, one argument per line" });
  fireEvent.change(command, { target: { value: "sh\nrun me.sh" } });
  await waitFor(() => expect(draftOf(asked, "Build")).toMatchObject({ type: "utility", command: ["sh", "run me.sh"] }));
  expect(screen.getByRole("button", { name: "Try it: save first" })).toHaveProperty("disabled", true);
});

test("a saved utility can be tried, and is a generator where somebody says so", async () => {
  const asked = opened("Check");
  expect(await screen.findByRole("button", { name: "Try it" })).toHaveProperty("disabled", false);
  fireEvent.click(screen.getByRole("checkbox", { name: "Generator: it makes work items" }));
  await waitFor(() => expect(draftOf(asked, "Check")).toMatchObject({ generator: true }));
});

test("its changes are reviewed with the keyboard, and not while there are none", async () => {
  opened("Build");
  await screen.findByText("No problems found.");
  fireEvent.keyDown(document.body, { key: "s", ctrlKey: true });
  expect(screen.queryByRole("dialog")).toBeNull();
  fireEvent.change(screen.getByRole("textbox", { name: "Group" }), { target: { value: "work" } });
  fireEvent.keyDown(document.body, { key: "s", ctrlKey: true });
  await screen.findByRole("dialog", { name: "Review and save" });
});

test("a new materia begins from another one; without a beginning there is none", async () => {
  const asked = opened("Fresh", "?begin=1&from=Eval");
  await waitFor(() => expect(draftOf(asked, "Fresh")).toEqual({ prompt: "Judge it", parse: "json" }));
  expect(screen.getByTestId("save-state").textContent).toContain("Draft");
  cleanup();
  opened("Fresh");
  expect((await screen.findByRole("alert")).textContent).toBe("There is no materia Fresh.");
  expect(screen.getByRole("link", { name: "All materia" })).toBeDefined();
});
