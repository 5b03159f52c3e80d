// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { Catalog, CatalogItem, DraftItem, LoadoutView } from "../../api/generated";
import { demo, project } from "../../testing/demo";
import { drawn, openAt, refusal, serve } from "../../testing/served";
import { Loadouts, Materia } from ".";

afterEach(cleanup);

const item = (name: string, part: Partial<CatalogItem> = {}): CatalogItem => ({
  name,
  layer: "project",
  file: "materia.json",
  ...part,
});
const loadouts: Catalog = {
  items: [item("Pair"), item("Demo", { active: true, layer: "shipped", file: "demo.json" })],
};
const view = (name: string, part: Partial<LoadoutView> = {}): LoadoutView => ({
  name,
  graph: demo.graph,
  findings: [],
  mayWrite: true,
  workspace: "project",
  beside: [],
  ...part,
});
const draft = (id: string): DraftItem => ({
  id,
  layer: "project",
  file: "materia.json",
  base: "h",
  version: 1,
  updatedAt: "2026-11-15T12:00:00Z",
  bytes: 9,
});
const materia: Catalog = {
  items: [item("Build", { kind: "agent", description: "Builds one item" }), item("Checkpoint", { kind: "utility" })],
};
const answers = {
  "/projects": { items: [project] },
  "/loadouts": loadouts,
  "/loadouts/Demo": view("Demo"),
  "/loadouts/Pair": view("Pair", { findings: [{ code: "W-BUDGET", severity: "warning", message: "no budget" }] }),
  "/drafts": { items: [draft("loadout.Fresh.1")] },
  "/materia": materia,
};
function opened(page: "loadouts" | "materia", more: Record<string, unknown> = {}) {
  openAt(`/${page}`);
  serve({ ...answers, ...more });
  drawn(page === "loadouts" ? <Loadouts /> : <Materia />);
}

test("the active loadout is shown with its graph, and a shipped one is opened and not edited", async () => {
  opened("loadouts");
  await screen.findByRole("img", { name: "The graph of Demo" });
  expect(screen.getByTestId("loadout-row-Demo").getAttribute("aria-current")).toBe("true");
  expect(screen.getByTestId("open-editor").textContent).toBe("Open");
  expect(screen.getByText("✓ No problems found.")).toBeDefined();
});

test("another loadout is chosen, with what is found in it", async () => {
  opened("loadouts");
  fireEvent.click(await screen.findByTestId("loadout-row-Pair"));
  await screen.findByRole("heading", { name: "Pair" });
  expect(location.search).toBe("?show=Pair");
  expect(screen.getByTestId("open-editor").textContent).toBe("Edit");
  expect(screen.getByText("no budget")).toBeDefined();
  expect(screen.getByRole("link", { name: "Start a cast" }).getAttribute("href")).toContain("new=1&loadout=Pair");
});

test("a draft that was never saved can be opened again", async () => {
  opened("loadouts");
  const link = await screen.findByRole("link", { name: "Fresh" });
  expect(link.getAttribute("href")).toBe("/loadouts/Fresh?begin=1");
});

test("a new loadout needs a name that is free, and may begin with a template", async () => {
  opened("loadouts");
  const name = await screen.findByRole("textbox", { name: "Name of a new loadout" });
  const begin = () => screen.getByTestId("new-loadout");
  expect(begin()).toHaveProperty("disabled", true);
  await screen.findByTestId("loadout-row-Pair");
  fireEvent.change(name, { target: { value: "Pair" } });
  expect(begin().textContent).toBe("Taken");
  fireEvent.change(name, { target: { value: "Mine" } });
  const picks = within(screen.getByRole("combobox", { name: "Begin with" })).getAllByRole("option");
  expect(picks.length).toBeGreaterThan(1);
  fireEvent.click(begin());
  expect(location.pathname + location.search).toBe("/loadouts/Mine?begin=1");
});

test("materia are listed with what they are, and lead to their editor", async () => {
  opened("materia");
  const row = within(await screen.findByRole("row", { name: /^Build/ }));
  expect(row.getByText("Builds one item")).toBeDefined();
  expect(row.getByRole("link", { name: "Build" }).getAttribute("href")).toBe("/materia/Build");
  const name = screen.getByRole("textbox", { name: "Name of a new materia" });
  fireEvent.change(name, { target: { value: "Review" } });
  fireEvent.click(screen.getByTestId("new-materia"));
  await waitFor(() => expect(location.pathname + location.search).toBe("/materia/Review?begin=1"));
});

test("what the server refuses is said, for the list and for one of it", async () => {
  opened("materia", { "/materia": refusal(500, "internal", "The list cannot be read.") });
  expect((await screen.findByRole("alert")).textContent).toBe("The list cannot be read.");
  cleanup();
  opened("loadouts", { "/loadouts/Demo": refusal(422, "configuration", "It cannot be read.") });
  expect((await screen.findByRole("alert")).textContent).toBe("It cannot be read.");
});
