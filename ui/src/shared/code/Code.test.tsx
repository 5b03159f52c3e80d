// @vitest-environment happy-dom
import { redo, undo } from "@codemirror/commands";
import { foldAll } from "@codemirror/language";
import { openSearchPanel } from "@codemirror/search";
import type { EditorView } from "@codemirror/view";
import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { drawn } from "../../testing/served";
import { unifiedRows } from "../diff";
import { Code, type CodeProps } from "./Code";
import { Compare } from "./Compare";
import { Patch } from "./Patch";

afterEach(cleanup);

const JSON_TEXT = '{\n  // who\n  "a": [1, true]\n}\n';
function opened(props: Partial<CodeProps> = {}) {
  let view: EditorView | null = null;
  const page = (more: Partial<CodeProps>) => (
    <Code
      language="json"
      label="The text"
      text={JSON_TEXT}
      onView={(made) => {
        view = made ?? view;
      }}
      {...props}
      {...more}
    />
  );
  const { rerender } = drawn(page({}));
  const editor = () => {
    if (!view) throw new Error("there is no editor");
    return view;
  };
  return { editor, again: (more: Partial<CodeProps>) => rerender(page(more)) };
}
const type = (view: EditorView, insert: string, at = 0) =>
  view.dispatch({ changes: { from: at, insert }, userEvent: "input" });

test("the editor is a text box with a name, which says when it cannot be changed", () => {
  opened();
  expect(screen.getByRole("textbox", { name: "The text" }).getAttribute("aria-readonly")).toBeNull();
  cleanup();
  opened({ readOnly: true });
  expect(screen.getByRole("textbox", { name: "The text" }).getAttribute("aria-readonly")).toBe("true");
});

test("what is typed is told, and what comes from outside is not", () => {
  const onType = vi.fn();
  const { editor, again } = opened({ onType });
  type(editor(), "/* x */");
  expect(onType).toHaveBeenCalledWith(`/* x */${JSON_TEXT}`);
  onType.mockClear();
  again({ text: "{}" });
  expect(editor().state.doc.toString()).toBe("{}");
  expect(onType).not.toHaveBeenCalled();
});

test("an editor without a history of its own asks for undo and redo where it stands", () => {
  const [onUndo, onRedo] = [vi.fn(), vi.fn()];
  const { editor } = opened({ onUndo, onRedo });
  type(editor(), " ");
  expect(undo(editor())).toBe(false);
  const press = (init: KeyboardEventInit) =>
    editor().contentDOM.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...init }));
  press({ key: "z", code: "KeyZ", keyCode: 90, ctrlKey: true });
  press({ key: "y", code: "KeyY", keyCode: 89, ctrlKey: true });
  expect([onUndo.mock.calls.length, onRedo.mock.calls.length]).toEqual([1, 1]);
});

test("an editor with its own history takes back what was typed", () => {
  const { editor } = opened();
  type(editor(), "x");
  expect(undo(editor())).toBe(true);
  expect(editor().state.doc.toString()).toBe(JSON_TEXT);
  expect(redo(editor())).toBe(true);
});

test("objects are folded, comments too are known, and text is searched", () => {
  const { editor } = opened();
  expect(foldAll(editor())).toBe(true);
  expect(openSearchPanel(editor())).toBe(true);
  expect(editor().dom.querySelector(".cm-search")).not.toBeNull();
});

test("two texts are one, with what was added and what is gone", async () => {
  drawn(<Compare before={'{\n  "a": 1\n}\n'} after={'{\n  "a": 2\n}\n'} label="Changes" testid="changes" />);
  const text = await screen.findByRole("textbox", { name: "Changes" });
  await waitFor(() => expect(text.textContent).toMatch(/"a": 1.*"a": 2/));
  expect(text.querySelector(".cm-deletedChunk")?.textContent).toContain('"a": 1');
});

test("a patch has the numbers of its lines, and what was added and removed", async () => {
  const rows = unifiedRows("@@ -7,3 +7,3 @@\n same\n-one 1\n+one 2\n last\n@@ -70 +70 @@\n-old\n+new\n") ?? [];
  drawn(<Patch rows={rows} />);
  const text = await screen.findByRole("textbox", { name: "Difference" });
  await waitFor(() => expect(text.querySelectorAll(".cm-changedLine")).toHaveLength(2));
  const gone = [...text.querySelectorAll(".cm-deletedChunk")].map((one) => one.textContent);
  expect(gone).toEqual([expect.stringContaining("one 1"), expect.stringContaining("old")]);
  const numbers = [...document.querySelectorAll(".cm-lineNumbers .cm-gutterElement")].map((one) => one.textContent);
  expect(numbers).toEqual(expect.arrayContaining(["7", "8", "9", "70"]));
});
