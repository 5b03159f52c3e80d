// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { Draft } from "../../api/generated";
import { draftsOf, openEditor, serveEditor, text } from "../../testing/editor";
import { type Asked, drawn } from "../../testing/served";
import { Editor } from ".";
import { draftId } from "./state";

afterEach(cleanup);

const DRAFT = `/drafts/${draftId({ kind: "loadout", name: "Demo" })}`;
const kept = { version: 1, updatedAt: "2026-11-15T12:00:00Z" };
const item = (name: RegExp) => screen.getByRole("treeitem", { name });
/** Takes the socket `Eval` out. */
function change() {
  fireEvent.click(item(/^Eval/));
  fireEvent.keyDown(document.body, { key: "Delete" });
}
/** What the server says when another tab kept the draft. */
const changed = (theirs: Partial<Draft>) =>
  Response.json(
    {
      type: "about:blank",
      title: "Changed",
      status: 412,
      code: "changed",
      detail: "Another tab kept it.",
      theirs: {
        id: "d",
        layer: "project",
        file: "materia.json",
        base: "h0",
        version: 5,
        updatedAt: kept.updatedAt,
        history: null,
        ...theirs,
      },
    },
    { status: 412 },
  );

test("what an edit makes is kept at once, with the version that the tab knows", async () => {
  const asked = await openEditor();
  change();
  expect(await screen.findByTestId("kept")).toBeDefined();
  expect(draftsOf(asked)).toHaveLength(1);
  expect(draftsOf(asked)[0]).not.toContain("Socket-3");
});

test("without the server the change stays in the tab, and is there after a reload", async () => {
  const before = await openEditor("", {
    [DRAFT]: ({ method }: Asked) => {
      if (method === "PUT") throw new TypeError("lost");
      return kept;
    },
  });
  change();
  expect((await screen.findByTestId("kept-offline")).textContent).toBe("Offline, kept here");
  const tries = draftsOf(before).length;
  cleanup();
  // It was tried once more when the page was left, and was lost again.
  await waitFor(() => expect(draftsOf(before)).toHaveLength(tries + 1));
  const asked = serveEditor();
  drawn(<Editor name="Demo" />);
  await screen.findByTestId("editor");
  expect(screen.queryByRole("treeitem", { name: /^Eval/ })).toBeNull();
  await waitFor(() => expect(draftsOf(asked).at(-1)).not.toContain("Socket-3"));
});

test("an empty graph is never kept over a full one by itself", async () => {
  const asked = await openEditor();
  fireEvent.keyDown(document.body, { key: "a", ctrlKey: true });
  fireEvent.keyDown(document.body, { key: "Delete" });
  expect((await screen.findByTestId("kept-held")).textContent).toMatch(/^The loadout is empty, so this is not kept/);
  expect(draftsOf(asked)).toEqual([]);
  fireEvent.keyDown(document.body, { key: "z", ctrlKey: true });
  await screen.findByRole("treeitem", { name: /^Eval/ });
});

test("what another tab changed elsewhere in the draft is merged, and said", async () => {
  let tries = 0;
  const theirs = text.replace('"Build it"', '"Build one"');
  const asked = await openEditor("", { [DRAFT]: () => (++tries === 1 ? changed({ text: theirs }) : kept) });
  change();
  await screen.findByText("Another tab changed this draft. Both changes are in it now.");
  await waitFor(() => expect(draftsOf(asked)).toHaveLength(2));
  expect(draftsOf(asked)[1]).toContain('"Build one"');
  expect(draftsOf(asked)[1]).not.toContain("Socket-3");
});

test("where two tabs changed the same lines a person decides", async () => {
  const theirs = text.replace('"materia": "Eval", "edges"', '"materia": "Check", "edges"');
  const asked = await openEditor("", { [DRAFT]: () => changed({ text: theirs }) });
  change();
  const merge = within(await screen.findByRole("dialog", { name: "Merge" }));
  expect(merge.getByText("Another tab changed this draft")).toBeDefined();
  expect(merge.getByTestId("merge-theirs").textContent).toContain("Check");
  fireEvent.keyDown(merge.getByTestId("merge"), { key: "Escape" });
  expect(screen.getByRole("dialog", { name: "Merge" })).toBeDefined();
  fireEvent.click(merge.getByRole("button", { name: "Theirs everywhere" }));
  fireEvent.click(merge.getByTestId("merge-done"));
  await screen.findByRole("treeitem", { name: /^Check \(Socket-3\)/ });
  expect(draftsOf(asked).length).toBeGreaterThan(0);
});
