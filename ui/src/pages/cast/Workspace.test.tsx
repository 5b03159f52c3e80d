// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { WorkspaceActed, WorkspaceBody, WorkspaceDiff } from "../../api/generated";
import { project, stateAt } from "../../testing/demo";
import { drawn, openAt, refusal, sentOf, serve } from "../../testing/served";
import { WorkspaceTab } from "./Workspace";

afterEach(cleanup);

const workspace: WorkspaceBody = {
  castId: "demo",
  kind: "worktree",
  checkout: "/tmp/w",
  base: "abcdef0123456789",
  branch: "materia/demo",
  published: "fedcba",
  merged: false,
  commits: [{ id: "0123456789", subject: "Greet in French" }],
  files: [{ path: "greet.sh", added: 3, removed: 1 }],
};
const changes: WorkspaceDiff = {
  files: [
    { path: "greet.sh", added: 1, removed: 1 },
    { path: "logo.png", added: null, removed: null },
  ],
  text: "diff --git a/greet.sh b/greet.sh\n@@ -1 +1 @@\n-Hello\n+Bonjour\ndiff --git a/logo.png b/logo.png\nBinary files differ\n",
  cut: false,
};
function opened(body: unknown, { past = false, more = {} } = {}) {
  openAt("/casts/demo");
  const asked = serve({
    "/projects": { items: [project] },
    "/casts/demo/workspace": body,
    "/casts/demo/workspace/diff": changes,
    ...more,
  });
  drawn(<WorkspaceTab state={stateAt(80)} target={{ castId: "demo", project: "p" }} past={past} />);
  return asked;
}

test("a workspace has its folder, its branch, its commits and its files", async () => {
  opened(workspace);
  expect(screen.getByRole("status").textContent).toBe("Reading…");
  expect((await screen.findByTestId("workspace-folder")).textContent).toBe("/tmp/w");
  expect(screen.getByTestId("workspace-branch").textContent).toBe("materia/demo, not merged");
  expect(screen.getByText("Greet in French")).toBeDefined();
  await screen.findByTestId("changes");
  expect(document.querySelector(".add")?.textContent).toBe("1+Bonjour");
  fireEvent.click(screen.getByRole("button", { name: "logo.png binary" }));
  expect(screen.getByText("Binary files differ")).toBeDefined();
});

test("a branch is applied at once, and the answer is said", async () => {
  const acted: WorkspaceActed = { message: "Merged `materia/demo`.", workspace: { ...workspace, merged: true } };
  const asked = opened(workspace, { more: { "/casts/demo/workspace/apply": acted } });
  fireEvent.click(await screen.findByRole("button", { name: "Apply" }));
  expect((await screen.findByTestId("workspace-done")).textContent).toBe("Merged materia/demo.");
  expect(sentOf(asked).map(({ path, body }) => [path, body])).toEqual([["/casts/demo/workspace/apply", {}]]);
});

test("a workspace is dropped after a question that says what is lost", async () => {
  const acted: WorkspaceActed = { message: "Dropped.", workspace };
  const asked = opened(workspace, { more: { "/casts/demo/workspace/drop": acted } });
  fireEvent.click(await screen.findByRole("button", { name: "Drop" }));
  expect(screen.getByText(/Its branch is not merged: 1 commit, 1 file\./)).toBeDefined();
  expect(sentOf(asked)).toEqual([]);
  fireEvent.click(screen.getByTestId("drop-workspace-confirm"));
  await waitFor(() => expect(sentOf(asked)[0]?.body).toEqual({ confirm: true }));
});

test("in the past nothing can be done to it, and a refusal is said", async () => {
  opened(workspace, { past: true });
  await screen.findByText("The workspace as it is now, not as of event 80.");
  expect(screen.queryByRole("button", { name: "Apply" })).toBeNull();
  cleanup();
  opened(refusal(404, "resolution", "It has no workspace."));
  expect((await screen.findByRole("alert")).textContent).toBe("It has no workspace.");
});
