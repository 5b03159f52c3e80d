// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { CastState } from "../../fold";
import { serveDemo, stateAt } from "../../testing/demo";
import { type Asked, drawn, openAt, refusal, sentOf } from "../../testing/served";
import { Acts } from "./Acts";
import { BudgetAct } from "./BudgetAct";

const target = { castId: "demo", project: "p" };
let asked: Asked[];
const onDone = vi.fn();
beforeEach(() => {
  onDone.mockClear();
  openAt("/casts/demo");
  asked = serveDemo(44, { "/casts/demo/commands": { events: [81, 82] } });
});
afterEach(cleanup);

const acts = (state: CastState, past = false) =>
  drawn(<Acts state={state} past={past} target={target} socket="Socket-2" onDone={onDone} />);
const bodies = () => sentOf(asked).map(({ body }) => body);
const press = (name: string | RegExp) => fireEvent.click(screen.getByRole("button", { name }));

test("a cast that runs is paused at once, with its command in the title", async () => {
  acts(stateAt(44));
  await waitFor(() => expect(screen.getByTestId("pause").title).toBe("materia -C /home/ada/greet pause demo"));
  press("Pause");
  await waitFor(() => expect(onDone).toHaveBeenCalledWith({ events: [81, 82] }, { do: "pause" }));
  expect(bodies()).toEqual([{ do: "pause", actor: "page" }]);
});

test("a cast is stopped only after its name was confirmed", async () => {
  acts(stateAt(44));
  press("Stop");
  expect(screen.getByText(/The cast ends and cannot be resumed/)).toBeDefined();
  press("Cancel");
  expect(screen.queryByText(/cannot be resumed/)).toBeNull();
  press("Stop");
  press("Stop this cast");
  await waitFor(() => expect(onDone).toHaveBeenCalledOnce());
  expect(bodies()).toEqual([{ do: "abort", actor: "page" }]);
});

test("text is sent to the socket in focus, and a draft of it stays until then", async () => {
  acts(stateAt(44));
  press("Guide");
  const send = () => screen.getByRole("button", { name: "Send" });
  expect(send()).toHaveProperty("disabled", true);
  fireEvent.change(screen.getByRole("textbox", { name: "Text for the socket" }), { target: { value: "Say Salut" } });
  cleanup();
  acts(stateAt(44));
  press("Guide");
  expect(screen.getByRole("textbox", { name: "Text for the socket" })).toHaveProperty("value", "Say Salut");
  fireEvent.click(send());
  await waitFor(() => expect(onDone).toHaveBeenCalledOnce());
  expect(bodies()).toEqual([{ do: "say", node: "Socket-2", text: "Say Salut", actor: "page" }]);
  expect(sessionStorage.getItem("materia.draft.demo")).toBe("");
});

test("a fork of the past is told something before it goes on", async () => {
  const answers = { "/casts/demo/commands": { events: [1], castId: "fork" }, "/casts/fork/commands": { events: [2] } };
  asked = serveDemo(80, answers);
  acts(stateAt(44), true);
  expect(screen.getByText("Read only")).toBeDefined();
  press("Fork at 44");
  fireEvent.change(screen.getByRole("textbox", { name: "Text for the fork" }), { target: { value: "Use getopts" } });
  press("Fork at event 44");
  await waitFor(() => expect(onDone).toHaveBeenCalledOnce());
  expect(sentOf(asked).map(({ path, body }) => [path, body])).toEqual([
    ["/casts/demo/commands", { do: "fork", at: 44, interactive: true }],
    ["/casts/fork/commands", { do: "say", node: "Socket-2", text: "Use getopts", actor: "page" }],
    ["/casts/fork/commands", { do: "resume", actor: "page" }],
  ]);
});

test("a fork that could not be told stays, and can be opened", async () => {
  const answers = {
    "/casts/demo/commands": { events: [1], castId: "fork" },
    "/casts/fork/commands": refusal(409, "busy", "It cannot be told now."),
  };
  serveDemo(80, answers);
  acts(stateAt(44), true);
  press("Fork at 44");
  fireEvent.change(screen.getByRole("textbox", { name: "Text for the fork" }), { target: { value: "Use getopts" } });
  press("Fork at event 44");
  const sheet = within(await screen.findByRole("group", { name: "The fork" }));
  expect(sheet.getByRole("alert").textContent).toBe("It cannot be told now.");
  expect(onDone).not.toHaveBeenCalled();
  fireEvent.click(sheet.getByRole("button", { name: "Go to it" }));
  expect(onDone.mock.calls[0]?.[0]).toEqual({ castId: "fork" });
});

test("the pace is changed after a question; what is refused stays to be read", async () => {
  asked = serveDemo(44, { "/casts/demo/commands": refusal(409, "over", "The cast is over.") });
  acts(stateAt(44));
  press("Interactive");
  expect(screen.getByRole("heading", { name: "Start turns only by hand" })).toBeDefined();
  press("Change it");
  expect((await screen.findByRole("alert")).textContent).toBe("The cast is over.");
  expect(bodies()).toEqual([{ do: "mode", value: "INTERACTIVE", actor: "page" }]);
  expect(onDone).not.toHaveBeenCalled();
});

test("a cast that failed is tried again; one that is complete can only be forked", () => {
  const failed: CastState = { ...stateAt(44), status: "failed", error: { code: "provider_failed", message: "gone" } };
  acts(failed);
  expect(screen.getByRole("button", { name: "Try again" }).title).toContain("recast demo");
  expect(screen.queryByRole("button", { name: "Pause" })).toBeNull();
  cleanup();
  acts({ ...failed, error: { code: "edge_exhausted", message: "three times" } });
  expect(screen.getByRole("button", { name: "Revive" })).toBeDefined();
  cleanup();
  acts(stateAt(80));
  expect(screen.getAllByRole("button").map((one) => one.textContent)).toEqual(["Fork"]);
});

test("a budget takes numbers only; what is left empty does not change", async () => {
  drawn(<BudgetAct state={stateAt(44)} target={target} onDone={onDone} />);
  press("Change the budget");
  const confirm = () => screen.getByTestId("budget-act-confirm");
  expect(confirm()).toHaveProperty("disabled", true);
  fireEvent.change(screen.getByLabelText("Turns"), { target: { value: "2o0" } });
  fireEvent.click(confirm());
  await waitFor(() => expect(onDone).toHaveBeenCalledOnce());
  expect(bodies()).toEqual([{ do: "budget", budget: { maxTurns: 20, maxCost: null, maxTokens: null }, actor: "page" }]);
});
