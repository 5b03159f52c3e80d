// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { InboxItem } from "../../api/generated";
import { demo, project, viewAt } from "../../testing/demo";
import { type Asked, drawn, openAt, refusal, sentOf, serve } from "../../testing/served";
import { Inbox } from ".";

afterEach(cleanup);

const item = (castId: string, reason: string, part: Partial<InboxItem> = {}): InboxItem => ({
  project: "p",
  castId,
  loadout: "Demo",
  request: `Request of ${castId}`,
  reason,
  message: `${castId} waits`,
  node: "Socket-2",
  since: "2026-11-15T12:00:00Z",
  next: [],
  ...part,
});
const approval = {
  hash: "abcdef0123456789",
  runs: "runs git",
  argv: ["git", "push"],
  inputs: [],
  writes: "the project",
  routes: false,
};
/** What the server answers about the casts that wait. */
const about = (castId: string) => ({
  [`/casts/${castId}`]: viewAt(44, { castId }),
  [`/casts/${castId}/events`]: { items: [], next: null },
  [`/casts/${castId}/nodes/Socket-2/given`]: { prompt: "Push it", layers: [], payloads: [] },
  [`/casts/${castId}/commands`]: { events: [9] },
});
function opened(items: InboxItem[] | ((asked: Asked) => unknown), search = "", more: Record<string, unknown> = {}) {
  openAt(`/inbox${search}`);
  const asked = serve({
    "/projects": { items: [project] },
    "/inbox": Array.isArray(items) ? { items } : items,
    "/trust": { items: [] },
    ...about("c1"),
    ...about("c2"),
    ...more,
  });
  drawn(<Inbox />);
  return asked;
}
const current = () => screen.getAllByRole("article").find((one) => one.getAttribute("aria-current") === "true");

test("an empty inbox says that nothing waits", async () => {
  opened([]);
  expect(screen.getByText("Nothing waits for you.")).toBeDefined();
  expect(screen.queryByRole("article")).toBeNull();
});

test("what waits is listed by its risk, with the names that people gave to sockets", async () => {
  opened([item("c1", "budget"), item("c2", "approval", { approval })]);
  await screen.findByText("2 casts wait for you. The riskiest is first.");
  const list = within(screen.getByRole("region", { name: "Waiting casts" }));
  await waitFor(() =>
    expect(list.getAllByRole("button").map((one) => one.textContent)).toEqual([
      expect.stringMatching(/^Approval: Build.*Request of c2$/),
      expect.stringMatching(/^Budget: Build.*Request of c1$/),
    ]),
  );
  expect(screen.getByRole("article", { name: "Build asks before it runs" })).toBeDefined();
});

test("keys go from card to card, and approve the one that is marked", async () => {
  const asked = opened([item("c1", "approval", { approval }), item("c2", "approval", { approval })]);
  await waitFor(() => expect(current()?.dataset.testid).toBe("inbox-c1"));
  fireEvent.keyDown(document.body, { key: "j" });
  await waitFor(() => expect(current()?.dataset.testid).toBe("inbox-c2"));
  fireEvent.keyDown(document.body, { key: "y" });
  await screen.findByText("Approved: Socket-2");
  expect(sentOf(asked).map(({ path, body }) => [path, body])).toEqual([
    ["/casts/c2/commands", { do: "approve", node: "Socket-2", hash: approval.hash, actor: "page" }],
  ]);
});

test("letters in the field of a reason approve nothing, and the reason is sent with the denial", async () => {
  const asked = opened([item("c1", "approval", { approval })]);
  const field = await screen.findByTestId("deny-reason");
  fireEvent.keyDown(field, { key: "y" });
  expect(sentOf(asked)).toEqual([]);
  fireEvent.change(field, { target: { value: "Not on Friday" } });
  fireEvent.click(screen.getByTestId("deny"));
  await waitFor(() => expect(sentOf(asked)).toHaveLength(1));
  expect(sentOf(asked)[0]?.body).toMatchObject({ do: "deny", reason: "Not on Friday" });
});

test("what was answered elsewhere stays as a note without buttons", async () => {
  let items = [item("c1", "approval", { approval })];
  opened(() => ({ items }));
  await screen.findByTestId("inbox-c1");
  items = [];
  const { refreshInbox } = await import("../../shared/live");
  await refreshInbox();
  const gone = await screen.findByTestId("gone-c1");
  expect(gone.textContent).toContain("Answered elsewhere");
  expect(within(gone).queryByRole("button")).toBeNull();
});

test("a question shows what was said, keeps the answer while it is written, and sends it", async () => {
  const events = demo.events.filter((event) => event.seq === 45);
  const more = {
    "/casts/c1/events": ({ search }: Asked) => ({
      items: search.get("type") === "turn.completed" ? events : [],
      next: null,
    }),
  };
  const asked = opened([item("c1", "multi_turn")], "", more);
  await screen.findByText(/The option is taken off before the name/);
  const answer = screen.getByRole("textbox", { name: "Your answer" });
  expect(screen.getByTestId("say")).toHaveProperty("disabled", true);
  fireEvent.change(answer, { target: { value: "Yes" } });
  expect(sessionStorage.getItem("materia.answer.c1")).toBe("Yes");
  fireEvent.click(screen.getByTestId("say"));
  await screen.findByText("Answered: Socket-2");
  expect(sentOf(asked)[0]?.body).toEqual({ do: "say", node: "Socket-2", text: "Yes", actor: "page" });
  expect(answer).toHaveProperty("value", "");
});

test("a stall has the two outputs that are the same, and can be told what to do", async () => {
  const [first, second] = [31, 44].map((turn) =>
    demo.events.find((one) => one.type === "turn.completed" && one.data.turn === turn),
  );
  const changed = {
    ...demo.events[0],
    type: "mode.changed",
    data: { value: "INTERACTIVE", reason: "stall", evidence: [31, 44] },
  };
  const same = [first, second].map((event) => ({ ...event, data: { ...event?.data, output: "again" } }));
  const more = {
    "/casts/c1/events": ({ search }: Asked) => ({
      items: search.get("type") === "turn" ? same : search.get("type") === "mode.changed" ? [changed] : [],
      next: null,
    }),
  };
  const asked = opened([item("c1", "stall")], "", more);
  await waitFor(() => expect(screen.getAllByText("= the same")).toHaveLength(2));
  expect(within(screen.getByTestId("evidence")).getAllByText("again")).toHaveLength(2);
  fireEvent.change(screen.getByRole("textbox"), { target: { value: "Fix the fixture" } });
  fireEvent.click(screen.getByRole("button", { name: "Tell it" }));
  await screen.findByText("Told: Socket-2");
  expect(sentOf(asked)[0]?.body).toEqual({ do: "say", node: "Socket-2", text: "Fix the fixture", actor: "page" });
});

test("files that differ are kept or put back; whoever came from the cast goes back to it", async () => {
  const asked = opened([item("c1", "workspace")], "?cast=c1&back=1");
  fireEvent.click(await screen.findByRole("button", { name: "Put back" }));
  await waitFor(() => expect(location.pathname).toBe("/casts/c1"));
  expect(sentOf(asked)[0]?.body).toEqual({ do: "resume", putBack: true, actor: "page" });
});

test("a refused act says why and leaves the card", async () => {
  opened([item("c1", "workspace")], "", { "/casts/c1/commands": refusal(409, "over", "The cast is over.") });
  fireEvent.click(await screen.findByRole("button", { name: "Put back" }));
  expect((await screen.findByRole("alert")).textContent).toBe("The cast is over.");
  expect(screen.getByTestId("inbox-c1")).toBeDefined();
});
