// Casts with one real agent and looks at what came of it.
//
//   node cast.mjs AGENT MATERIA FOLDER-OF-THE-AGENT PORT WORK
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [agent, materia, bin, port, work] = process.argv.slice(2);
const home = join(work, `home-${agent}`);
const project = join(work, `project-${agent}`);
const server = `http://127.0.0.1:${port}`;
mkdirSync(home, { recursive: true });
mkdirSync(project, { recursive: true });
execFileSync("git", ["init", "--quiet", project]);

/** What each agent needs to talk to our server, and its own words for writing a file. */
const AGENTS = {
  claude: {
    env: { ANTHROPIC_BASE_URL: server, ANTHROPIC_API_KEY: "none" },
    write: (path, text) => ({ tool: "Write", with: { file_path: join(project, path), content: text } }),
    model: "sonnet",
    cost: true,
  },
  codex: {
    env: { LOCAL_MODEL_KEY: "none" },
    settings: { env: ["LOCAL_MODEL_KEY"] },
    write: (path, text) => ({ tool: "exec_command", with: { cmd: `printf %s '${text}' > ${path}` } }),
    model: "gpt-5",
    cost: true,
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
    Planning: { entry: "Write", sockets: { Write: { materia: "Write" } } },
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
const whole = cast("Work");
const visits = (whole.report.visits ?? []).map((visit) => `${visit.socket}${visit.item ? `/${visit.item}` : ""}`);
check("the loadout completes", whole.code === 0 && whole.report.status === "completed", whole);
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

const planning = cast("Planning", "--planning");
check("a cast in Planning mode completes", planning.code === 0, planning);
check("it wrote the document", existsSync(join(project, "docs/note.md")), project);
check("it wrote no code", !existsSync(join(project, "code.txt")), project);

const locked = cast("Locked");
check("a refused login fails the cast", locked.code === 1 && locked.report.error?.code === "provider_failed", locked);
check("and says what to do", /not logged in/.test(locked.report.error?.message ?? ""), locked.report.error);

const left = existsSync("/proc")
  ? execFileSync("sh", ["-c", `grep -lsz "^HOME=${home}$" /proc/[0-9]*/environ || true`], { encoding: "utf8" }).trim()
  : "";
check("no process is left", left === "", left);
console.log(`   ${((Date.now() - begun) / 1000).toFixed(1)} s for ${visits.length + 2} turns`);
process.exit(faults > 0 ? 1 : 0);
