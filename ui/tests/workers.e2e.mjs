// The page with casts on NATS: which worker runs a cast, and the page of workers (M11).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "./axe.mjs";
import { byId, castIs, launch } from "./browser.mjs";
import { startCluster } from "./cluster.mjs";
import { skip } from "./stage.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

test("workers come, run casts and go, and the page says so", { skip }, async () => {
  const cluster = await startCluster();
  const { server } = cluster;
  const page = await server.page(browser, "/workers");
  await byId(page, "no-workers").getByText("No worker is there.").waitFor();
  assert.match(await byId(page, "no-workers").textContent(), /worker .*--space tests .*--trust-space tests/);
  cluster.cast("waits", "Write a changelog");
  await byId(page, "waiting-casts").getByRole("link", { name: "Write a changelog" }).waitFor();

  const worker = cluster.worker("--labels", "gpu,big", "--slots", "3");
  const row = page.locator('[data-testid^="worker-"]');
  await row.getByRole("link", { name: "Write a changelog" }).waitFor();
  await row.getByText("1 of 3").waitFor();
  const name = (await row.getAttribute("data-testid")).replace("worker-", "");
  for (const label of ["gpu", "big"]) await row.getByText(label, { exact: true }).waitFor();
  assert.match(await row.textContent(), /\d+ s ago/);
  assert.equal(await byId(page, "waiting-casts").count(), 0);
  assert.deepEqual(await violations(page), []);

  await byId(page, "nav-casts").click();
  await byId(page, "cast-waits").getByText(`on ${name}`).waitFor();
  await byId(page, "cast-waits").getByRole("link", { name: "Write a changelog" }).click();
  await byId(page, "cast-worker").getByText(name).waitFor();
  assert.deepEqual(await violations(page), []);
  // Events of the worker arrive while the page is open.
  cluster.go();
  await castIs(page, "Done");
  await byId(page, "cast-worker").waitFor({ state: "detached" });

  await byId(page, "nav-workers").click();
  await row.getByText("0 of 3").waitFor();
  await worker.stop();
  await byId(page, "no-workers").waitFor();
  assert.deepEqual(page.trouble, []);
  await page.context().close();
  await cluster.stop();
});
