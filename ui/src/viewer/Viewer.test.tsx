// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { answerFrom } from "../api/client";
import { setExported } from "../shared/exported";
import { demo, turnView, viewAt } from "../testing/demo";
import { drawn, openAt, serve } from "../testing/served";
import { type Exported, sourceOf } from "./source";
import { Broken, Viewer } from "./Viewer";

const turns = demo.events.flatMap((event) => (event.type === "turn.started" ? [event.seq] : []));
const file: Exported = {
  version: 1,
  cast: viewAt(80),
  events: demo.events,
  whys: {},
  files: [],
  stateHash: "ab".repeat(32),
  turns: Object.fromEntries(turns.map((seq) => [seq, turnView(seq)])),
  cost: { usage: demo.report.usage, budget: {}, bySocket: [], byItem: [] },
  writtenBy: "materia 0.1.0",
};

beforeAll(setExported);
afterEach(cleanup);

async function opened(part: Partial<Exported> = {}) {
  openAt("/");
  const asked = serve({});
  const shown = { ...file, ...part };
  answerFrom(sourceOf(shown));
  drawn(<Viewer file={shown} />);
  await screen.findByTestId("cast-page");
  return asked;
}

test("a file says what it is, and shows its cast without asking anybody", async () => {
  const asked = await opened();
  expect(screen.getByTestId("file-line").textContent).toMatch(
    /^An exported file, read only: 80 events, the last at .*, written by materia 0\.1\.0\. It asks nothing/,
  );
  expect(screen.getByTestId("cast-state").textContent).toBe("Done");
  expect(screen.getByTestId("state-hash").textContent).toBe("abababababab");
  expect(asked).toEqual([]);
});

test("nothing can be done to its cast, and it leads to no other page", async () => {
  await opened();
  for (const name of ["Pause", "Fork", "Stop", "Change the budget"])
    expect(screen.queryByRole("button", { name })).toBeNull();
  expect(screen.queryByRole("link")).toBeNull();
});

test("events are walked as on the page, and the place is kept behind the hash", async () => {
  await opened();
  fireEvent.click(screen.getByRole("button", { name: "Previous event" }));
  await waitFor(() => expect(screen.getByTestId("where").textContent).toBe("Viewing event 79 of 80"));
  expect(location.hash).toBe("#?at=79");
});

test("an archive of somebody else says whether it verifies", async () => {
  await opened({ archive: { file: "old.tar", redacted: false, fault: "event 7 has another hash" } });
  expect(screen.getByTestId("file-line").textContent).toContain(
    "A foreign archive, old.tar, read only, does not verify (event 7 has another hash)",
  );
});

test("its theme is changed by a button", async () => {
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {}, removeEventListener: () => {} }));
  await opened();
  fireEvent.click(screen.getByRole("button", { name: "Dark" }));
  expect(document.documentElement.dataset.theme).toBe("dark");
  fireEvent.click(screen.getByRole("button", { name: "Light" }));
  expect(document.documentElement.dataset.theme).toBe("light");
  vi.unstubAllGlobals();
});

test("a file that is damaged says so", () => {
  drawn(<Broken reason="The file is cut off." />);
  expect(screen.getByRole("heading").textContent).toBe("This file cannot be shown");
  expect(screen.getByText("The file is cut off.")).toBeDefined();
});
