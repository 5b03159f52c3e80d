// The page's fold, held against what the program says of a cast.
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, ".cache");
await build({
  root,
  configFile: false,
  logLevel: "silent",
  build: {
    outDir: folder,
    emptyOutDir: false,
    minify: false,
    lib: { entry: join(root, "src/fold/index.ts"), formats: ["es"], fileName: `fold-${process.pid}` },
  },
});
export const page = await import(join(folder, `fold-${process.pid}.js`));

/** The state that the page folds from these events. */
export const folded = (id, events) => page.fold(page.emptyState(id), events);

/** A state of the page is what the program says of the cast as of the same event. */
export function isSame(state, view) {
  const where = `${view.castId} at ${view.at}`;
  assert.equal(state.seq, view.at, where);
  assert.equal(state.status, view.status, where);
  assert.equal(state.verdict, view.verdict ?? state.verdict, where);
  assert.deepEqual(state.variables, view.state, where);
  assert.deepEqual(state.waiting ?? null, view.waiting ?? null, where);
  assert.deepEqual(state.error ?? null, view.error ?? null, where);
  assert.equal(state.pace, view.pace, where);
  assert.equal(state.globalMode, view.globalMode, where);
  assert.equal(state.usage.turns, view.usage.turns, where);
  assert.equal(state.usage.tokens, view.usage.tokens, where);
  assert.ok(Math.abs((state.usage.cost ?? 0) - (view.usage.cost ?? 0)) < 1e-9, where);
  const asked = ({ socket, hash, denied }) => [socket, hash, denied];
  assert.deepEqual(Object.values(state.questions).map(asked), (view.questions ?? []).map(asked), where);
  for (const one of view.sockets) {
    const at = `${where}, ${one.socket}`;
    assert.equal(page.socketState(state, one.socket), one.state, at);
    assert.equal(state.visits[one.socket] ?? 0, one.visits, at);
    assert.equal(state.completed[one.socket] ?? 0, one.completed, at);
    assert.equal(page.waitsAt(state, one.socket), one.waits, `${at}: what waits`);
    assert.deepEqual(state.open[one.socket] ?? [], one.turns ?? [], at);
  }
  for (const loop of view.loops)
    if (loop.entry > 0) {
      const { entry, index, total } = state.loops[loop.id] ?? {};
      assert.deepEqual([entry, index, total], [loop.entry, loop.index, loop.total], `${where}, ${loop.id}`);
    }
  if (state.turnsFrom > 1) return;
  const short = ({ socket, visit, attempt, item, outcome, satisfied, reason }) => {
    return {
      socket,
      visit,
      attempt,
      item: item ?? null,
      outcome,
      satisfied: satisfied ?? null,
      reason: reason ?? null,
    };
  };
  assert.deepEqual(state.turns.map(short), view.visits.map(short), where);
}

/** The page shows this state: its event, and where each socket that is drawn stands. */
export async function shows(browsed, state) {
  await browsed.locator(`[data-testid="cast-page"][data-seq="${state.seq}"]`).waitFor();
  for (const socket of Object.keys(state.plan.nodes)) {
    const card = browsed.locator(`[data-testid="card-${socket}"][data-state="${page.shownState(state, socket)}"]`);
    await card.waitFor({ timeout: 10_000 });
  }
}
