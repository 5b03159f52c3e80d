// Blackbelt-Bootstrap: gives a cast a jj repository with an empty working commit, and the name of
// the bookmark that Blackbelt-Maintain moves along.
//
// It never colocates: a git repository that is already there stays exactly as it is. What goes
// wrong fails the cast, with what was reached in `state.blackbeltBootstrap`. Page for authors:
// README.md.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdtempSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";

const UTILITY = "blackbelt-bootstrap";
const BOOKMARK_PREFIX = "blackbelt/";
const BOOKMARK_CHARS_MAX = 100;

// The order of these words is part of every generated name. Never change, move or remove one.
const NOUNS = (
  "anchor amber arrow aurora beacon birch bridge cedar comet crystal delta ember falcon " +
  "feather forge garnet glacier harbor hawk island ivory jade lantern maple meadow meteor nebula onyx " +
  "orchid raven river willow"
).split(" ");
const VERBS = (
  "binds blooms builds calls carves casts climbs crosses dances drifts flies follows gathers " +
  "gleams glides grows holds hums leads leaps lifts marks mends paints rests rises sails shapes shines " +
  "sings turns weaves"
).split(" ");

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
  const bookmarkName = nameBookmark(input, cwd);
  const reached = {
    root: null,
    available: true,
    initialized: false,
    newWorkingCommit: false,
    emptyHead: false,
  };
  try {
    refuseLinks(cwd);
    reached.root = findRoot(run, cwd, reached);
    if (reached.root === null) {
      initialize(run, cwd);
      reached.initialized = true;
      reached.root = rootOf(need(run("jj", "root")));
    }
    if (need(run("jj", "diff", "--summary")).stdout.trim() !== "") {
      need(run("jj", "new"));
      reached.newWorkingCommit = true;
    }
    reached.emptyHead = true;
    return { state: { blackbeltBootstrap: { ok: true, ...reached, bookmarkName } } };
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    const error = failure.message;
    return { exitCode: 1, complaint: error, state: { blackbeltBootstrap: { ok: false, ...reached, error } } };
  }
}

/** Something that fails the cast. */
class Failure extends Error {}

/** The answer of a program that has to succeed. */
function need(answer) {
  if (!answer.ok) throw new Failure(answer.problem);
  return answer;
}

function rootOf(answer) {
  return answer.stdout.replace(/\r?\n$/, "");
}

/** The root of the jj repository that the project belongs to, or null if there is none. */
function findRoot(run, cwd, reached) {
  const answer = run("jj", "root");
  if (answer.missing) {
    reached.available = false;
    throw new Failure("jj is not on PATH. Install it (https://docs.jj-vcs.dev) and cast again.");
  }
  if (!answer.ok) {
    // Only a repository that is there can be broken; anything else just is none.
    if (answer.late || nearest(cwd, ".jj") !== null) throw new Failure(answer.problem);
    return null;
  }
  const root = rootOf(answer);
  // A jj repository around a git repository leaves that one's files out, so it is not the project's.
  const git = nearest(cwd, ".git");
  return git !== null && git.length > realpathSync(root).length ? null : root;
}

/**
 * Makes a jj repository of `cwd` that keeps its store to itself. jj refuses to do so beside a
 * `.git`, therefore the repository is made in a folder of its own there and moved into its place.
 */
function initialize(run, cwd) {
  if (!existsSync(join(cwd, ".git"))) {
    need(run("jj", "git", "init", "--no-colocate"));
  } else {
    const nest = orFail(() => mkdtempSync(join(cwd, ".blackbelt-")));
    try {
      need(run("jj", "git", "init", "--no-colocate", basename(nest)));
      orFail(() => renameSync(join(nest, ".jj"), join(cwd, ".jj")));
    } finally {
      rmSync(nest, { recursive: true, force: true });
    }
  }
  // Otherwise `git add --all` would take jj's store in. jj may have written it itself; a link is not followed.
  const ignore = join(cwd, ".jj", ".gitignore");
  if (nearest(cwd, ".git") !== null && !lstatSync(ignore, { throwIfNoEntry: false })) {
    orFail(() => writeFileSync(ignore, "/*\n", { flag: "wx" }));
  }
}

/** A `.jj` that leads elsewhere came with the project; jj would write to wherever that is. */
function refuseLinks(cwd) {
  for (let folder = realpathSync(cwd); ; folder = dirname(folder)) {
    const found = lstatSync(join(folder, ".jj"), { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) throw new Failure(`${join(folder, ".jj")} is a symbolic link, which is not followed`);
    if (found || dirname(folder) === folder) return;
  }
}

function orFail(act) {
  try {
    return act();
  } catch (error) {
    throw new Failure(`cannot make a jj repository: ${error.message}`);
  }
}

/** The bookmark's name: what the author wants, made safe, or else one that follows from the cast. */
export function nameBookmark({ params, castId, runDir }, cwd) {
  const wanted = params.bookmarkName ?? "";
  if (typeof wanted !== "string") throw new Refusal("`params.bookmarkName` must be a string");
  const safe = sanitize(wanted);
  if (safe !== "") return BOOKMARK_PREFIX + safe;
  const seed = [castId, runDir].find((text) => typeof text === "string" && text !== "") ?? cwd;
  const digest = createHash("sha256").update(seed).digest();
  const noun = NOUNS[digest.readUInt32BE(0) % NOUNS.length];
  const verb = VERBS[digest.readUInt32BE(4) % VERBS.length];
  return `${BOOKMARK_PREFIX}${noun}-${verb}-${digest.toString("hex", 8, 13)}`;
}

/**
 * Keeps of a wished name what git takes as a ref and jj as a symbol without quotes; may be empty.
 * Stricter than either: words of letters, digits and `_`, joined by single `.`, `-` and `/`.
 */
function sanitize(text) {
  const letters = text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9._/-]+/g, "-");
  const tidy = (name) =>
    name
      .replace(/[.-]{2,}/g, "-")
      .split("/")
      .map((part) => part.replace(/^[.-]+|[.-]+$/g, "").replace(/\.lock$/i, "-lock"))
      .filter((part) => part !== "")
      .join("/");
  const whole = tidy(letters);
  const name = whole.startsWith(BOOKMARK_PREFIX) ? whole.slice(BOOKMARK_PREFIX.length) : whole;
  return tidy(name.slice(0, BOOKMARK_CHARS_MAX - BOOKMARK_PREFIX.length));
}

await start(main);
