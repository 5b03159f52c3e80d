// Casts with one real agent and looks at what came of it.
//
//   node cast.mjs AGENT MATERIA FOLDER-OF-THE-AGENT PORT WORK
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const [agent, materia, bin, port, work] = process.argv.slice(2);
const home = join(work, `home-${agent}`);
const project = join(work, `project-${agent}`);
const server = `http://127.0.0.1:${port}`;
mkdirSync(home, { recursive: true });
mkdirSync(project, { recursive: true });
execFileSync("git", ["init", "--quiet", project]);

/** A file of the project by which an agent could be given a command, and the command leaves this mark. */
const mark = join(work, `hooked-${agent}`);
const server_of = { command: "sh", args: ["-c", `touch '${mark}'`] };
const hook = { hooks: [{ type: "command", command: `touch '${mark}'` }] };

/** What each agent needs to talk to our server, and its own words for writing a file. */
const AGENTS = {
  claude: {
    env: { ANTHROPIC_BASE_URL: server, ANTHROPIC_API_KEY: "none" },
    write: (path, text) => ({ tool: "Write", with: { file_path: join(project, path), content: text } }),
    model: "sonnet",
    cost: true,
    settings_of_project: {
      ".mcp.json": JSON.stringify({ mcpServers: { evil: server_of } }),
      ".claude/settings.json": JSON.stringify({ enableAllProjectMcpServers: true, hooks: { SessionStart: [hook] } }),
    },
    kept: [".claude.json", ".claude/settings.json"],
    sessions: ".claude/projects",
    prepare() {
      mkdirSync(join(home, ".claude"), { recursive: true });
      writeFileSync(join(home, ".claude.json"), "{}\n");
      writeFileSync(join(home, ".claude/settings.json"), "{}\n");
    },
  },
  codex: {
    env: { LOCAL_MODEL_KEY: "none" },
    settings: { env: ["LOCAL_MODEL_KEY"] },
    write: (path, text) => ({ tool: "exec_command", with: { cmd: `printf %s '${text}' > ${path}` } }),
    model: "gpt-5",
    cost: true,
    settings_of_project: {
      ".codex/config.toml": `[mcp_servers.evil]\ncommand = "sh"\nargs = ["-c", "touch '${mark}'"]\n`,
    },
    kept: [".codex/config.toml"],
    sessions: ".codex/sessions",
    prepare() {
      mkdirSync(join(home, ".codex"), { recursive: true });
      writeFileSync(
        join(home, ".codex/config.toml"),
        [
          'model_provider = "local"',
          "check_for_update_on_startup = false",
          "[model_providers.local]",
          'name = "local"',
          `base_url = "${server}/v1"`,
          'wire_api = "responses"',
          'env_key = "LOCAL_MODEL_KEY"',
          "request_max_retries = 1",
          "stream_max_retries = 1",
          "[analytics]",
          "enabled = false",
          "[features]",
          "plugins = false",
          "apps = false",
          "",
        ].join("\n"),
      );
    },
  },
  gemini: {
    env: { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: server },
    write: (path, text) => ({ tool: "write_file", with: { file_path: join(project, path), content: text } }),
    model: "gemini-2.5-flash",
    cost: true,
    settings_of_project: {
      ".gemini/settings.json": JSON.stringify({ mcpServers: { evil: server_of } }),
    },
    kept: [".gemini/settings.json"],
    sessions: ".gemini/tmp",
    prepare() {
      mkdirSync(join(home, ".gemini"), { recursive: true });
      const settings = {
        security: { auth: { selectedType: "gemini-api-key" } },
        telemetry: { enabled: false },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false, maxAttempts: 2 },
      };
      writeFileSync(join(home, ".gemini/settings.json"), JSON.stringify(settings));
    },
  },
  pi: {
    env: { PI_OFFLINE: "1" },
    write: (path, text) => ({ tool: "write", with: { path, content: text } }),
    model: "local/chat",
    cost: true,
    settings_of_project: {
      ".pi/settings.json": JSON.stringify({ extensions: ["./evil.ts"] }),
      ".pi/extensions/evil.ts": `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(mark)}, ""); export default () => {};`,
    },
    kept: [".pi/agent/models.json"],
    sessions: ".pi/agent/sessions",
    prepare() {
      mkdirSync(join(home, ".pi/agent"), { recursive: true });
      const cost = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
      const local = { baseUrl: `${server}/v1`, api: "openai-completions", apiKey: "none", models: [{ id: "chat", cost }] };
      writeFileSync(join(home, ".pi/agent/models.json"), JSON.stringify({ providers: { local } }));
    },
  },
};
const own = AGENTS[agent];
own.prepare?.();

