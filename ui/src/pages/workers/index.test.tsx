// @vitest-environment happy-dom
import { cleanup, screen, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { SpaceItem, WorkerBody } from "../../api/generated";
import { useLive } from "../../shared/live-state";
import { listed, project, summary } from "../../testing/demo";
import { drawn, openAt, refusal, serve } from "../../testing/served";
import { Workers } from ".";

afterEach(cleanup);

const worker: WorkerBody = {
  name: "ada-1",
  host: "ada",
  pid: 42,
  folder: "/srv/greet",
  version: "1.2.3",
  rules: 1,
  slots: 2,
  labels: ["gpu"],
  runs: ["c1"],
  seenAt: new Date().toISOString(),
};
const space = (part: Partial<SpaceItem>): SpaceItem => ({
  project: "p",
  space: "team",
  start: ["materia", "work"],
  workers: [],
  waiting: [],
  ...part,
});
function opened(answer: unknown) {
  openAt("/workers");
  serve({ "/projects": { items: [project] }, "/workers": answer });
  drawn(<Workers />);
}

test("a worker has what it runs, where it is, and its labels", async () => {
  opened({ items: [space({ workers: [worker] })] });
  useLive.setState({ casts: listed(summary("c1", "Greet people", { status: "running" })) });
  const row = await screen.findByTestId("worker-ada-1");
  expect(within(row).getByText("1 of 2")).toBeDefined();
  expect((await within(row).findByRole("link", { name: "Greet people" })).getAttribute("href")).toBe(
    "/casts/c1?project=p",
  );
  expect(row.textContent).toMatch(/ada process 42\/srv\/greetgpuVersion 1\.2\.3/);
});

test("a worker that ends says how much is left, and a cast that it leaves alone says why", async () => {
  const ends = { ...worker, ends: true, labels: [], leftAlone: [{ castId: "c7", why: "another version" }] };
  opened({ items: [space({ workers: [ends] })] });
  const row = await screen.findByTestId("worker-ada-1");
  expect(row.textContent).toContain("Ends, 1 left");
  expect(row.textContent).toContain("leaves c7: another version");
  expect(row.textContent).toContain("no labels");
});

test("a space without workers says how one is started, and which casts wait", async () => {
  opened({ items: [space({ waiting: ["c2", "c3"] })] });
  const region = within(await screen.findByRole("region", { name: "Space team" }));
  expect(region.getByText("No worker is there.")).toBeDefined();
  expect(region.getByTestId("cli").textContent).toContain("work");
  expect(region.getByTestId("waiting-casts").textContent).toBe("2 casts wait for a worker: c2c3");
});

test("a space that cannot be reached says so, and offers nothing", async () => {
  opened({ items: [space({ problem: "NATS does not answer." })] });
  await screen.findByText("NATS does not answer.");
  expect(screen.queryByTestId("no-workers")).toBeNull();
});

test("without spaces, and when the list is refused, the page says so", async () => {
  opened({ items: [] });
  expect(screen.getByRole("status").textContent).toBe("Reading…");
  await screen.findByText(/Only casts on NATS servers have workers/);
  cleanup();
  opened(refusal(500, "internal", "The spaces cannot be read."));
  expect((await screen.findByRole("alert")).textContent).toBe("The spaces cannot be read.");
});
