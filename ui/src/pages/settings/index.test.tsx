// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { AgentHealth, ConfigBody, Health } from "../../api/generated";
import { usualBounds } from "../../shared/bounds";
import { project } from "../../testing/demo";
import { type Asked, drawn, openAt, refusal, sentOf, serve } from "../../testing/served";
import { Settings } from ".";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const agent = (name: string, part: Partial<AgentHealth>): AgentHealth => ({
  name,
  label: name,
  installed: true,
  testedWith: "2.0",
  capabilities: {
    name,
    label: name,
    resume: true,
    chosenSession: true,
    schema: "checked",
    readOnly: "tools",
    noTools: true,
    toolList: true,
    deltas: true,
    tokens: true,
    cost: true,
  },
  ...part,
});
const health: Health = {
  agents: [agent("Claude", { version: "2.1" }), agent("Codex", { installed: false, missing: "npm i -g codex" })],
  sandbox: { landlock: 4, planning: "enforced" },
};
const config: ConfigBody = {
  items: [{ layer: "project", file: "materia.json", text: "{}", hash: "0123456789abcdef", editable: true }],
  findings: [{ code: "W-OLD", severity: "warning", message: "an old word" }],
};
function opened(more: Record<string, unknown> = {}) {
  openAt("/settings");
  const answers = { "/projects": { items: [project] }, "/agents": health, "/config": config };
  const asked = serve({ ...answers, ...more });
  drawn(<Settings />);
  return asked;
}

test("agents have their state, their version, and what is missing", async () => {
  opened();
  const row = within(await screen.findByRole("row", { name: /^Codex/ }));
  expect(row.getByText("Not installed")).toBeDefined();
  expect(row.getByText("npm i -g codex")).toBeDefined();
  expect(screen.getByRole("row", { name: /^Claude/ }).textContent).toContain("Installed2.1");
  expect(await screen.findByText("an old word")).toBeDefined();
});

test("the theme is changed at once and kept", () => {
  opened();
  const theme = within(screen.getByRole("group", { name: "Theme" }));
  fireEvent.click(theme.getByRole("button", { name: "Dark" }));
  expect(document.documentElement.dataset.theme).toBe("dark");
  expect(localStorage.getItem("materia.theme")).toBe("dark");
  fireEvent.click(theme.getByRole("button", { name: "System" }));
  expect(document.documentElement.dataset.theme).toBeUndefined();
});

test("bounds of new casts are numbers, and kept", () => {
  opened();
  const field = screen.getByTestId("usual-maxTurns");
  fireEvent.change(field, { target: { value: "4x0" } });
  expect(field).toHaveProperty("value", "40");
  expect(usualBounds().maxTurns).toBe("40");
});

test("notifications are asked of the browser, and its refusal is said", async () => {
  const told = {
    permission: "default" as NotificationPermission,
    requestPermission: async () => {
      told.permission = "denied";
    },
  };
  vi.stubGlobal("Notification", told);
  opened();
  fireEvent.click(screen.getByRole("button", { name: "Title and notifications" }));
  await screen.findByText(/This browser blocks notifications/);
});

test("a folder is removed from the server; a refusal is said and the folder stays", async () => {
  let items = [project];
  const asked = opened({
    "/projects": () => ({ items }),
    "/projects/p": () => {
      items = [];
      return {};
    },
  });
  fireEvent.click(await screen.findByRole("button", { name: "Remove" }));
  await waitFor(() => expect(screen.queryByRole("button", { name: "Remove" })).toBeNull());
  expect(sentOf(asked).map(({ method, path }: Asked) => `${method} ${path}`)).toEqual(["DELETE /projects/p"]);
  cleanup();
  opened({ "/projects/p": refusal(409, "busy", "A cast runs there.") });
  fireEvent.click(await screen.findByRole("button", { name: "Remove" }));
  expect((await screen.findByRole("alert")).textContent).toBe("A cast runs there.");
  expect(screen.getByRole("button", { name: "Remove" })).toBeDefined();
});

test("where several folders are served the page asks which one it is about", async () => {
  opened({ "/projects": { items: [project, { id: "q", dir: "/home/ada/other", name: "other" }] } });
  fireEvent.click(await screen.findByTestId("project-other"));
  await screen.findByRole("row", { name: /^Claude/ });
  expect(location.search).toBe("?project=q");
});
