// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { TurnView, Why } from "../../../api/generated";
import { useSearch } from "../../../shared/router";
import { loadedStore, serveDemo, stateAt, turnView } from "../../../testing/demo";
import { drawn, openAt, refusal, sentOf } from "../../../testing/served";
import type { PanelProps } from "../props";
import { FocusPanel } from ".";

afterEach(cleanup);

const onEvent = vi.fn();
function Page(props: Omit<PanelProps, "search" | "change" | "item">) {
  const [search, change] = useSearch();
  return <FocusPanel {...props} search={search} change={change} item={search.get("item")} />;
}
async function opened(seq: number, search: string, more: Record<string, unknown> = {}, socket = "Socket-2") {
  onEvent.mockClear();
  openAt(`/casts/demo${search}`);
  const asked = serveDemo(seq, more);
  const store = await loadedStore();
  const state = stateAt(seq);
  const target = { castId: "demo", project: "p" };
  const live = { lines: ["one", "two"], dropped: 3, chars: 4000 };
  drawn(<Page {...{ store, state, target, socket, live, onEvent }} past={false} now={0} />);
  await screen.findByTestId("panel");
  return asked;
}
const searched = (name: string) => new URLSearchParams(location.search).get(name);

test("a prompt is shown by its layers, which are all of it", async () => {
  await opened(80, "?turn=44&tab=input");
  const layers = await screen.findByTestId("prompt-layers");
  const { prompt, layers: parts } = turnView(44);
  const texts = [...layers.querySelectorAll("pre")].map((one) => one.textContent);
  expect(texts.join("")).toBe(prompt);
  expect(
    within(layers)
      .getAllByRole("strong")
      .map((one) => one.textContent),
  ).toEqual(parts.map((one) => one.name));
  fireEvent.click(screen.getByRole("button", { name: "Raw" }));
  expect(screen.getByTestId("prompt-raw").textContent).toBe(prompt);
});

test("the reason for which work was sent back stands out in the prompt", async () => {
  await opened(80, "?turn=44&tab=input");
  const marks = await screen.findAllByTestId("reason-mark");
  for (const mark of marks) expect(mark.textContent).toMatch(/^sh greet.sh --french Ada prints/);
});

test("a prompt is compared with that of the visit before", async () => {
  await opened(80, "?turn=44&tab=input");
  fireEvent.click(await screen.findByRole("button", { name: "Diff" }));
  await screen.findByText(/Against visit 2/);
  await waitFor(() => expect(document.querySelectorAll("ins").length).toBeGreaterThan(0));
});

test("an output is parsed where it is JSON, and raw where somebody wants that", async () => {
  const view: TurnView = { ...turnView(50), output: '{"satisfied":true}', parsed: { satisfied: true } };
  await opened(80, "?turn=50&tab=output", { "/casts/demo/turns/50": view }, "Socket-3");
  await waitFor(() => expect(screen.getByTestId("output-text").textContent).toBe('{\n  "satisfied": true\n}'));
  fireEvent.click(screen.getByRole("button", { name: "Raw" }));
  expect(screen.getByTestId("output-text").textContent).toBe('{"satisfied":true}');
  expect(searched("show")).toBe("raw");
});

test("what a turn puts out now is shown, and how much of it is not", async () => {
  await opened(44, "?tab=now");
  expect(screen.getByTestId("live-output").textContent).toBe("one\ntwo");
  expect(screen.getByTestId("truncated").textContent).toContain("the first 3 lines are not shown here");
});

test("turns are walked one by one, and all of them are in the history", async () => {
  await opened(80, "?turn=44");
  fireEvent.click(screen.getByRole("button", { name: "Previous turn" }));
  expect(searched("turn")).toBe("31");
  fireEvent.click(screen.getByRole("tab", { name: /^History/ }));
  const visits = screen.getAllByRole("row").slice(1);
  expect(visits.map((row) => row.querySelector("button")?.textContent)).toEqual(["4", "3", "2", "1"]);
  fireEvent.click(screen.getByRole("button", { name: "1" }));
  expect(searched("turn")).toBe("12");
  expect(screen.getByRole("button", { name: "Previous turn" })).toHaveProperty("disabled", true);
});

test("files are chosen by name; one that cannot be read says so", async () => {
  const artifacts = ["a.diff", "b.txt"].map((path) => ({ path, bytes: 20 }));
  await opened(80, "?turn=44&tab=files", {
    "/casts/demo/turns/44": { ...turnView(44), artifacts },
    "/casts/demo/files/a.diff": () => new Response("@@ -1 +1 @@\n-old\n+new\n"),
    "/casts/demo/files/b.txt": refusal(404, "resolution", "The file is gone."),
  });
  await screen.findByTestId("diff");
  fireEvent.click(screen.getByRole("button", { name: /b.txt/ }));
  expect((await screen.findByRole("alert")).textContent).toBe("The file is gone.");
});

test("a socket that has not run says why, and is started by hand after a question", async () => {
  const why: Why = {
    node: "Socket-4",
    ran: false,
    visits: 0,
    because: [],
    runnable: false,
    sentence: "`Socket-4` has not run: no input waits.",
    conditions: [{ name: "input", holds: false, text: "no input waits (event 3)", events: [3] }],
  };
  const commands = { "/casts/demo/commands": { events: [5] } };
  const asked = await opened(4, "?tab=why", { "/casts/demo/nodes/Socket-4/why": why, ...commands }, "Socket-4");
  expect((await screen.findByTestId("why-sentence")).textContent).toBe("Checkpoint has not run: no input waits.");
  expect(screen.getByText(/No, 1 of 1 conditions do not hold/)).toBeDefined();
  fireEvent.click(screen.getAllByTestId("event-link-3")[0] as HTMLElement);
  expect(onEvent).toHaveBeenCalledWith(3);
  fireEvent.click(screen.getByRole("button", { name: "Start a turn by hand" }));
  fireEvent.change(screen.getByRole("textbox"), { target: { value: "Go" } });
  fireEvent.click(screen.getByRole("button", { name: "Start the turn" }));
  await waitFor(() => expect(sentOf(asked)).toHaveLength(1));
  expect(sentOf(asked)[0]?.body).toEqual({ do: "trigger", node: "Socket-4", message: "Go", actor: "page" });
});
