// @vitest-environment happy-dom
import { act, cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { CastStore } from "../../shared/cast-store";
import { useLive } from "../../shared/live-state";
import { serveDemo } from "../../testing/demo";
import { drawn, openAt, refusal, serve } from "../../testing/served";
import { Cast } from ".";

afterEach(cleanup);

/** The page of the demo up to an event. */
async function opened(seq: number, search = "") {
  openAt(`/casts/demo${search}`);
  const asked = serveDemo(seq);
  drawn(<Cast id="demo" />);
  await screen.findByTestId("cast-page");
  // The project is in the address once the page listens to keys.
  await waitFor(() => expect(searched("project")).toBe("p"));
  return asked;
}
const searched = (name: string) => new URLSearchParams(location.search).get(name);

test("a cast says what was asked, where it stands, and what it spent", async () => {
  await opened(80);
  expect(screen.getByRole("heading", { level: 1 }).textContent).toMatch(/^Make greet.sh greet people by name/);
  expect(screen.getByTestId("cast-state").textContent).toBe("Done");
  expect(screen.getByTestId("total-turns").dataset.value).toBe("12");
  expect(document.title).toMatch(/^Done: Make greet.sh/);
});

test("while it is read the page says so, and a cast that is not there leads back to the list", async () => {
  openAt("/casts/gone");
  serve({ "/casts/gone": refusal(404, "resolution", "There is no cast gone.") });
  drawn(<Cast id="gone" />);
  expect(screen.getByRole("status").textContent).toBe("Reading the cast…");
  expect((await screen.findByRole("alert")).textContent).toBe("There is no cast gone.");
  expect(screen.getByRole("link", { name: "All casts" }).getAttribute("href")).toContain("/casts");
});

test("as of an event the page is read only, and a key leads to the newest one", async () => {
  await opened(80, "?at=44");
  expect(screen.getByTestId("where").textContent).toBe("Viewing event 44 of 80");
  expect(screen.getByText("Read only")).toBeDefined();
  expect(screen.getByTestId("cast-sentence").textContent).toContain("As of event 44:");
  fireEvent.keyDown(document.body, { key: "l" });
  await waitFor(() => expect(screen.getByTestId("where").textContent).toBe("Event 80 of 80"));
  expect(searched("at")).toBeNull();
});

test("the keys step through events and open the tabs of the panel", async () => {
  await opened(80);
  fireEvent.keyDown(document.body, { key: "[" });
  await waitFor(() => expect(searched("at")).toBe("79"));
  await screen.findByText("Read only");
  fireEvent.keyDown(document.body, { key: "w" });
  await screen.findByTestId("panel-why");
  fireEvent.keyDown(document.body, { key: "o" });
  await screen.findByTestId("panel-output");
});

test("without a connection the page says what it shows", async () => {
  await opened(44);
  act(() => useLive.setState({ connection: { kind: "offline" } }));
  expect((await screen.findByTestId("banner-offline")).textContent).toContain("You see event 44.");
});

test("a card of the graph is chosen, and the panel shows its newest turn", async () => {
  await opened(80);
  fireEvent.click(await screen.findByTestId("card-Socket-3"));
  const panel = await screen.findByRole("complementary", { name: "Auto-Eval, visit 4" });
  await within(panel).findByText(/completed, satisfied/);
  // An address is written a moment later where many were written before.
  await waitFor(() => expect(searched("socket")).toBe("Socket-3"));
});

test("what is still read for a page ends when it is left", async () => {
  const leave = vi.spyOn(CastStore.prototype, "leave");
  await opened(44);
  expect(leave).not.toHaveBeenCalled();
  cleanup();
  expect(leave).toHaveBeenCalledOnce();
});
