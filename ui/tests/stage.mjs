// The real server with casts of every kind. They are made with scripts, in simulated time, in a folder of their own.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binary, skip, start } from "./editor-server.mjs";

export { skip };
export const DEMO = "demo";
export const FORK = "demo-fork";
export const ASKS = "asks";
export const TALKS = "talks";
export const STALLS = "stalls";
export const SPENT = "spent";
export const FAILS = "fails";
export const ENDED = "ended";

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
const plan = { delayMs: 38000, json: { workItems: items }, ...agent(34000, 0.11) };
const build = (ms, text, tokens, line) => ({
  delayMs: ms,
  text,
  ...agent(tokens, tokens / 400000),
  ...(line ? { artifacts: { diff: `--- a/greet.sh\n+++ b/greet.sh\n@@ -1,2 +1,3 @@\n #!/bin/sh\n+${line}\n` } } : {}),
});
const judge = (ms, satisfied, context) => ({
  delayMs: ms,
  json: context ? { satisfied, context } : { satisfied },
  ...agent(22000, 0.06),
});
export const demoTurns = {
  "Auto-Plan": [plan],
  Build: [
    build(74000, "greet.sh greets the name it is given, and the world without one.", 66080),
    build(83000, "greet.sh says Bonjour with --french.", 71460, "  lang=fr"),
    build(53000, "The option is taken off before the name is read.", 40200, "  shift"),
    build(49000, "README.md shows the three ways to call it.", 38000),
  ],
  "Auto-Eval": [judge(41000, true), judge(47000, false, reason), judge(33000, true), judge(29000, true)],
};

/** The same answers at once. */
export const quick = Object.fromEntries(
  Object.entries(demoTurns).map(([name, turns]) => [name, turns.map(({ delayMs: _, ...turn }) => turn)]),
);

