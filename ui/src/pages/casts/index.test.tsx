// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { Catalog, DemoView, Health, LoadoutView } from "../../api/generated";
import { loadCasts } from "../../shared/live";
import { demo, project, summary } from "../../testing/demo";
import { type Asked, drawn, openAt, refusal, sentOf, serve } from "../../testing/served";
import { Casts } from ".";

afterEach(cleanup);

const casts = [
  summary("a", "Greet people"),
  summary("b", "Mend the parser", { status: "failed", loadout: "Pair" }),
  summary("c", "Merge it", { status: "waiting", waiting: { reason: "approval", message: "`merge` asks" } }),
  summary("d", "Describe it", { status: "running", driven: true }),
];
async function opened(search = "", answers: Record<string, unknown> = {}) {
  openAt(`/casts${search}`);
  const asked = serve({ "/projects": { items: [project] }, "/casts": { items: casts }, ...answers });
  await loadCasts();
  drawn(<Casts />);
  await screen.findByTestId("casts-page");
  return asked;
}
const rows = () => screen.queryAllByTestId(/^cast-/).map((row) => row.dataset.testid);

test("casts stand in groups: those that need a person, those that run, those that are over", async () => {
  await opened();
  expect(screen.getByText("1 needs you. 1 is running.")).toBeDefined();
  expect(rows()).toEqual(["cast-c", "cast-d", "cast-a", "cast-b"]);
  expect(screen.getByRole("link", { name: /New cast/ }).getAttribute("href")).toBe("/casts?new=1");
});

test("filters narrow the list, are in the address, and can be taken back", async () => {
  await opened();
  fireEvent.change(screen.getByRole("combobox", { name: "Loadout" }), { target: { value: "Pair" } });
  expect(rows()).toEqual(["cast-b"]);
  expect(location.search).toBe("?loadout=Pair");
  fireEvent.change(screen.getByRole("combobox", { name: "State" }), { target: { value: "done" } });
  expect(rows()).toEqual([]);
  expect(screen.getByText(/No cast matches/)).toBeDefined();
  fireEvent.click(screen.getByRole("button", { name: "Show all" }));
  expect(rows()).toHaveLength(4);
});

test("the server searches all casts, once somebody stops typing", async () => {
  const old = summary("z", "Long ago", { status: "failed" });
  const answer = ({ search }: Asked) => ({ items: search.get("text") ? [old] : casts });
  const asked = await opened("", { "/casts": answer });
  fireEvent.keyDown(document.body, { key: "/" });
  const field = screen.getByRole("textbox", { name: "Search casts" });
  expect(document.activeElement).toBe(field);
  for (const value of ["a", "ag", "ago"]) fireEvent.change(field, { target: { value } });
  await waitFor(() => expect(rows()).toEqual(["cast-z"]));
  expect(asked.filter(({ search }) => search.has("text")).map(({ search }) => search.get("text"))).toEqual(["ago"]);
});

test("two casts are chosen and compared; a third takes the place of the first", async () => {
  await opened();
  fireEvent.click(screen.getByTestId("choose-a"));
  expect(screen.getByText("Choose a second one to compare.")).toBeDefined();
  fireEvent.click(screen.getByTestId("choose-b"));
  fireEvent.click(screen.getByTestId("choose-c"));
  const link = screen.getByRole("link", { name: "Compare the two" });
  expect(link.getAttribute("href")).toBe("/casts/b/compare/c?project=p");
  fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  expect(screen.queryByTestId("comparing")).toBeNull();
});

test("older casts are read when they are asked for", async () => {
  const older = summary("old", "Before");
  const page = ({ search }: Asked) => (search.get("cursor") ? { items: [older] } : { items: casts, next: "n2" });
  await opened("", { "/casts": page });
  fireEvent.click(screen.getByRole("button", { name: "Show older casts" }));
  await screen.findByTestId("cast-old");
  expect(screen.queryByRole("button", { name: "Show older casts" })).toBeNull();
});

test("filters are kept as a view under a name, shown again, and removed", async () => {
  await opened("?loadout=Pair");
  fireEvent.click(screen.getByTestId("save-view"));
  const name = await screen.findByRole("textbox", { name: "Name of the view" });
  fireEvent.change(name, { target: { value: "Pairs" } });
  fireEvent.keyDown(name, { key: "Enter" });
  fireEvent.click(screen.getByRole("tab", { name: /^All/ }));
  expect(rows()).toHaveLength(4);
  fireEvent.click(screen.getByRole("tab", { name: "Pairs 1" }));
  expect(rows()).toEqual(["cast-b"]);
  fireEvent.click(screen.getByRole("button", { name: "Remove the view Pairs" }));
  expect(screen.queryByRole("tab", { name: "Pairs 1" })).toBeNull();
});

const agents: Health = {
  agents: [
    {
      name: "claude",
      label: "Claude",
      installed: false,
      testedWith: "2",
      missing: "npm i -g claude",
      capabilities: {
        name: "claude",
        label: "Claude",
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
    },
  ],
  sandbox: { landlock: 0, planning: "unavailable" },
};
const picture: LoadoutView = {
  name: "Demo",
  graph: demo.graph,
  findings: [],
  mayWrite: true,
  workspace: "project",
  beside: [],
};
const first = {
  "/casts": { items: [] },
  "/demo": { available: true } satisfies DemoView,
  "/loadouts/Demo": picture,
  "/agents": agents,
  "/loadouts": { items: [] } satisfies Catalog,
};

test("before the first cast the demo is offered, with its graph and what is missing here", async () => {
  const answer = ({ method }: Asked) => (method === "POST" ? summary("made", "Demo") : { available: true });
  const asked = await opened("", { ...first, "/demo": answer });
  await screen.findByRole("img", { name: "The graph of the demo" });
  const missing = within(await screen.findByRole("region", { name: "Agents" }));
  expect(missing.getByText("npm i -g claude")).toBeDefined();
  fireEvent.click(screen.getByRole("button", { name: "Run the demo" }));
  await waitFor(() => expect(location.pathname).toBe("/casts/made"));
  expect(sentOf(asked).map(({ path }) => path)).toEqual(["/demo"]);
});

test("where the demo is refused the page says why, and without one a cast is offered", async () => {
  const answer = ({ method }: Asked) => (method === "POST" ? refusal(409, "busy", "It runs.") : { available: true });
  await opened("", { ...first, "/demo": answer });
  fireEvent.click(await screen.findByRole("button", { name: "Run the demo" }));
  expect((await screen.findByRole("alert")).textContent).toBe("It runs.");
  cleanup();
  await opened("", { ...first, "/demo": { available: false } });
  expect(screen.getByRole("link", { name: "Start a cast" }).getAttribute("href")).toBe("/casts?new=1");
});
