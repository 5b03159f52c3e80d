// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { draftsOf, openEditor } from "../../testing/editor";
import type { Asked } from "../../testing/served";
import { readText } from "./state";

afterEach(cleanup);

const inspector = () => within(screen.getByRole("complementary", { name: "Inspector" }));
const select = (name: string) => inspector().getByRole("combobox", { name });
const choose = (name: string, value: string) => fireEvent.change(select(name), { target: { value } });
/** The loadout of the draft that was kept last. */
const demoOf = (asked: Asked[]) => {
  const value = readText(draftsOf(asked).at(-1) ?? "").value as { loadouts?: { Demo?: unknown } } | undefined;
  return JSON.stringify(value?.loadouts?.Demo ?? null);
};
const kept = (asked: Asked[], part: string) => waitFor(() => expect(demoOf(asked)).toContain(part));

test("a socket gets another materia, another way to read its output, and a limit", async () => {
  const asked = await openEditor("?sel=socket:Socket-2");
  expect(inspector().getByRole("heading", { name: "Build" })).toBeDefined();
  choose("Materia", "Eval");
  await kept(asked, '"Socket-2":{"materia":"Eval"');
  fireEvent.click(
    within(inspector().getByRole("group", { name: "Output is read as" })).getByRole("button", { name: "text" }),
  );
  await kept(asked, '"parse":"text"');
});

test("an id that cannot be one is said at its field and not taken", async () => {
  const asked = await openEditor("?sel=socket:Socket-2");
  const field = inspector().getByRole("textbox", { name: "Id of the socket" });
  fireEvent.change(field, { target: { value: "no spaces" } });
  expect(field.getAttribute("aria-invalid")).toBe("true");
  fireEvent.blur(field);
  expect(draftsOf(asked)).toEqual([]);
  fireEvent.change(field, { target: { value: "builder" } });
  fireEvent.keyDown(field, { key: "Enter" });
  await kept(asked, '"to":"builder"');
});

test("edges of a socket are added, aimed, ordered and removed", async () => {
  const asked = await openEditor("?sel=socket:Socket-2");
  fireEvent.click(inspector().getByRole("button", { name: "Add an edge" }));
  await waitFor(() => expect(select("Target of edge 2")).toHaveProperty("value", "end"));
  choose("Target of edge 2", "Socket-1");
  choose("Condition of edge 2", "satisfied");
  await kept(asked, '{"when":"satisfied","to":"Socket-1"}');
  fireEvent.click(inspector().getByRole("button", { name: "Move edge 2 up" }));
  await waitFor(() => expect(select("Target of edge 1")).toHaveProperty("value", "Socket-1"));
  fireEvent.click(inspector().getByRole("button", { name: "Remove edge 1" }));
  await waitFor(() => expect(inspector().queryByRole("combobox", { name: "Target of edge 2" })).toBeNull());
});

test("an edge is selected from its socket, and its condition and bound are changed", async () => {
  const asked = await openEditor("?sel=socket:Socket-2");
  fireEvent.click(inspector().getByRole("button", { name: "More of edge 1" }));
  await inspector().findByRole("heading", { name: "Build to Eval" });
  const condition = within(inspector().getByRole("group", { name: "Condition" }));
  fireEvent.click(condition.getByRole("button", { name: "not satisfied" }));
  await kept(asked, '"when":"not_satisfied"');
  choose("Leads to", "end");
  await inspector().findByRole("heading", { name: "Build to end" });
});

test("a loop is renamed, fed, given exits, and ungrouped", async () => {
  const asked = await openEditor("?sel=socket:Socket-2");
  fireEvent.click(screen.getByRole("treeitem", { name: /^Eval/ }), { ctrlKey: true });
  fireEvent.keyDown(document.body, { key: "g", ctrlKey: true });
  fireEvent.click(await screen.findByRole("button", { name: "Make the loop" }));
  const name = await inspector().findByRole("textbox", { name: "Name of the loop" });
  fireEvent.change(name, { target: { value: "work" } });
  fireEvent.blur(name);
  await kept(asked, '"loops":{"work"');
  choose("Consumes from", "");
  await waitFor(() => expect(demoOf(asked)).not.toContain('"consumes"'));
  fireEvent.click(inspector().getByRole("button", { name: "Add an exit" }));
  await inspector().findByRole("combobox", { name: "Target of exit 2" });
  fireEvent.click(inspector().getByRole("button", { name: "Remove exit 2" }));
  await waitFor(() => expect(inspector().queryByRole("combobox", { name: "Target of exit 2" })).toBeNull());
  fireEvent.click(inspector().getByRole("button", { name: /^Ungroup/ }));
  await waitFor(() => expect(demoOf(asked)).not.toContain('"loops"'));
});

test("what an output leaves in the state is named once", async () => {
  const asked = await openEditor("?sel=socket:Socket-3");
  fireEvent.click(inspector().getByRole("button", { name: "Add a target" }));
  fireEvent.change(inspector().getByRole("textbox", { name: "Target 1" }), { target: { value: "verdict" } });
  fireEvent.change(inspector().getByRole("textbox", { name: "Source 1" }), { target: { value: "satisfied" } });
  await kept(asked, '"assign":{"verdict":"satisfied"}');
  fireEvent.click(inspector().getByRole("button", { name: "Add a target" }));
  const second = inspector().getByRole("textbox", { name: "Target 2" });
  fireEvent.change(second, { target: { value: "verdict" } });
  expect(second.getAttribute("aria-invalid")).toBe("true");
  fireEvent.click(inspector().getAllByRole("button", { name: "Remove verdict" })[1] as HTMLElement);
  await kept(asked, '"assign":{"verdict":"satisfied"}');
});

test("undo in a field of the inspector is that of the document", async () => {
  await openEditor("?sel=socket:Socket-2");
  choose("Materia", "Check");
  await waitFor(() => expect(screen.getByTestId("save-state").textContent).toContain("1 change"));
  fireEvent.keyDown(select("Materia"), { key: "z", ctrlKey: true });
  await waitFor(() => expect(select("Materia")).toHaveProperty("value", "Build"));
});

test("a loadout has its own fields: its description and where it begins", async () => {
  const asked = await openEditor();
  const fields = inspector().getAllByRole("textbox");
  expect(fields.length).toBeGreaterThan(0);
  const entry = inspector().getAllByRole("combobox")[0] as HTMLSelectElement;
  expect(entry.value).toBe("Socket-1");
  fireEvent.change(entry, { target: { value: "Socket-2" } });
  await kept(asked, '"entry":"Socket-2"');
});