/** A plan, and then for each item of it: build, judge, checkpoint. */
const loop = (builder) => ({
  description: "A plan, and then for each item of it: build, judge, checkpoint.",
  entry: "Socket-1",
  sockets: {
    "Socket-1": { materia: "Auto-Plan", edges: [{ to: "Socket-2" }] },
    "Socket-2": { materia: builder, edges: [{ to: "Socket-3" }] },
    "Socket-3": {
      materia: "Auto-Eval",
      edges: [
        { when: "satisfied", to: "Socket-4" },
        { when: "not_satisfied", to: "Socket-2", maxTraversals: 3 },
      ],
    },
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
});
export const config = {
  activeLoadout: "Demo",
  artifactDir: ".materia",
  loadouts: {
    Demo: loop("Build"),
    Live: loop("Hold"),
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
    // Waits until the test lets it go on: each of its turns has a gate, which the request names.
    Hold: { type: "utility", command: ["sh", "gate.sh"], parse: "text", timeoutMs: 3_600_000 },
    "Plan-Together": {
      generator: true,
      multiTurn: true,
      color: "#8a5cf6",
      prompt: "Plan the request with the person who asked. Each of your answers holds the whole plan.",
    },
  },
};
const gate = `gate=gates/$(sed -n 's/.*"request":"Play \\([a-z0-9-]*\\)".*/\\1/p')
n=1
while [ -e "$gate/began$n" ]; do n=$((n + 1)); done
touch "$gate/began$n"
while [ ! -e "$gate/go$n" ] && [ ! -e "$gate/all" ]; do sleep 0.05; done
echo "Turn $n is done."
`;

const request = "Make greet.sh greet people by name, also in French, and describe it.";
/** How each cast is made: its loadout, its request, its script and its options. */
const recipes = {
  [DEMO]: ["Demo", request, { turns: demoTurns }, ["--max-turns", "40", "--max-tokens", "600000", "--max-cost", "3"]],
  [ASKS]: [
    "Pair",
    "Keep comments when a loadout is written back",
    {
      turns: {
        coder: [build(214000, "Comments move with the field below them.", 51000, "  out.apply(doc.edits(Comments))")],
        verifier: [judge(66000, true)],
      },
    },
    ["--max-cost", "5"],
  ],
  [TALKS]: [
    "Consult",
    "Design the event stream of the server",
    {
      turns: {
        plan: [
          {
            delayMs: 91000,
            json: {
              context: "Should a page that was asleep get every event it missed, or the state as it is now?",
              workItems: [{ title: "Serve events after a given one", context: "As server-sent events." }],
            },
            ...agent(18000, 0.09),
          },
        ],
      },
    },
  ],
  [STALLS]: [
    "Circle",
    "Make the debounce test pass on slow machines",
    {
      turns: {
        coder: [{ delayMs: 62000, text: "I raised the delay to 50 ms.", ...agent(21000, 0.19) }],
        tester: [{ delayMs: 20000, text: "debounce fires once: failed, got 2 calls", ...agent(3000, 0.02) }],
      },
      repeatLast: true,
    },
  ],
  [SPENT]: [
    "Demo",
    "Move the journal to another store",
    { turns: demoTurns, repeatLast: true },
    ["--max-turns", "6", "--max-cost", "20"],
  ],
  [FAILS]: [
    "Demo",
    "Speed up the replay of long casts",
    {
      turns: {
        ...demoTurns,
        "Auto-Eval": [
          judge(41000, true),
          judge(31000, false, "The replay of 10,000 events still takes 9 s."),
          judge(31000, false, "It takes 8 s."),
          judge(31000, false, "It takes 7 s."),
          judge(31000, false, "It takes 7 s, and the tests fail."),
        ],
      },
      repeatLast: true,
    },
  ],
  [ENDED]: [
    "Pair",
    "Try the new parser on the shipped loadouts",
    { turns: { coder: [build(90000, "Two of them do not parse.", 30000)], verifier: [judge(20000, true)] } },
  ],
};
/** The demo, forked before the work on its second item; the judge is content at once. */
const forked = {
  ...demoTurns,
  Build: [
    demoTurns.Build[0],
    build(61000, "greet.sh takes --french off before it reads the name.", 44000, "  shift"),
    demoTurns.Build[3],
  ],
  "Auto-Eval": [judge(41000, true), judge(33000, true), judge(29000, true)],
};

export async function startStage(wanted = Object.keys(recipes), configuration = config) {
  const server = await start(JSON.stringify(configuration, null, 2));
  writeFileSync(join(server.project, "gate.sh"), gate);
  const scriptOf = (id, script) => {
    const file = join(server.project, "..", `${id}.script.json`);
    writeFileSync(file, JSON.stringify(script));
    return file;
  };
  const run = (...words) => {
    const done = server.cli(...words);
    if (![0, 1, 3].includes(done.status)) throw new Error(`${words.join(" ")}: ${done.status}\n${done.stderr}`);
    return done.stdout;
  };
  const ask = async (path, body) => {
    const answer = await server.ask(path, body);
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const until = async (question, words) => {
    for (const end = Date.now() + 60_000; Date.now() < end; await new Promise((done) => setTimeout(done, 30))) {
      const found = await question();
      if (found) return found;
    }
    throw new Error(`waited in vain until ${words}`);
  };
  const children = [];
  const stop = server.stop;
  const stage = Object.assign(server, {
    async stop() {
      for (const child of children) child.kill();
      await stop();
    },
    run,
    writeScript: (file, script) => writeFileSync(file, JSON.stringify(script)),
    get: ask,
    until,
    view: (id, at) => ask(`/casts/${id}${at ? `?at=${at}` : ""}`),
    async events(id, query = "") {
      const items = [];
      for (let from = 1; from; ) {
        const page = await ask(`/casts/${id}/events?order=asc&limit=1000&from=${from}${query}`);
        items.push(...page.items);
        from = page.next ?? 0;
      }
      return items;
    },
    /** Makes a cast with a script, in simulated time. */
    cast(id, loadout, words, script, options = []) {
      const file = scriptOf(id, script);
      const first = ["cast", "--loadout", loadout, "--script", file, "--virtual-time", "--trust", "--cast-id", id];
      run(...first, "--no-input", ...options, words);
      return id;
    },
    /** Makes one of the known casts, also under another name. */
    make(name, id = name) {
      const [loadout, words, script, options] = recipes[name];
      return stage.cast(id, loadout, words, script, options);
    },
    fork() {
      const options = ["--script", scriptOf(FORK, { turns: forked }), "--virtual-time", "--trust", "--cast-id", FORK];
      run("fork", DEMO, "--at", "30", ...options);
    },
    /**
     * A cast that the server runs, or a process of its own. Its builder waits: `step` lets one turn end, `finish` all.
     */
    async live(id, { script = { turns: quick }, apart = false } = {}) {
      const gates = join(server.project, "gates", id);
      mkdirSync(gates, { recursive: true });
      let turns = 0;
      const seq = async () => (await stage.view(id)).lastSeq;
      const held = async () => {
        turns += 1;
        const open = ({ socket, visits, state }) => socket === "Socket-2" && visits === turns && state === "running";
        return until(async () => (await stage.view(id)).sockets.some(open), `turn ${turns} of ${id} waits`);
      };
      const body = { loadout: "Live", request: `Play ${id}`, castId: id, script: scriptOf(id, script) };
      if (apart) {
        const words = ["cast", "--loadout", "Live", "--script", body.script, "--trust", "--no-input", "--cast-id", id];
        const child = spawn(binary, [...words, body.request], {
          cwd: server.project,
          env: server.env,
          stdio: "ignore",
        });
        children.push(child);
        await until(async () => (await server.ask(`/casts/${id}`)).status === 200, `${id} has begun`);
      } else await ask("/casts", body);
      await held();
      return {
        id,
        seq,
        /** `between` happens while the turn ends. */
        async step(between = async () => {}) {
          writeFileSync(join(gates, `go${turns}`), "");
          await between();
          await held();
          return seq();
        },
        async finish() {
          writeFileSync(join(gates, "all"), "");
          await until(async () => (await stage.view(id)).status === "completed", `${id} is completed`);
          return seq();
        },
      };
    },
  });
  for (const id of wanted) stage.make(id);
  if (wanted.includes(ENDED)) run("abort", ENDED);
  if (wanted.includes(FORK) || wanted.length === Object.keys(recipes).length) stage.fork();
  return stage;
}
