// @vitest-environment happy-dom
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { CastView, EventLine, Grid } from "../../api/generated";
import { fold } from "../../fold/fold";
import { emptyState } from "../../fold/state";
import { CastStore } from "../../shared/cast-store";
import { drawn, serve } from "../../testing/served";
import { CostTab } from "./Cost";
import { Outline } from "./Outline";
import { WhyTab } from "./panel/Why";
import { StateTab } from "./StateTab";
import { cardsOf, linesOfState, regionsOf } from "./views";

const file = join(import.meta.dirname, "../../testing/demo.json");
const demo = JSON.parse(readFileSync(file, "utf8")) as { report: CastView; graph: Grid; events: EventLine[] };
const at = (seq: number) => fold(emptyState("demo"), demo.events.slice(0, seq));
let store: CastStore;
beforeEach(async () => {
  serve({
    "/casts/demo": { ...demo.report, lastSeq: demo.events.length, project: "p" },
    "/casts/demo/events": { items: demo.events, next: null },
    "/casts/demo/nodes/Socket-2/why": {
      node: "Socket-2",
      ran: true,
      visits: 4,
      sentence: "`Build` ran because `Checkpoint` completed (event 30).",
      because: [],
      runnable: false,
      conditions: [{ name: "input", holds: false, text: "an input waits", events: [30] }],
    },
  });
  store = new CastStore("demo", "p");
  await store.load();
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("the outline lists sockets and lines, and chooses them", () => {
  const state = at(44);
  const [onSelect, onLine] = [vi.fn(), vi.fn()];
  drawn(
    <Outline
      grid={demo.graph}
      cards={cardsOf(state, demo.graph, {}, 0, true)}
      lines={linesOfState(state, demo.graph, null)}
      regions={regionsOf(state, demo.graph, null)}
      selected="Socket-2"
      onSelect={onSelect}
      onLine={onLine}
    />,
  );
  const chosen = screen.getByRole("button", { pressed: true });
  expect(chosen.textContent).toMatch(/Build.*Running.*Greet in French/);
  fireEvent.click(screen.getByRole("button", { name: /Auto-Eval.*Socket-3/ }));
  expect(onSelect).toHaveBeenCalledWith("Socket-3");
  fireEvent.click(screen.getByRole("button", { name: /not satisfied.*back to Build|back to Build.*1 of 3/ }));
  expect(onLine).toHaveBeenCalledWith("Socket-3->Socket-2");
  expect(screen.getByText(/item 2 of 3/)).toBeDefined();
});

test("costs by socket and item add up to those of the cast", () => {
  const state = at(demo.events.length);
  drawn(<CostTab state={state} />);
  const value = (name: string) => Number(screen.getByTestId(name).dataset.value);
  expect(value("cost-tokens")).toBe(demo.report.usage.tokens);
  expect(value("cost-total")).toBeCloseTo(demo.report.usage.cost ?? 0, 9);
});

test("variables are shown with the event that changed them last", () => {
  const state = at(demo.events.length);
  const change = vi.fn();
  const props = { store, state, past: false, now: 0, change, onSelect: vi.fn(), search: new URLSearchParams() };
  drawn(<StateTab {...props} target={{ castId: "demo", project: "p" }} />);
  for (const name of Object.keys(state.variables)) expect(screen.getByTestId("state").textContent).toContain(name);
});

test("why is the server's sentence, with links to its events", async () => {
  const state = at(demo.events.length);
  const turn = state.turns.find((one) => one.seq === 44);
  const onEvent = vi.fn();
  const props = {
    store,
    state,
    past: false,
    socket: "Socket-2",
    live: undefined,
    item: null,
    search: new URLSearchParams(),
    change: vi.fn(),
    now: 0,
  };
  drawn(<WhyTab {...props} newest={false} turn={turn} onEvent={onEvent} target={{ castId: "demo", project: "p" }} />);
  await waitFor(() => expect(screen.getByTestId("why-sentence").textContent).toMatch(/Checkpoint completed/));
  // The line of the rework is told from the events that the page holds.
  expect(screen.getByTestId("arrivals").textContent).toMatch(/Auto-Eval, not satisfied: 1 of 3 traversals/);
});
