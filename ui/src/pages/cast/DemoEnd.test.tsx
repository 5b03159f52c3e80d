// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { isDemo, keepDemo } from "../../shared/demo";
import { project, stateAt } from "../../testing/demo";
import { drawn, openAt, sentOf, serve } from "../../testing/served";
import { DemoEnd } from "./DemoEnd";
import { Lines } from "./Lines";

afterEach(cleanup);

function opened(seq: number) {
  openAt("/casts/demo");
  keepDemo("demo");
  const asked = serve({
    "/projects": { items: [project] },
    "/casts/demo/commands": { events: [], castId: "fork" },
  });
  drawn(<DemoEnd state={stateAt(seq)} target={{ castId: "demo", project: "p" }} />);
  return asked;
}

test("while the demo runs nothing is offered, and a cast that is no demo offers nothing", () => {
  opened(44);
  expect(screen.queryByTestId("demo-end")).toBeNull();
  cleanup();
  opened(80);
  expect(screen.getByTestId("demo-end")).toBeDefined();
  cleanup();
  keepDemo("another");
  drawn(<DemoEnd state={stateAt(80)} target={{ castId: "demo", project: "p" }} />);
  expect(screen.queryByTestId("demo-end")).toBeNull();
});

test("the demo is forked where its work was sent back, and the fork opens", async () => {
  const asked = opened(80);
  fireEvent.click(screen.getByRole("button", { name: "Fork from the rework" }));
  fireEvent.click(screen.getByTestId("demo-fork-confirm"));
  await waitFor(() => expect(location.pathname).toBe("/casts/fork"));
  expect(sentOf(asked).map(({ body }) => body)).toEqual([{ do: "fork", at: 40 }]);
});

test("it says how one's own repository is served, and stays away once it was closed", () => {
  opened(80);
  fireEvent.click(screen.getByRole("button", { name: "Run it on my repository" }));
  expect(screen.getAllByTestId("cli").map((one) => one.textContent)).toEqual(["$materia init", "$materia ui"]);
  fireEvent.click(screen.getByRole("button", { name: "Close" }));
  expect(screen.queryByTestId("demo-end")).toBeNull();
  expect(isDemo("demo")).toBe(false);
});

test("what only a terminal does has its commands, with the project", async () => {
  openAt("/casts/demo");
  serve({ "/projects": { items: [project] } });
  drawn(<Lines castId="demo" />);
  fireEvent.click(screen.getByRole("button", { name: "In a terminal" }));
  await waitFor(() =>
    expect(screen.getAllByTestId("cli")[0]?.textContent).toBe("$materia -C /home/ada/greet export demo -o demo.html"),
  );
});
