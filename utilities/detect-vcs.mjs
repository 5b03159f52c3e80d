// Detect-VCS: says which version control the project folder is under, and where its root is.
//
// It asks `jj` and `git` themselves and changes nothing. The nearer repository counts; where both
// have the same root, jj does. The verdict has three values, see README.md.

import { spawnSync } from "node:child_process";
import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

const UTILITY = "detect-vcs";

// ---- The same in every utility, so that each file works when it is copied alone. ----

/** Input that cannot be used: said on stderr, status 2, nothing on stdout. */
class Refusal extends Error {}

const INPUT_CHARS_MAX = 64 * 1024 * 1024;

/** Reads the one JSON object on stdin and checks the fields that all utilities share. */
async function readInput() {
  let text = "";
  process.stdin.setEncoding("utf8");
  for await (const chunk of process.stdin) {
    text += chunk;
    if (text.length > INPUT_CHARS_MAX) throw new Refusal("stdin holds more than 64 MiB");
  }
  if (text.trim() === "") {
    throw new Refusal(`stdin is empty; give it one JSON object, for example {"cwd": "/path"}`);
  }
  let input;
  try {
    input = JSON.parse(text);
  } catch (error) {
    throw new Refusal(`stdin must hold one JSON object: ${error.message}`);
  }
  if (!isObject(input)) throw new Refusal("stdin must hold one JSON object, not another value");
  for (const name of ["params", "state"]) {
    input[name] ??= {};
    if (!isObject(input[name])) throw new Refusal(`\`${name}\` must be an object`);
  }
  return input;
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Runs `main` and prints its answer, unless this file was imported as a library by a test. */
async function start(main) {
  if (new URL(import.meta.url).search === "?library") return;
  try {
    const { exitCode = 0, complaint, ...answer } = await main(await readInput());
    if (complaint) process.stderr.write(`${UTILITY}: ${complaint}\n`);
    process.stdout.write(`${JSON.stringify(answer)}\n`);
    process.exitCode = exitCode;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    process.stderr.write(`${UTILITY}: ${error.message}\n`);
    process.exitCode = 2;
  }
}

// ---- End of the common part. ----

// ---- The same in every utility that runs programs. ----

const TIME_LIMIT_MS = 25_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const SAID_CHARS_MAX = 400;

/** The project folder; checked here because a missing one looks like a missing program. */
function projectFolder(input) {
  const cwd = input.cwd ?? process.cwd();
  if (typeof cwd !== "string" || !isAbsolute(cwd)) {
    throw new Refusal("`cwd` must be the absolute path of the project folder");
  }
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Refusal(`\`cwd\` is not a folder: ${cwd}`);
  }
  return cwd;
}

/** A function that runs programs in `cwd`, without a shell, all within one time limit. */
function runner(cwd, limit) {
  const limitMs = limit ?? TIME_LIMIT_MS;
  if (!Number.isInteger(limitMs) || limitMs < 1) {
    throw new Refusal("`params.timeLimitMs` must be a whole number of milliseconds, at least 1");
  }
  const deadline = Date.now() + limitMs;
  // A caller inside a git hook sets these; they would lead to another repository than that of `cwd`.
  const { GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE, GIT_PREFIX, GIT_COMMON_DIR, ...env } = process.env;
  return (program, ...words) => {
    const done = spawnSync(program, words, {
      cwd,
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      timeout: Math.max(1, deadline - Date.now()),
      killSignal: "SIGKILL",
      maxBuffer: OUTPUT_BYTES_MAX,
    });
    const code = done.error?.code;
    return {
      ok: done.error === undefined && done.status === 0,
      missing: code === "ENOENT" || code === "EACCES",
      late: code === "ETIMEDOUT",
      stdout: done.stdout ?? "",
      stderr: plain(done.stderr),
      problem: `\`${commandName(program, words)}\`: ${outcome(done, limitMs)}`,
    };
  };
}

/** The command without its options and what they are about: `jj bookmark set`. */
function commandName(program, words) {
  const options = words.findIndex((word) => word.startsWith("-"));
  return [program, ...(options < 0 ? words : words.slice(0, options))].slice(0, 3).join(" ");
}

/** How a program that did not succeed ended, in words. */
function outcome(done, limitMs) {
  if (done.error?.code === "ETIMEDOUT") return `was stopped after ${limitMs} ms`;
  if (done.error) return `cannot be run: ${done.error.message}`;
  const said = plain(done.stderr) || plain(done.stdout) || "said nothing";
  return `${said} (${done.signal ?? `exit status ${done.status}`})`;
}

/** What a program said, without colours, cut to a length that fits into a sentence. */
function plain(text) {
  const clean = (text ?? "").replace(/\u001b\[[0-9;]*m/g, "").trim();
  return clean.length > SAID_CHARS_MAX ? `${clean.slice(0, SAID_CHARS_MAX)}…` : clean;
}

/** The nearest folder from `start` upwards that holds an entry `name`, or null. */
function nearest(start, name) {
  for (let folder = realpathSync(start); ; folder = dirname(folder)) {
    if (existsSync(join(folder, name))) return folder;
    if (dirname(folder) === folder) return null;
  }
}

// ---- End of the part about programs. ----

function main(input) {
  const cwd = projectFolder(input);
  const run = runner(cwd, input.params.timeLimitMs);
  const jj = look(run("jj", "root"), "jj", cwd);
  const git = look(run("git", "rev-parse", "--show-toplevel"), "git", cwd);
  const kind = choose(jj.root, git.root);
  const root = kind === "jj" ? jj.root : git.root;
  const problems = [jj.problem, git.problem].filter((problem) => problem !== null);
  const vcs = {
    ok: problems.length === 0,
    kind,
    root,
    available: { jj: jj.available, git: git.available },
    roots: { jj: jj.root, git: git.root },
    colocated: jj.root !== null && jj.root === git.root,
    problems,
  };
  const found =
    kind === "none" ? "No usable jj or git repository here." : `The ${kind} repository is ${root}.`;
  const context = [found, ...problems].join(" ");
  // Without a repository neither word fits, so an `always` edge is taken.
  return kind === "none"
    ? { context, state: { vcs } }
    : { satisfied: kind === "jj", context, state: { vcs } };
}

/** What one program says about the folder; `problem` if there is a repository it cannot use. */
function look(answer, program, cwd) {
  const available = !answer.missing;
  const said = answer.stdout.replace(/\r?\n$/, "");
  if (answer.ok && said !== "") return { available, root: realpathSync(said), problem: null };
  const marked = nearest(cwd, `.${program}`);
  if (answer.late) return { available, root: null, problem: answer.problem };
  if (marked === null) return { available, root: null, problem: null };
  const why = available ? answer.problem : `${program} is not on PATH.`;
  return { available, root: null, problem: `There is a .${program} in ${marked}, but ${why}` };
}

/** Roots lie on one path upwards from the project, so the longer one is nearer. */
function choose(jj, git) {
  if (jj !== null && (git === null || jj.length >= git.length)) return "jj";
  return git === null ? "none" : "git";
}

await start(main);
