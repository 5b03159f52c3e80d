// @vitest-environment happy-dom
// A change of the editor's state draws only the parts that show it.
import { act, cleanup, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keep } from "../../shared/kept";
import { project } from "../../testing/demo";
import { serveEditor, text } from "../../testing/editor";
import { drawn, openAt } from "../../testing/served";
import { everythingSeen } from "../../testing/sizes";
import { openSubject } from "./opening";
import { EditorStore } from "./store";
import { Workbench } from "./Workbench";

/** How often each part was drawn, by something that it always has. */
const draws = vi.hoisted(() => ({ canvas: 0, palette: 0, inspector: 0, drawer: 0, text: 0 }));
vi.mock("@xyflow/react", async (original) => {
  const real = await original<typeof import("@xyflow/react")>();
  const ReactFlow = (props: object) => {
    draws.canvas += 1;
    return <real.ReactFlow {...props} />;
  };
  return { ...real, ReactFlow };
});
vi.mock("../../shared/FindField", async (original) => {
  const real = await original<typeof import("../../shared/FindField")>();
  const FindBox: typeof real.FindBox = (props) => {
    draws.palette += 1;
    return <real.FindBox {...props} />;
  };
  return { ...real, FindBox };
});
vi.mock("../../shared/parts", async (original) => {
  const real = await original<typeof import("../../shared/parts")>();
  const Tabs: typeof real.Tabs = (props) => {
    draws[props.name === "insp" ? "inspector" : "drawer"] += 1;
    return <real.Tabs {...props} />;
  };
  return { ...real, Tabs };
});
vi.mock("../../shared/code/Code", async (original) => {
  const real = await original<typeof import("../../shared/code/Code")>();
  const Code: typeof real.Code = (props) => {
    if (props.label === "Text of materia.json") draws.text += 1;
    return <real.Code {...props} />;
  };
  return { ...real, Code };
});

beforeEach(everythingSeen);
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** The editor with its text open, checked and drawn; and a change, with what it draws. */
async function opened() {
  openAt("/loadouts/Demo?drawer=json");
  keep("materia.palette", "open");
  serveEditor();
  const subject = { kind: "loadout", name: "Demo" } as const;
  const { state } = await openSubject(project.id, subject, new AbortController().signal);
  const store = new EditorStore(state);
  drawn(<Workbench store={store} />);
  await screen.findByTestId("card-Socket-3");
  await screen.findByRole("textbox", { name: "Text of materia.json" });
  await waitFor(() => expect(store.state.checked).toBe(text));
  const drawnBy = async (change: () => void, seen: () => unknown) => {
    const before = { ...draws };
    act(change);
    await waitFor(seen);
    const parts = Object.keys(draws) as (keyof typeof draws)[];
    return parts.filter((part) => draws[part] > before[part]);
  };
  return { store, drawnBy };
}
const finding = { code: "E", severity: "error" as const, message: "it is wrong", pointer: "/loadouts/Demo" };

test("a notice and a draft that was kept draw only themselves", async () => {
  const { store, drawnBy } = await opened();
  const said = () => expect(screen.getByTestId("notice").textContent).toContain("It is done.");
  expect(await drawnBy(() => store.say("It is done."), said)).toEqual([]);
  const kept = { state: "offline", version: 1, at: null, why: "" } as const;
  const offline = () => expect(screen.getByTestId("kept-offline")).toBeDefined();
  expect(await drawnBy(() => store.patch({ kept }), offline)).toEqual([]);
});

test("another selection draws the canvas and the inspector, and neither the text nor the palette", async () => {
  const { store, drawnBy } = await opened();
  const inspector = within(screen.getByRole("complementary", { name: "Inspector" }));
  const seen = () => {
    expect(inspector.getByRole("heading", { level: 2 }).textContent).toBe("Eval");
    expect(location.search).toContain("sel=socket");
  };
  const parts = await drawnBy(() => store.select([{ kind: "socket", id: "Socket-3" }]), seen);
  expect(parts).toEqual(["canvas", "inspector"]);
});

test("what the check finds draws neither the text, the palette nor the tabs of the drawer", async () => {
  const { store, drawnBy } = await opened();
  const seen = () => expect(screen.getByTestId("problem").dataset.code).toBe("E");
  expect(await drawnBy(() => store.patch({ findings: [finding] }), seen)).toEqual(["canvas", "inspector"]);
});

test("an open sheet draws nothing below it", async () => {
  const { store, drawnBy } = await opened();
  const seen = () => expect(screen.getByRole("dialog", { name: "Add" })).toBeDefined();
  expect(await drawnBy(() => store.patch({ sheet: { kind: "add", where: {} } }), seen)).toEqual([]);
});
