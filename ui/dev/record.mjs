// Records the casts that the fixture server shows, with the real program: `node dev/record.mjs`.
// MATERIA names the binary. Everything happens in a folder of its own, in simulated time.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const binary = process.env.MATERIA ?? "materia";
const root = mkdtempSync(join(tmpdir(), "materia-record-"));
const env = {
  ...process.env,
  MATERIA_PROFILE_DIR: join(root, "profile"),
  MATERIA_STATE_DIR: join(root, "state"),
};
const project = join(root, "greet");
for (const dir of [env.MATERIA_PROFILE_DIR, env.MATERIA_STATE_DIR, project]) mkdirSync(dir, { recursive: true });

const agent = (tokens, cost) => ({ usage: { inputTokens: tokens, outputTokens: 900, cost } });
const items = [
  {
    title: "Greet by name",
    context: "greet.sh takes a name as its first argument and greets it. Without one it greets the world.",
  },
  { title: "Greet in French", context: "With --french before the name, greet.sh says Bonjour instead of Hello." },
  { title: "Write a README", context: "Show each way to call greet.sh with one line of what it prints." },
];
const reason = 'sh greet.sh --french Ada prints "Bonjour, --french!": the option must not be taken for the name.';
const diff = (line) => ({
  diff: `--- a/greet.sh\n+++ b/greet.sh\n@@ -1,4 +1,5 @@\n #!/bin/sh\n if [ "$1" = --french ]; then\n   word=Bonjour\n+${line}\n fi\n`,
});

const loopEdges = [
  { when: "satisfied", to: "Socket-4" },
  { when: "not_satisfied", to: "Socket-2", maxTraversals: 3 },
];
const demo = {
  description: "A plan, and then for each item of it: build, judge, checkpoint.",
  entry: "Socket-1",
  sockets: {
    "Socket-1": { materia: "Auto-Plan", edges: [{ to: "Socket-2" }] },
    "Socket-2": { materia: "Build", edges: [{ to: "Socket-3" }] },
    "Socket-3": { materia: "Auto-Eval", edges: loopEdges },
    "Socket-4": {
      materia: "Checkpoint",
      advance: { cursor: "workItemIndex", when: "always" },
      edges: [{ to: "Socket-2" }],
    },
  },
  loops: {
    workItems: {
      sockets: ["Socket-2", "Socket-3", "Socket-4"],
      consumes: { from: "Socket-1", output: "workItems" },
    },
  },
};
const config = {
  activeLoadout: "Demo",
  artifactDir: ".materia",
  loadouts: {
    Demo: demo,
    Consult: {
      description: "A plan that is talked over, then built.",
      entry: "plan",
      sockets: { plan: { materia: "Plan-Together", edges: [{ to: "build" }] }, build: { materia: "Build" } },
    },
    Pair: {
      description: "A coder and a verifier until it is good, then a merge that asks.",
      entry: "coder",
      sockets: {
        coder: { materia: "Build", edges: [{ to: "verifier" }] },
        verifier: {
          materia: "Auto-Eval",
          edges: [
            { when: "satisfied", to: "merge" },
            { when: "not_satisfied", to: "coder", maxTraversals: 2 },
          ],
        },
        merge: { materia: "Merge", approval: "before" },
      },
    },
    Circle: {
      entry: "coder",
      sockets: {
        coder: { materia: "Build", routing: "all", edges: [{ to: "tester" }] },
        tester: { materia: "Build", routing: "all", edges: [{ to: "coder" }] },
      },
    },
  },
  materia: {
    Checkpoint: {
      type: "utility",
      command: ["sh", "-c", 'cat >/dev/null; echo \'{"satisfied":true,"context":"Committed 9df57ea."}\''],
      parse: "json",
    },
    Merge: { type: "utility", command: ["git", "merge", "--ff-only", "greet"], parse: "text" },
    "Plan-Together": {
      generator: true,
      multiTurn: true,
      color: "#8a5cf6",
      prompt: "Plan the request with the person who asked. Each of your answers holds the whole plan.",
    },
  },
};
writeFileSync(join(project, "materia.json"), JSON.stringify(config, null, 2));

function materia(...args) {
  const done = spawnSync(binary, args, { cwd: project, env, encoding: "utf8" });
  if (![0, 1, 3].includes(done.status)) throw new Error(`${args.join(" ")}: ${done.status}\n${done.stderr}`);
  return done.stdout;
}
const lines = (text) =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

function record(id, start) {
  const events = lines(materia("events", id, "--json"));
  const sockets = Object.keys(events[0].data.plan.nodes);
  const why = Object.fromEntries(sockets.map((s) => [s, JSON.parse(materia("why", id, s, "--json"))]));
  const text = JSON.stringify(
    {
      id,
      start,
      report: JSON.parse(materia("show", id, "--json")),
      graph: JSON.parse(materia("grid", id, "--json")),
      why,
      events,
    },
    null,
    1,
  );
  // The folder of the recording is nobody's business.
  writeFileSync(
    join(here, "fixtures", `${id}.json`),
    `${text.replaceAll(project, "/home/ada/src/greet").replaceAll(root, "/home/ada")}\n`,
  );
  console.log(id, events.length, events.at(-1).type);
}
function cast(id, loadout, request, turns, extra = {}, options = []) {
  const script = join(root, `${id}.script.json`);
  writeFileSync(script, JSON.stringify({ turns, ...extra }));
  materia(
    "cast",
    "--loadout",
    loadout,
    "--script",
    script,
    "--virtual-time",
    "--trust",
    "--cast-id",
    id,
    ...options,
    request,
  );
}

