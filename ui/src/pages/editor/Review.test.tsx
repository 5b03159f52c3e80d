// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { CheckBody, ConfigFile, Difference, Findings, SaveBody } from "../../api/generated";
import { useLive } from "../../shared/live-state";
import { listed, summary } from "../../testing/demo";
import { openEditor, text } from "../../testing/editor";
import { type Asked, refusal } from "../../testing/served";

afterEach(cleanup);

const FILE = "/config/project/materia.json";
const difference: Difference = {
  added: [],
  removed: [{ kind: "socket", path: "/x", name: "Socket-3 of Demo" }],
  changed: [{ kind: "edge", path: "/y", name: "edge of Socket-2", from: "Socket-3", to: "end" }],
};
/** The editor with its last socket taken out, and the sheet that asks before it is saved. */
async function reviewed(more: Record<string, unknown> = {}) {
  const asked = await openEditor("", { "/diff": difference, ...more });
  fireEvent.click(screen.getByRole("treeitem", { name: /^Eval/ }));
  fireEvent.keyDown(document.body, { key: "Delete" });
  fireEvent.click(await screen.findByRole("button", { name: "Review and save" }));
  return { asked, sheet: within(await screen.findByRole("dialog", { name: "Review and save" })) };
}
const savedText = (asked: Asked[]) =>
  savesOf(asked)
    .map(({ body }) => (body as SaveBody).text)
    .at(-1);
const savesOf = (asked: Asked[]) => asked.filter((one) => one.path === FILE);

test("what changes is counted and named, with whom it concerns", async () => {
  const { sheet } = await reviewed();
  useLive.setState({ casts: listed(summary("c1", "Greet", { status: "running", driven: true })) });
  expect((await sheet.findByText("0 added, 1 removed, 1 changed")).dataset.testid).toBe("counts");
  expect(sheet.getAllByTestId("change").map((one) => one.textContent)).toEqual([
    "Socket-3 of Demo",
    'edge of Socket-2 "Socket-3" "end"',
  ]);
  await sheet.findByText("1 cast of it is running and keeps the old version.");
  expect((await sheet.findByTestId("trust")).textContent).toBe("It would run no new programs.");
});

test("it is saved against what was read, once, and the draft is over", async () => {
  const { asked, sheet } = await reviewed();
  const save = sheet.getByRole("button", { name: "Save materia.json" });
  fireEvent.click(save);
  fireEvent.click(save);
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(screen.getByTestId("save-state").textContent).toBe("Saved h1");
  expect(screen.getByTestId("notice").textContent).toContain("Saved in materia.json.");
  expect(savesOf(asked)).toHaveLength(1);
  const saved = savedText(asked);
  expect(saved).toContain("// Who does what.");
  expect(saved).not.toContain("Socket-3");
});

test("a text with errors is not saved, and says which", async () => {
  const bad: Findings = {
    ok: false,
    findings: [{ code: "E-END", severity: "error", message: "no way leads to the end" }],
  };
  const check = ({ body }: Asked) => ((body as CheckBody).loadout ? { ok: true, findings: [] } : bad);
  const { asked, sheet } = await reviewed({ "/check": check });
  fireEvent.click(sheet.getByTestId("save"));
  expect((await sheet.findByRole("alert")).textContent).toBe("Not saved: no way leads to the end.");
  expect(savesOf(asked)).toEqual([]);
  expect(sheet.getByTestId("save")).toHaveProperty("disabled", false);
});

test("a file that somebody else changed is merged and not overwritten", async () => {
  const theirs = {
    text: text.replace('"Socket-3": { "materia": "Eval"', '"Socket-3": { "materia": "Check"'),
    hash: "h9",
  };
  const changed = Response.json(
    { type: "about:blank", title: "Changed", status: 412, code: "changed", detail: "It was changed.", theirs },
    { status: 412 },
  );
  await reviewed({ [FILE]: changed });
  fireEvent.click(screen.getByTestId("save"));
  const merge = within(await screen.findByRole("dialog", { name: "Merge" }));
  expect(merge.getByText("materia.json was changed outside this page")).toBeDefined();
  expect(merge.getByTestId("merge-done").textContent).toBe("Decide 1 more");
  fireEvent.click(merge.getByRole("radio", { name: "Take theirs" }));
  fireEvent.click(merge.getByRole("button", { name: "Use the merged text" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  await screen.findByRole("treeitem", { name: /^Check \(Socket-3\)/ });
});

test("a loadout whose sockets are all gone is removed only after its name was typed", async () => {
  const asked = await openEditor();
  fireEvent.keyDown(document.body, { key: "a", ctrlKey: true });
  fireEvent.keyDown(document.body, { key: "Delete" });
  await screen.findByTestId("blank");
  fireEvent.click(screen.getByTestId("review"));
  const sheet = within(await screen.findByRole("dialog", { name: "Review and save" }));
  const remove = sheet.getByRole("button", { name: "Remove Demo and save" });
  expect(remove).toHaveProperty("disabled", true);
  fireEvent.change(sheet.getByTestId("type-name"), { target: { value: "Demo" } });
  fireEvent.click(remove);
  await waitFor(() => expect(location.pathname).toBe("/loadouts"));
  const saved = savedText(asked);
  expect(saved).not.toContain('"Demo"');
  expect(saved).toContain('"Other"');
});

test("changes are discarded, and undo brings them back", async () => {
  const { sheet } = await reviewed();
  fireEvent.click(sheet.getByRole("button", { name: "Discard changes" }));
  await screen.findByRole("treeitem", { name: /^Eval/ });
  fireEvent.click(within(screen.getByTestId("notice")).getByRole("button", { name: "Undo" }));
  await waitFor(() => expect(screen.queryByRole("treeitem", { name: /^Eval/ })).toBeNull());
});

test("a copy of a shipped loadout begins as a draft under another name", async () => {
  const shipped: ConfigFile = { layer: "shipped", file: "(shipped)", text, hash: "h0", editable: false };
  await openEditor("", {}, [shipped]);
  fireEvent.click(screen.getByRole("button", { name: "Copy to change it" }));
  const sheet = within(await screen.findByRole("dialog", { name: "Copy Demo" }));
  const name = sheet.getByRole("textbox", { name: "Name of the copy" });
  expect(name).toHaveProperty("value", "My-Demo");
  fireEvent.change(name, { target: { value: "Other" } });
  expect(sheet.getByText("There is a loadout Other already.")).toBeDefined();
  fireEvent.change(name, { target: { value: "Mine" } });
  fireEvent.click(sheet.getByRole("button", { name: "Make the copy" }));
  expect(location.pathname + location.search).toBe("/loadouts/Mine?begin=1");
});

test("a refusal to save is said, and the draft stays", async () => {
  const { sheet } = await reviewed({ [FILE]: refusal(403, "forbidden", "The file is read only.") });
  fireEvent.click(sheet.getByTestId("save"));
  expect((await sheet.findByRole("alert")).textContent).toBe("The file is read only.");
  fireEvent.click(sheet.getByRole("button", { name: "Go on editing" }));
  expect(screen.getByTestId("change-count").textContent).toBe("1");
});
