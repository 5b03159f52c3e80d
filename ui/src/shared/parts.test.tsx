// @vitest-environment happy-dom
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { Lost } from "../api/client";
import type { EventLine } from "../api/generated";
import { withWords } from "../api/texts";
import { type Asked, drawn, serve } from "../testing/served";
import { ActButton } from "./ActButton";
import { Boundary } from "./Boundary";
import { Cli } from "./Cli";
import { LongTexts } from "./LongTexts";
import { useLive } from "./live-state";
import { ErrorBox, Foreign, Item, Meter, Pick, Seg, State, Strip, stateWords, Tabs } from "./parts";
import { Whole } from "./Whole";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("each state has its word and its own mark", () => {
  const shapes = Object.keys(stateWords).map((state) => {
    const { container, unmount } = drawn(<State state={state as keyof typeof stateWords} />);
    const shape = container.querySelector("svg")?.innerHTML ?? "";
    expect(container.textContent).toBe(stateWords[state as keyof typeof stateWords]);
    unmount();
    return shape;
  });
  expect(new Set(shapes).size).toBe(shapes.length);
});

test("text of others stays text, and what nobody sees has its number", () => {
  const { container } = drawn(<Foreign text={"<b>a\u200bb</b>"} />);
  expect(container.textContent).toBe("<b>aU+200Bb</b>");
  expect(container.querySelector("b")).toBeNull();
});

test("tabs are walked with the arrow keys, round and round", () => {
  const picked = vi.fn();
  const items = [
    { id: "a" as const, label: "A" },
    { id: "b" as const, label: "B", count: 1234 },
  ];
  drawn(<Tabs name="t" label="Tabs" items={items} now="b" onPick={picked} />);
  expect(screen.getByRole("tab", { selected: true }).textContent).toBe("B1,234");
  fireEvent.keyDown(screen.getByRole("tablist"), { key: "ArrowRight" });
  fireEvent.keyDown(screen.getByRole("tablist"), { key: "ArrowLeft" });
  expect(picked.mock.calls).toEqual([["a"], ["a"]]);
  expect(screen.getByRole("tab", { name: "A" }).tabIndex).toBe(-1);
});

test("a choice of few says which one it is, and is not made twice", () => {
  const picked = vi.fn();
  drawn(<Seg<"x" | "y"> label="Choice" items={{ x: "X", y: "Y" }} now="x" onPick={picked} />);
  fireEvent.click(screen.getByRole("button", { name: "X" }));
  fireEvent.click(screen.getByRole("button", { name: "Y" }));
  expect(picked.mock.calls).toEqual([["y"]]);
  expect(screen.getByRole("button", { pressed: true }).textContent).toBe("X");
});

test("a picker has its label and gives its value", () => {
  const picked = vi.fn();
  const options = ["a", "b"].map((value) => ({ value, label: value.toUpperCase() }));
  drawn(<Pick label="Which" value="a" options={options} onPick={picked} />);
  fireEvent.change(screen.getByLabelText("Which"), { target: { value: "b" } });
  expect(picked).toHaveBeenCalledWith("b");
});

test("a strip of many items stays a strip, and an item is named", () => {
  const cells = Array.from({ length: 500 }, (_, n) => ({ key: String(n), state: "done" as const }));
  const { container } = drawn(
    <>
      <Strip cells={cells} label="500 items" />
      <Item itemKey="WI-1" title="Greet" />
      <Meter spent={80} limit={100} />
    </>,
  );
  expect(screen.getByRole("img", { name: "500 items" }).children.length).toBeLessThanOrEqual(120);
  expect(screen.getByTitle("Greet (WI-1)").textContent).toBe("Greet WI-1");
  expect(container.querySelector(".meter.warn")).not.toBeNull();
});

test("an error is an alert; one of a lost server goes when the server is back", () => {
  drawn(<ErrorBox error={new Error("no")} />);
  expect(screen.getByRole("alert").textContent).toBe("no");
  cleanup();
  drawn(<ErrorBox error={new Lost()} />);
  expect(screen.getByRole("alert").textContent).toMatch(/does not answer/);
  act(() => useLive.setState(({ returns }) => ({ returns: returns + 1 })));
  expect(screen.queryByRole("alert")).toBeNull();
});

test("a command line quotes what a shell would take apart", () => {
  drawn(<Cli words={["materia", "say", "c1", "it's $(rm)"]} />);
  expect(screen.getByTestId("cli").textContent).toContain(`materia say c1 'it'\\''s $(rm)'`);
});

test("a long value is folded and can be unfolded", () => {
  drawn(<Whole value={Array.from({ length: 40 }, (_, n) => `line ${n}`).join("\n")} label="Output" />);
  const button = screen.getByRole("button", { name: "Show all" });
  expect(button.getAttribute("aria-expanded")).toBe("false");
  fireEvent.click(button);
  expect(screen.getByRole("button", { name: "Collapse" }).getAttribute("aria-expanded")).toBe("true");
  expect(screen.getByText(/40 lines/)).toBeDefined();
});

test("a long text is read when somebody asks for it", async () => {
  const hash = "cd".repeat(32);
  const asked = serve({ [`/blobs/${hash}`]: () => new Response("the whole text") });
  const { data } = withWords({
    type: "turn.completed",
    data: { output: { $blob: hash, bytes: 70_000 } },
  } as unknown as EventLine);
  drawn(<LongTexts value={{ ...data }} project={null} />);
  expect(asked).toEqual([]);
  fireEvent.click(screen.getByRole("button", { name: /Show the text/ }));
  await screen.findByText("the whole text");
});

function Broken(): never {
  throw new Error("broken");
}

test("a part that breaks says so, and the rest of the page stays", () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  drawn(
    <>
      <Boundary>
        <Broken />
      </Boundary>
      <p>the rest</p>
    </>,
  );
  expect(screen.getByTestId("fault").textContent).toContain("broken");
  expect(screen.getByText("the rest")).toBeDefined();
  vi.restoreAllMocks();
});

// The last one: a lost answer makes the page doubt its server.
test("an act is sent once, with the same key when its answer was lost", async () => {
  let lost = true;
  const asked = serve({
    "/casts/c1/commands": () => {
      if (!lost) return { events: [7] };
      lost = false;
      throw new TypeError("lost");
    },
    "/health": ({ path }: Asked) => ({ status: "ok", version: path }),
  });
  const done = vi.fn();
  drawn(
    <ActButton target={{ castId: "c1", project: null }} act={{ do: "pause" }} onDone={done}>
      Pause
    </ActButton>,
  );
  const button = screen.getByRole("button", { name: "Pause" });
  expect(button.title).toBe("materia pause c1");
  fireEvent.click(button);
  fireEvent.click(button);
  await screen.findByRole("alert");
  const sent = () => asked.filter((one) => one.path === "/casts/c1/commands");
  expect(sent()).toHaveLength(1);
  expect(sent()[0]?.body).toEqual({ do: "pause", actor: "page" });
  expect(done).not.toHaveBeenCalled();
});
