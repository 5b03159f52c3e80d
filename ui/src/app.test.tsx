// @vitest-environment happy-dom
import { act, cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { InboxItem } from "./api/generated";
import { App } from "./app";
import { useLive } from "./shared/live-state";
import { project, summary } from "./testing/demo";
import { drawn, openAt, refusal, serve } from "./testing/served";

afterEach(cleanup);

const now = new Date().toISOString();
const cast = summary("c1", "Greet people", { startedAt: now, usage: { turns: 3, tokens: 1200, cost: 0.5 } });
const waits: InboxItem = {
  project: "p",
  castId: "c1",
  loadout: "Demo",
  request: "Greet people",
  reason: "manual",
  message: "waits",
  since: "2026-11-15T12:00:00Z",
  next: [],
};
const answers = {
  "/projects": { items: [project] },
  "/casts": { items: [cast] },
  "/inbox": { items: [waits] },
  "/loadouts": { items: [] },
  "/drafts": { items: [] },
  "/agents": { agents: [], sandbox: { landlock: 0, planning: "unavailable" } },
};

async function opened(address = "/") {
  openAt(address);
  serve(answers);
  drawn(<App refused={null} />);
  await screen.findByRole("navigation", { name: "Pages" });
}
const pages = () => within(screen.getByRole("navigation", { name: "Pages" }));

test("the rail leads to the pages, says where one is, and how many casts wait", async () => {
  await opened();
  await screen.findByTestId("cast-c1");
  expect(pages().getByRole("link", { current: "page" }).textContent).toContain("Casts");
  await pages().findByRole("link", { name: "Inbox 1, waiting for you" });
  expect(pages().queryByRole("link", { name: "Workers" })).toBeNull();
  fireEvent.click(pages().getByRole("link", { name: "Inbox 1, waiting for you" }));
  await screen.findByTestId("inbox-page");
  expect(location.pathname).toBe("/inbox");
  await waitFor(() => expect(document.title).toBe("(1) Materia"));
});

test("keys open the palette, the list of keys and a new cast, and go to pages", async () => {
  await opened();
  await screen.findByTestId("casts-page");
  fireEvent.keyDown(document.body, { key: "k", ctrlKey: true });
  const palette = await screen.findByRole("dialog", { name: "Find" });
  // Letters belong to the dialog while it is open.
  fireEvent.keyDown(document.body, { key: "?" });
  expect(screen.queryByRole("dialog", { name: "Keys" })).toBeNull();
  fireEvent.keyDown(palette, { key: "Escape" });
  fireEvent.keyDown(document.body, { key: "?" });
  fireEvent.click(within(await screen.findByRole("dialog", { name: "Keys" })).getByRole("button", { name: "Close" }));
  for (const key of ["g", "i"]) fireEvent.keyDown(document.body, { key });
  await screen.findByTestId("inbox-page");
  fireEvent.keyDown(document.body, { key: "c" });
  await screen.findByRole("dialog", { name: "New cast" });
});

test("letters that somebody types are no commands", async () => {
  await opened();
  const field = await screen.findByRole("textbox", { name: "Search casts" });
  for (const key of ["c", "?", "."]) fireEvent.keyDown(field, { key });
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(location.pathname).toBe("/");
});

test("the bar says what was spent today and how the connection is", async () => {
  await opened();
  expect((await screen.findByTestId("today")).textContent).toBe("Today $0.50");
  act(() => useLive.setState({ connection: { kind: "offline" } }));
  expect(screen.getByTestId("connection").textContent).toContain("Offline");
  act(() => useLive.setState({ connection: { kind: "reconnecting", inSeconds: 4 } }));
  await waitFor(() => expect(screen.getByTestId("connection").textContent).toMatch(/^Reconnecting [1-4] s/));
});

test("a page of one project asks for it where several are served", async () => {
  openAt("/loadouts");
  const other = { id: "q", dir: "/home/ada/other", name: "other" };
  serve({ ...answers, "/projects": { items: [project, other] } });
  drawn(<App refused={null} />);
  fireEvent.click(await screen.findByTestId("project-other"));
  await waitFor(() => expect(location.search).toBe("?project=q"));
  expect((await screen.findByTestId("project-name")).textContent).toBe("other");
});

test("a browser without a key, and one whose link was refused, are told how to sign in", async () => {
  openAt("/casts");
  serve({ "/projects": refusal(401, "unauthorized", "sign in") });
  drawn(<App refused={null} />);
  await screen.findByText(/materia ui/);
  cleanup();
  useLive.setState({ signedOut: false });
  drawn(<App refused="This link was used before." />);
  expect(screen.getByText("This link was used before.")).toBeDefined();
  expect(screen.queryByRole("navigation", { name: "Pages" })).toBeNull();
});
