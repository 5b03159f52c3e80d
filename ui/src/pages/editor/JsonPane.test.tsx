// @vitest-environment happy-dom
import { EditorView } from "@codemirror/view";
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { Findings } from "../../api/generated";
import { openEditor, text } from "../../testing/editor";

afterEach(cleanup);

async function pane(more: Record<string, unknown> = {}) {
  const asked = await openEditor("?drawer=json", more);
  const box = await screen.findByRole("textbox", { name: "Text of materia.json" });
  const view = EditorView.findFromDOM(box);
  if (!view) throw new Error("there is no editor");
  return { asked, view };
}
/** Types a text in the place of another. */
function type(view: EditorView, old: string, insert: string) {
  const from = view.state.doc.toString().indexOf(old);
  view.dispatch({ changes: { from, to: from + old.length, insert }, userEvent: "input.type" });
}
const heading = () => screen.getByRole("complementary", { name: "Inspector" }).querySelector("h2")?.textContent;

test("the text of the file is shown with its comments", async () => {
  const { view } = await pane();
  expect(view.state.doc.toString()).toBe(text);
});

test("what is typed is the document: the graph follows, and undo takes it back", async () => {
  const { view } = await pane();
  type(view, '"Socket-3": { "materia": "Eval"', '"Socket-3": { "materia": "Check"');
  fireEvent.click(screen.getByRole("tab", { name: "Outline" }));
  await screen.findByRole("treeitem", { name: /^Check \(Socket-3\)/ });
  fireEvent.click(screen.getByTestId("undo"));
  await screen.findByRole("treeitem", { name: /^Eval \(Socket-3\)/ });
});

test("a text that is broken keeps the last graph, marks its line, and cannot be saved", async () => {
  const { view } = await pane();
  type(view, '"Socket-3" }] },', '"Socket-3" }] ');
  const note = await screen.findByTestId("json-note-15");
  expect(note.textContent).toMatch(/comma|brace/);
  expect(screen.getByTestId("review").textContent).toMatch(/^Review and save: fix line 15 first/);
  expect(heading()).toBe("Demo");
  expect(screen.getByTestId("card-Socket-3")).toBeDefined();
});

test("what the check finds stands at its line", async () => {
  const found: Findings = {
    ok: true,
    findings: [{ code: "W-BUDGET", severity: "warning", message: "the loop has no budget", line: 10 }],
  };
  await pane({ "/check": found });
  expect((await screen.findByTestId("json-note-10")).textContent).toBe("the loop has no budget");
});

test("a socket that is selected elsewhere is gone to in the text", async () => {
  const { view } = await pane();
  fireEvent.click(await screen.findByTestId("card-Socket-3"));
  await waitFor(() => expect(heading()).toBe("Eval"));
  const at = view.state.doc.lineAt(view.state.selection.main.anchor).text;
  expect(at).toContain('"Socket-3"');
});