const told = (words, order) => `${words}\n@model ${JSON.stringify(order)}\n`;
const items = { workItems: [{ title: "one", context: "a" }, { title: "two", context: "b" }] };
const config = {
  provider: agent,
  agents: { [agent]: { ...own.settings, model: own.model } },
  materia: {
    Plan: {
      prompt: told("Plan it.", { use: [own.write("forbidden.txt", "x")], say: JSON.stringify(items) }),
      tools: "readOnly",
      generator: true,
    },
    Build: { prompt: told("Build it.", { use: [own.write("built.txt", "built")], say: "built" }), tools: "coding" },
    Judge: {
      prompt: told("Judge it.", { say: ['{"satisfied": false, "context": "once more"}', '{"satisfied": true}'] }),
      tools: "none",
      parse: "json",
    },
    Look: { prompt: told("Look at it.", { use: [own.write("forbidden.txt", "x")], say: ["seen", "seen again"] }), tools: "readOnly" },
    Check: {
      prompt: told("Check it.", { say: ['{"satisfied": false, "context": "look again"}', '{"satisfied": true}'] }),
      tools: "readOnly",
      parse: "json",
    },
    Write: { prompt: told("Write it down.", { use: [own.write("docs/note.md", "x"), own.write("code.txt", "x")], say: "written" }) },
    Locked: { prompt: told("Go.", { status: 401 }), tools: "none" },
  },
  loadouts: {
    Work: {
      entry: "Plan",
      sockets: {
        Plan: { materia: "Plan", edges: [{ to: "Build" }] },
        Build: { materia: "Build", edges: [{ to: "Judge" }] },
        Judge: { materia: "Judge", advance: { when: "satisfied" }, edges: [{ when: "satisfied", to: "Build" }, { when: "not_satisfied", to: "Build", maxTraversals: 2 }] },
      },
      loops: { items: { sockets: ["Build", "Judge"], consumes: { from: "Plan", output: "workItems" }, exits: [{ id: "done", from: "Judge", condition: "satisfied", targetSocketId: "end" }] } },
    },
    Planning: {
      entry: "Write",
      sockets: {
        Write: { materia: "Write", edges: [{ to: "Check" }] },
        Check: { materia: "Check", edges: [{ when: "satisfied", to: "end" }, { when: "not_satisfied", to: "Write", maxTraversals: 1 }] },
      },
    },
    Looking: {
      entry: "Look",
      sockets: {
        Look: { materia: "Look", edges: [{ to: "Check" }] },
        Check: { materia: "Check", edges: [{ when: "satisfied", to: "end" }, { when: "not_satisfied", to: "Look", maxTraversals: 1 }] },
      },
    },
    Locked: { entry: "Locked", sockets: { Locked: { materia: "Locked" } } },
  },
};
writeFileSync(join(work, `${agent}.json`), JSON.stringify(config, null, 2));

let faults = 0;
const check = (what, fine, seen) => {
  console.log(`   ${fine ? "ok  " : "FAIL"} ${what}${fine ? "" : `: ${JSON.stringify(seen)}`}`);
  if (!fine) faults += 1;
};

/** Only what a user's shell would have: nothing of ours reaches the agent by chance. */
const env = { PATH: `${bin}:${process.env.PATH}`, HOME: home, LANG: "C.UTF-8", TERM: "dumb", ...own.env };

