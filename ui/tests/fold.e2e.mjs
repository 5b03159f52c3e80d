// The page's fold against the program: the state at every event of casts from the conformance cases is the server's.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { folded, isSame, page } from "./fold.mjs";
import { skip, startStage } from "./stage.mjs";

const cases = fileURLToPath(new URL("../../conformance", import.meta.url));
const FOLDERS = ["delivery", "execution", "failures", "loops", "modes", "people", "scheduling"];
/** One of so many cases is taken; the others differ in what the page does not fold. */
const EVERY = 5;

/** Cases that one script answers from the beginning to the end. */
function plainCases() {
  const all = FOLDERS.flatMap((folder) =>
    readdirSync(join(cases, folder))
      .sort()
      .map((file) => ({ file: `${folder}/${file}`, ...JSON.parse(readFileSync(join(cases, folder, file), "utf8")) })),
  );
  const plain = all.filter(
    ({ config, script, args, files, git, input }) =>
      config && script && args[0] === "cast" && args.includes("--cast-id") && !files && !git && !input,
  );
  return plain.filter((_, place) => place % EVERY === 0);
}

let stage;
before(async () => {
  if (!skip) stage = await startStage([]);
});
after(() => stage?.stop());

test("the state at every event of conformance casts is what the program says", {
  skip,
  timeout: 600_000,
}, async (t) => {
  let [casts, events] = [0, 0];
  for (const [place, { file, config, script, args }] of plainCases().entries()) {
    const id = `case-${place}`;
    stage.write(JSON.stringify({ artifactDir: ".materia", ...config }));
    const words = [...args];
    words[words.indexOf("--cast-id") + 1] = id;
    const name = join(stage.project, "..", `${id}.json`);
    stage.writeScript(name, script);
    stage.cli(words[0], "--script", name, "--virtual-time", "--trust", "--no-input", ...words.slice(1));
    // A case may be about a cast that never begins.
    if ((await stage.ask(`/casts/${id}`)).status !== 200) continue;
    const log = await stage.events(id);
    let state = page.emptyState(id);
    for (const event of log) {
      state = page.fold(state, [event]);
      const view = await stage.view(id, event.seq);
      assert.equal(view.at, event.seq, file);
      try {
        isSame(state, view);
      } catch (error) {
        error.message = `${file}, after ${event.type}: ${error.message}`;
        throw error;
      }
    }
    assert.deepEqual(state, folded(id, log), file);
    casts += 1;
    events += log.length;
  }
  t.diagnostic(`${casts} casts, ${events} events`);
  assert.ok(casts > 40, `${casts} casts`);
});
