// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { Tried, TrustItem, TryBody } from "../../api/generated";
import { type Asked, drawn, openAt, refusal, sentOf, serve } from "../../testing/served";
import { TryIt } from "./TryIt";

afterEach(cleanup);

const tried: Tried = { exitCode: 0, stdout: "checked", stderr: "", output: null, durationMs: 120 };
const question: TrustItem = { project: "p", hash: "h1", text: "", runs: ["sh check.sh"], question: null };
const asks = ({ body }: Asked) =>
  (body as TryBody).consent === "h1" ? tried : refusal(403, "trust_required", "Approve it.", { questions: [question] });
function opened(answer: unknown, saved = true) {
  openAt("/materia/Checkpoint");
  const asked = serve({ "/utilities/try": answer });
  drawn(<TryIt project="p" materia="Checkpoint" saved={saved} />);
  return asked;
}
const button = (name: string) => screen.getByRole("button", { name });
const input = () => screen.getByRole("textbox", { name: "Test input" });

test("what would run is shown first, and runs once after consent", async () => {
  const asked = opened(asks);
  fireEvent.change(input(), { target: { value: '{"a":1}' } });
  fireEvent.click(button("Try it"));
  const consent = within(await screen.findByTestId("try-consent"));
  expect(consent.getByText("sh check.sh")).toBeDefined();
  fireEvent.click(consent.getByRole("button", { name: "Run it once" }));
  const result = await screen.findByTestId("tried");
  expect(result.textContent).toContain("Ended with 0");
  expect(result.textContent).toContain("checked");
  const sent = { project: "p", materia: "Checkpoint", input: { a: 1 } };
  expect(sentOf(asked).map(({ body }) => body)).toEqual([
    { ...sent, consent: null },
    { ...sent, consent: "h1" },
  ]);
  expect(screen.queryByTestId("try-consent")).toBeNull();
});

test("without consent nothing runs", async () => {
  const asked = opened(asks);
  fireEvent.click(button("Try it"));
  fireEvent.click(await screen.findByRole("button", { name: "Do not run it" }));
  expect(screen.queryByTestId("try-consent")).toBeNull();
  expect(sentOf(asked)).toHaveLength(1);
});

test("it can be tried only when it is saved and its input is JSON", () => {
  opened(asks, false);
  expect(button("Try it: save first")).toHaveProperty("disabled", true);
  cleanup();
  opened(asks);
  fireEvent.change(input(), { target: { value: "{" } });
  expect(button("Try it: the input is not valid JSON")).toHaveProperty("disabled", true);
});

test("what the server refuses, and what the program failed with, is said", async () => {
  opened(refusal(409, "busy", "It runs already."));
  fireEvent.click(button("Try it"));
  expect((await screen.findByRole("alert")).textContent).toBe("It runs already.");
  cleanup();
  opened({ ...tried, exitCode: null, error: "it took too long", stderr: "no answer" });
  fireEvent.click(button("Try it"));
  expect((await screen.findByTestId("tried")).textContent).toMatch(/it took too long.*no answer/);
});