const plan = { delayMs: 38000, json: { workItems: items }, ...agent(34000, 0.11) };
const build = (ms, text, tokens, line) => ({
  delayMs: ms,
  text,
  ...agent(tokens, tokens / 400000),
  ...(line ? { artifacts: diff(line) } : {}),
});
const judge = (ms, satisfied, context) => ({
  delayMs: ms,
  json: context ? { satisfied, context } : { satisfied },
  ...agent(22000, 0.06),
});
const demoTurns = {
  "Auto-Plan": [plan],
  Build: [
    build(74000, "greet.sh greets the name it is given, and the world without one.", 66080),
    build(83000, "greet.sh says Bonjour with --french.", 71460, "  lang=fr"),
    build(53000, "The option is taken off before the name is read.", 40200, "  shift"),
    build(49000, "README.md shows the three ways to call it.", 38000),
  ],
  "Auto-Eval": [judge(41000, true), judge(47000, false, reason), judge(33000, true), judge(29000, true)],
};
const request = "Make greet.sh greet people by name, also in French, and describe it.";
const budget = ["--max-turns", "40", "--max-tokens", "600000", "--max-cost", "3"];

rmSync(join(here, "fixtures"), { recursive: true, force: true });
mkdirSync(join(here, "fixtures"), { recursive: true });
cast("20261115T124651-09a44c", "Demo", request, demoTurns, {}, budget);
record("20261115T124651-09a44c", "2026-11-15T12:46:51Z");

// The same cast, forked before the work on the second item; the judge is content at once.
const forked = {
  ...demoTurns,
  Build: [
    demoTurns.Build[0],
    build(61000, "greet.sh takes --french off before it reads the name.", 44000, "  shift"),
    demoTurns.Build[3],
  ],
  "Auto-Eval": [judge(41000, true), judge(33000, true), judge(29000, true)],
};
writeFileSync(join(root, "fork.json"), JSON.stringify({ turns: forked }));
materia(
  "fork",
  "20261115T124651-09a44c",
  "--at",
  "30",
  "--script",
  join(root, "fork.json"),
  "--virtual-time",
  "--trust",
  "--cast-id",
  "20261115T124651-09a44c-fork",
);
record("20261115T124651-09a44c-fork", "2026-11-15T12:58:02Z");

cast(
  "20261115T130214-5d20e1",
  "Pair",
  "Keep comments when a loadout is written back",
  {
    coder: [build(214000, "Comments move with the field below them.", 51000, "  out.apply(doc.edits(Keep::Comments))")],
    verifier: [judge(66000, true)],
  },
  {},
  ["--max-cost", "5"],
);
record("20261115T130214-5d20e1", "2026-11-15T13:02:14Z");

cast("20261115T124903-77aa10", "Consult", "Design the event stream of the server", {
  plan: [
    {
      delayMs: 91000,
      json: {
        context:
          "Two things I cannot decide: should a page that was asleep get every event it missed, or the state as it is now? May I count on one page for each cast?",
        workItems: [
          { title: "Serve events after a given one", context: "As server-sent events." },
          { title: "Fold them on the page", context: "One fold, used by every part." },
        ],
      },
      ...agent(18000, 0.09),
    },
  ],
});
record("20261115T124903-77aa10", "2026-11-15T12:49:03Z");

cast(
  "20261115T123108-c0ffee",
  "Circle",
  "Make the debounce test pass on slow machines",
  {
    coder: [{ delayMs: 62000, text: "I raised the delay to 50 ms.", ...agent(21000, 0.19) }],
    tester: [{ delayMs: 20000, text: "debounce fires once: failed, got 2 calls", ...agent(3000, 0.02) }],
  },
  { repeatLast: true },
);
record("20261115T123108-c0ffee", "2026-11-15T12:31:08Z");

cast("20261115T102011-1ab3f0", "Demo", "Move the journal to another store", { ...demoTurns }, { repeatLast: true }, [
  "--max-turns",
  "6",
  "--max-cost",
  "20",
]);
record("20261115T102011-1ab3f0", "2026-11-15T10:20:11Z");

cast(
  "20261115T100502-e99a01",
  "Demo",
  "Speed up the replay of long casts",
  {
    ...demoTurns,
    "Auto-Eval": [
      judge(41000, true),
      judge(31000, false, "The replay of 10,000 events still takes 9 s."),
      judge(31000, false, "It takes 8 s."),
      judge(31000, false, "It takes 7 s."),
      judge(31000, false, "It takes 7 s, and the tests fail."),
    ],
  },
  { repeatLast: true },
);
record("20261115T100502-e99a01", "2026-11-15T10:05:02Z");

cast("20261115T091433-ab0123", "Pair", "Try the new parser on the shipped loadouts", {
  coder: [build(90000, "Two of them do not parse.", 30000)],
  verifier: [judge(20000, true)],
});
materia("abort", "20261115T091433-ab0123");
record("20261115T091433-ab0123", "2026-11-15T09:14:33Z");

writeFileSync(
  join(here, "fixtures", "doctor.json"),
  `${JSON.stringify(JSON.parse(materia("doctor", "--json")), null, 1)}\n`,
);
for (const name of ["Demo", "Pair", "Consult"])
  writeFileSync(
    join(here, "fixtures", `loadout-${name}.json`),
    `${JSON.stringify(JSON.parse(execFileSync(binary, ["grid", name, "--json"], { cwd: project, env, encoding: "utf8" })), null, 1)}\n`,
  );
rmSync(root, { recursive: true, force: true });