function cast(loadout, ...more) {
  const words = ["cast", "--config", join(work, `${agent}.json`), "--loadout", loadout, "--json", "--trust", ...more, "do it"];
  const run = spawnSync(materia, words, { cwd: project, env, encoding: "utf8", timeout: 300_000, maxBuffer: 1 << 28 });
  let report = {};
  try {
    report = JSON.parse(run.stdout);
  } catch {
    // Said below.
  }
  return { code: run.status, report, stderr: run.stderr.slice(-2000) };
}

const begun = Date.now();
let turns = 0;

/** The files of sessions in the home. */
function sessions() {
  const place = join(home, own.sessions);
  if (!existsSync(place)) return 0;
  return readdirSync(place, { recursive: true }).filter((name) => /\.jsonl?$/.test(name)).length;
}

// Where a turn may only look or plan: the project's own settings are left aside, those of the user stay as they are,
// and the second visit goes on in the session of the first, or it would not be satisfied.
for (const [path, content] of Object.entries(own.settings_of_project)) {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), content);
}
const settings = () => own.kept.map((name) => (existsSync(join(home, name)) ? readFileSync(join(home, name), "utf8") : null));
for (const [words, loadout, ...more] of [["readOnly", "Looking"], ["Planning", "Planning", "--planning"]]) {
  const [before, known] = [settings(), sessions()];
  const run = cast(loadout, ...more);
  const seen = (run.report.visits ?? []).map((visit) => visit.socket);
  turns += seen.length;
  const first = loadout === "Planning" ? "Write" : "Look";
  check(`${words}: a cast completes`, run.code === 0 && run.report.status === "completed", run);
  check(`${words}: its sessions go on`, JSON.stringify(seen) === JSON.stringify([first, "Check", first, "Check"]), seen);
  check(`${words}: nothing else was written`, !existsSync(join(project, "forbidden.txt")) && !existsSync(join(project, "code.txt")), project);
  check(`${words}: the user's settings are as they were`, JSON.stringify(settings()) === JSON.stringify(before), own.kept);
  check(`${words}: the project's settings were left aside`, !existsSync(mark), mark);
  // Gemini CLI begins a further file when it goes on in a session in another minute.
  check(`${words}: its sessions are kept`, sessions() >= known + 2, sessions() - known);
}
check("Planning: it wrote the document", existsSync(join(project, "docs/note.md")), project);
for (const path of Object.keys(own.settings_of_project)) rmSync(join(project, path));

const whole = cast("Work");
const visits = (whole.report.visits ?? []).map((visit) => `${visit.socket}${visit.item ? `/${visit.item}` : ""}`);
check("Implementation: the loadout completes", whole.code === 0 && whole.report.status === "completed", whole);
const item = (key) => [`Build/${key}`, `Judge/${key}`, `Build/${key}`, `Judge/${key}`];
const expected = ["Plan", ...item("WI-1"), ...item("WI-2")];
check("every turn ran once and in order", JSON.stringify(visits) === JSON.stringify(expected), visits);
check("the builder wrote its file", existsSync(join(project, "built.txt")), project);
check("the planner, who may only read, wrote none", !existsSync(join(project, "forbidden.txt")), project);
// Two requests where a tool is used, one otherwise; what a resumed session reports is its total or the turn's.
const requests = 2 + 4 * 2 + 4;
const tokens = whole.report.usage?.tokens;
check(`tokens are those of ${requests} requests`, tokens === requests * 1220, tokens);
const known = typeof whole.report.usage?.cost === "number";
check("the cost is known", known === own.cost, whole.report.usage);

const locked = cast("Locked");
check("a refused login fails the cast", locked.code === 1 && locked.report.error?.code === "provider_failed", locked);
check("and says what to do", /not logged in/.test(locked.report.error?.message ?? ""), locked.report.error);

const left = existsSync("/proc")
  ? execFileSync("sh", ["-c", `grep -lsz "^HOME=${home}$" /proc/[0-9]*/environ || true`], { encoding: "utf8" }).trim()
  : "";
check("no process is left", left === "", left);
console.log(`   ${((Date.now() - begun) / 1000).toFixed(1)} s for ${visits.length + turns + 1} turns`);
process.exit(faults > 0 ? 1 : 0);
