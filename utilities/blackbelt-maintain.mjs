// Blackbelt-Maintain: puts what was done for the current work item into a commit of its own.
//
// jj only. It never fails the cast: what goes wrong is `satisfied: false` with the reason. The
// bookmark belongs to Blackbelt-Bootstrap; here it is moved, never named. Page for authors:
// README.md.

import { spawnSync } from "node:child_process";
import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

const UTILITY = "blackbelt-maintain";
const TITLE_CHARS_SHOWN = 120;

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
  const bookmark = bookmarkOf(input.state);
  const { satisfied, text } = maintain(run, cwd, titleOf(input.item), bookmark);
  return { satisfied, context: `${text} [bookmark: ${bookmark ?? "none"}]` };
}

const content = (text) => ({ satisfied: true, text });
const discontent = (text) => ({ satisfied: false, text });

function maintain(run, cwd, title, bookmark) {
  if (title === "") return discontent("No checkpoint: the current work item has no title.");
  if (bookmark === null) {
    return discontent(
      "No checkpoint: there is no usable state.blackbeltBootstrap.bookmarkName. Run Blackbelt-Bootstrap first.",
    );
  }
  const root = run("jj", "root");
  if (root.missing)
    return discontent("No checkpoint: jj is not on PATH. Install it and run Blackbelt-Bootstrap first.");
  if (!root.ok && !root.late && nearest(cwd, ".jj") === null) {
    return discontent("No checkpoint: there is no jj repository here. Run Blackbelt-Bootstrap first.");
  }
  if (!root.ok) return discontent(`No checkpoint: ${root.problem}.`);
  const diff = run("jj", "diff", "--summary");
  if (!diff.ok) return discontent(`No checkpoint: ${diff.problem}.`);
  const warnings = warningsIn(diff.stderr);
  if (diff.stdout.trim() === "")
    return content(`Nothing to checkpoint: the working commit is clean.${warnings}`);
  return checkpoint(run, title, bookmark, warnings);
}

/** The bookmark moves before the new commit is opened, so that a failure there leaves it in place. */
function checkpoint(run, title, bookmark, warnings) {
  const shown = JSON.stringify(
    title.length > TITLE_CHARS_SHOWN ? `${title.slice(0, TITLE_CHARS_SHOWN)}…` : title,
  );
  // Title and bookmark are data: in these forms they cannot be taken for options.
  const described = run("jj", "describe", `--message=${title}`);
  if (!described.ok) return discontent(`No checkpoint of ${shown}: ${described.problem}.`);
  const moved = run("jj", "bookmark", "set", "--revision=@", "--allow-backwards", "--", bookmark);
  if (!moved.ok) return discontent(`Described ${shown}, but the bookmark did not move: ${moved.problem}.`);
  const opened = run("jj", "new");
  if (!opened.ok) {
    return discontent(
      `Described ${shown} and moved the bookmark to it, but no new working commit was opened: ${opened.problem}.`,
    );
  }
  return content(`Checkpoint ${shown}.${warnings}`);
}

/** jj warns about files that it leaves out, for example because they are too large. */
function warningsIn(said) {
  const parts = said.split(/^(?=Warning: |Hint: )/m).filter((part) => part.startsWith("Warning: "));
  return parts.map((part) => ` ${part.replace(/\s+/g, " ").trim()}`).join("");
}

/** The work item's title, as something that a program can be given; empty if there is none. */
function titleOf(item) {
  return typeof item?.title === "string" ? item.title.replaceAll("\0", "").trim() : "";
}

/** The bookmark that Blackbelt-Bootstrap chose, or null. */
function bookmarkOf(state) {
  const name = state.blackbeltBootstrap?.bookmarkName;
  return typeof name === "string" && /^\w[\w./-]*$/.test(name) ? name : null;
}

await start(main);
