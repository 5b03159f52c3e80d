// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { Catalog, CatalogItem, LoadoutView, TrustItem } from "../../api/generated";
import { demo, project } from "../../testing/demo";
import { type Asked, drawn, openAt, refusal, sentOf, serve } from "../../testing/served";
import { Launch } from ".";

afterEach(cleanup);

const item = (name: string, part: Partial<CatalogItem> = {}): CatalogItem => ({
  name,
  layer: "project",
  file: "materia.json",
  ...part,
});
const loadouts: Catalog = { items: [item("Pair"), item("Demo", { active: true, description: "Three items" })] };
const view = (name: string): LoadoutView => ({
  name,
  graph: demo.graph,
  findings: [],
  mayWrite: true,
  workspace: "project",
  beside: name === "Pair" ? [{ castId: "c9", mayWrite: true }] : [],
});
function opened(search = "?new=1", more: Record<string, unknown> = {}) {
  openAt(`/casts${search}`);
  const asked = serve({
    "/projects": { items: [project] },
    "/loadouts": loadouts,
    "/loadouts/Pair": view("Pair"),
    "/loadouts/Demo": view("Demo"),
    "/agents": { agents: [], sandbox: { landlock: 0, planning: "unavailable" } },
    "/casts": { castId: "made", project: "p" },
    ...more,
  });
  const onClose = vi.fn();
  drawn(<Launch onClose={onClose} />);
  return { asked, onClose };
}
const start = () => screen.getByTestId("start");
const bodies = (asked: Asked[], path = "/casts") =>
  sentOf(asked)
    .filter((one) => one.path === path)
    .map((one) => one.body);

test("the active loadout is chosen, and the request has the focus", async () => {
  opened();
  const chosen = await screen.findByRole("radio", { name: /^Demo/ });
  expect(chosen).toHaveProperty("checked", true);
  await screen.findByRole("img", { name: "The graph of Demo" });
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Request" })));
});

test("a cast is started with what was chosen, once, and its page opens", async () => {
  const { asked } = opened();
  fireEvent.click(await screen.findByRole("radio", { name: /^Pair/ }));
  fireEvent.change(screen.getByRole("textbox", { name: "Request" }), { target: { value: " Mend it " } });
  fireEvent.click(screen.getByRole("button", { name: "Interactive" }));
  fireEvent.click(screen.getByRole("button", { name: "Planning" }));
  fireEvent.change(screen.getByLabelText("Turns"), { target: { value: "12" } });
  const line = "materia -C /home/ada/greet cast --loadout Pair --planning --interactive --max-turns 12 'Mend it'";
  expect(screen.getByTestId("cli").textContent).toContain(line);
  fireEvent.click(start());
  fireEvent.keyDown(document.body, { key: "Enter", ctrlKey: true });
  await waitFor(() => expect(location.pathname).toBe("/casts/made"));
  expect(bodies(asked)).toEqual([
    {
      project: "p",
      request: "Mend it",
      loadout: "Pair",
      planning: true,
      interactive: true,
      budget: { maxTurns: 12 },
    },
  ]);
});

test("what was written stays until it is sent", async () => {
  opened();
  fireEvent.click(await screen.findByRole("radio", { name: /^Pair/ }));
  fireEvent.change(screen.getByRole("textbox", { name: "Request" }), { target: { value: "A draft" } });
  cleanup();
  serve({ "/projects": { items: [project] }, "/loadouts": loadouts });
  drawn(<Launch onClose={() => {}} />);
  expect(await screen.findByRole("textbox", { name: "Request" })).toHaveProperty("value", "A draft");
  expect(await screen.findByRole("radio", { name: /^Pair/ })).toHaveProperty("checked", true);
});

test("casts that write in the same folder are named, until the cast works in a copy", async () => {
  opened("?new=1&loadout=Pair");
  expect((await screen.findByTestId("beside")).textContent).toContain("Another cast is running in this folder: c9.");
  fireEvent.click(screen.getByRole("button", { name: "A copy of the repository" }));
  expect(screen.queryByTestId("beside")).toBeNull();
  expect(screen.getByTestId("cli").textContent).toContain("--workspace own");
  expect(screen.getByRole("checkbox", { name: "Include uncommitted changes" })).toBeDefined();
});

test("programs that nobody approved are shown first; approving them starts the cast", async () => {
  const question: TrustItem = { project: "p", hash: "h".repeat(64), text: "", runs: ["sh -c true"], question: null };
  let trusted = false;
  const { asked } = opened("?new=1", {
    "/casts": () =>
      trusted
        ? { castId: "made", project: "p" }
        : refusal(403, "trust_required", "Approve it.", { questions: [question] }),
    "/trust": () => {
      trusted = true;
      return { hash: question.hash, casts: [] };
    },
  });
  await screen.findByRole("radio", { name: /^Demo/ });
  fireEvent.click(start());
  const asks = within(await screen.findByTestId("trust-question"));
  expect(asks.getByText("sh -c true")).toBeDefined();
  fireEvent.click(asks.getByRole("button", { name: "Approve what is shown, and start" }));
  await waitFor(() => expect(location.pathname).toBe("/casts/made"));
  expect(bodies(asked, "/trust")).toEqual([{ project: "p", hash: question.hash }]);
  expect(
    new Set(
      sentOf(asked)
        .filter(({ path }) => path === "/casts")
        .map(({ key }) => key),
    ).size,
  ).toBe(2);
});

test("what is wrong with the configuration is said, with its help", async () => {
  const findings = [
    { code: "E-ORDER", severity: "error" as const, message: "an edge is never taken", help: "move it" },
  ];
  opened("?new=1", { "/casts": refusal(422, "configuration", "It has errors.", { findings }) });
  await screen.findByRole("radio", { name: /^Demo/ });
  fireEvent.click(start());
  expect((await screen.findByRole("alert")).textContent).toBe("It has errors.");
  expect(screen.getByText("move it")).toBeDefined();
  expect(start()).toHaveProperty("disabled", false);
});

test("without a loadout nothing can be started", async () => {
  const { onClose } = opened("?new=1", { "/loadouts": refusal(500, "internal", "The loadouts cannot be read.") });
  expect((await screen.findByRole("alert")).textContent).toBe("The loadouts cannot be read.");
  expect(start()).toHaveProperty("disabled", true);
  fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  expect(onClose).toHaveBeenCalledOnce();
});
