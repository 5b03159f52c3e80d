// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { Choices, ExploreView, LinkView, Walk, WalkBody } from "../../api/generated";
import { useLive } from "../../shared/live-state";
import { demo, listed, summary } from "../../testing/demo";
import { openEditor } from "../../testing/editor";
import { type Asked, refusal } from "../../testing/served";

afterEach(cleanup);

const ask = { socket: "Socket-3", materia: "Eval", visit: 1, outcomes: ["satisfied", "not_satisfied"] as const };
const step = { socket: "Socket-3", materia: "Eval", visit: 1 };
/** What the server answers to the choices so far: one question, then the end. */
function walked({ body }: Asked): Walk {
  const { choices = [] } = body as WalkBody;
  const [first] = choices;
  const rest = { script: { turns: {} }, case: { name: "x" }, findings: [] };
  if (!first) return { steps: [], asks: [{ ...ask, outcomes: [...ask.outcomes] }], status: "running", ...rest };
  const routes = [{ to: first.outcome === "satisfied" ? "end" : "Socket-2" }];
  return { steps: [{ ...step, outcome: first.outcome, routes }], asks: [], status: "completed", ...rest };
}
const inspector = () => within(screen.getByRole("complementary", { name: "Inspector" }));
const steps = () => within(screen.getByTestId("steps"));

test("a walk asks what a socket answers, and shows where that leads", async () => {
  await openEditor("?drawer=simulate", { "/simulate": walked });
  fireEvent.click(await screen.findByTestId("choose-not_satisfied"));
  expect((await screen.findByTestId("walk-end")).textContent).toBe("The cast ends here, completed.");
  expect(steps().getByTestId("step").textContent).toContain("not satisfiedto Socket-2");
  fireEvent.click(screen.getByRole("button", { name: "Back" }));
  await screen.findByTestId("ask-Socket-3");
  expect(screen.getByRole("button", { name: "Begin again" })).toHaveProperty("disabled", true);
});

test("an earlier cast is followed with its choices", async () => {
  const choices: Choices = { loadout: "Demo", choices: [{ socket: "Socket-3", outcome: "satisfied" }] };
  await openEditor("?drawer=simulate", { "/simulate": walked, "/casts/c1/choices": choices });
  useLive.setState({ casts: listed(summary("c1", "Greet")) });
  fireEvent.change(await screen.findByRole("combobox", { name: "Follow an earlier cast" }), {
    target: { value: "c1" },
  });
  await waitFor(() => expect(steps().getByTestId("step").textContent).toContain("satisfiedto end"));
});

test("a walk that the server refuses says why, and nothing can be saved", async () => {
  await openEditor("?drawer=simulate", { "/simulate": refusal(422, "configuration", "It has errors.") });
  expect((await screen.findByRole("alert")).textContent).toBe("It has errors.");
  expect(screen.getByRole("button", { name: "Save as script" })).toHaveProperty("disabled", true);
});

const history = { steps: 2, end: "fails", visits: ["Socket-1"], script: { turns: {} }, plays: true };
const explored: ExploreView = {
  explored: {
    loadout: "Demo",
    items: [2],
    complete: true,
    states: 12,
    ends: {},
    unreachedSockets: [],
    unreachedEdges: [],
    findings: [{ kind: "stuck", message: "`Socket-2` waits for ever", socket: "Socket-2", history }],
    notes: [],
  },
  walks: [{ choices: [{ socket: "Socket-3", outcome: "satisfied" }] }],
  findings: [],
};

test("what an exploration finds leads to its socket and is played step by step", async () => {
  await openEditor("?drawer=explore", { "/explore": explored, "/simulate": walked });
  expect((await screen.findByText("12 states, all of them.")).tagName).toBe("STRONG");
  const row = within(screen.getByTestId("explored"));
  fireEvent.click(row.getByRole("button", { name: /^Socket-2 waits/ }));
  await inspector().findByRole("heading", { name: "Build" });
  fireEvent.click(row.getByRole("button", { name: /^Play it/ }));
  expect((await screen.findByTestId("play-at")).textContent).toBe("0 of 1");
  fireEvent.click(screen.getByRole("button", { name: "Next step" }));
  await waitFor(() => expect(steps().getByTestId("step").textContent).toContain("satisfiedto end"));
  expect(screen.getByRole("button", { name: "To the end" })).toHaveProperty("disabled", true);
});

test("an exploration that finds nothing, and one that is refused, say so", async () => {
  const none = { ...explored, explored: { ...explored.explored, findings: [] }, walks: [] };
  await openEditor("?drawer=explore", { "/explore": none });
  await screen.findByText("Nothing was found.");
  cleanup();
  await openEditor("?drawer=explore", { "/explore": refusal(500, "stopped", "It was stopped.") });
  expect((await screen.findByRole("alert")).textContent).toBe("It was stopped.");
});

test("a loadout is linked behind this one after its graph was seen", async () => {
  const linked: LinkView = { ok: true, findings: [], graph: demo.graph, loadout: { sockets: {} } };
  const asked = await openEditor("", { "/link": linked });
  fireEvent.click(screen.getByRole("button", { name: "Show the palette" }));
  fireEvent.click(screen.getByTestId("loadout-Other"));
  const sheet = within(await screen.findByRole("dialog", { name: "Link" }));
  await sheet.findByTestId("link-graph");
  expect(asked.find(({ path }) => path === "/link")?.body).toMatchObject({ parts: ["loadout:Demo", "loadout:Other"] });
  expect(sheet.getByRole("textbox")).toHaveProperty("value", "Demo-then-Other");
});

test("the palette finds materia by words, and puts one behind the selected socket", async () => {
  await openEditor("?sel=socket:Socket-3");
  fireEvent.click(screen.getByRole("button", { name: "Show the palette" }));
  const palette = within(screen.getByRole("complementary", { name: "Palette" }));
  fireEvent.change(palette.getByRole("textbox", { name: "Find materia" }), { target: { value: "one item" } });
  expect(palette.getAllByRole("listitem").map((one) => one.textContent)).toEqual(["BuildBuilds one item"]);
  fireEvent.click(palette.getByTestId("pal-Build"));
  await screen.findByRole("treeitem", { name: /^Build \(Socket-4\)/ });
  fireEvent.click(palette.getByRole("button", { name: "Hide the palette" }));
  expect(screen.queryByTestId("palette")).toBeNull();
});
