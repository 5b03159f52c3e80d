// Verify: runs a command of `params` and is satisfied if it ends with status 0.
//
// The command is a list: a program and its arguments, started without a shell in the project. How
// its output ends is the context, so that whoever mends it sees what went wrong. Page for authors: README.md.

import { spawnSync } from "node:child_process";
import { isAbsolute } from "node:path";
import { statSync } from "node:fs";

const UTILITY = "verify";
const END_CHARS_MAX = 2_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
// What is kept of the output beside the answer; the runtime keeps 1 MiB.
const KEPT_CHARS_MAX = 400_000;

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
    const { exitCode = 0, complaint, ...answer } = main(await readInput());
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

function main(input) {
  const [program, ...words] = commandOf(input.params);
  const cwd = folderOf(input);
  const done = spawnSync(program, words, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  const [stdout, stderr] = [done.stdout ?? "", done.stderr ?? ""];
  // What it said is kept with the turn, whatever is made of it.
  process.stderr.write([stdout, stderr].map((text) => end(text, KEPT_CHARS_MAX)).join(""));
  if (done.error) throw new Failed(`\`${program}\` cannot be run: ${done.error.message}`);
  if (done.signal) throw new Failed(`\`${program}\` was ended by ${done.signal}`);
  const said = [stdout, stderr].map((text) => end(text.trimEnd(), END_CHARS_MAX)).filter(Boolean);
  return { satisfied: done.status === 0, context: said.join("\n") || `exit status ${done.status}` };
}

/** The command came to no end that says anything about what it verifies. */
class Failed extends Error {}

function commandOf(params) {
  const { command } = params;
  const isText = (word) => typeof word === "string" && !word.includes("\0");
  if (!Array.isArray(command) || !command.every(isText) || !command[0]) {
    throw new Refusal(
      '`params.command` must be a list of texts, the program first: ["npm", "test"]',
    );
  }
  return command;
}

/** The folder of the project; checked here because a missing one looks like a missing program. */
function folderOf(input) {
  const cwd = input.cwd ?? process.cwd();
  if (typeof cwd !== "string" || !isAbsolute(cwd)) {
    throw new Refusal("`cwd` must be the absolute path of the project folder");
  }
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Refusal(`\`cwd\` is not a folder: ${cwd}`);
  }
  return cwd;
}

/** The last characters of a text, whole ones. */
function end(text, charsMax) {
  const characters = Array.from(text.slice(-2 * charsMax));
  return characters.slice(-charsMax).join("");
}

await start((input) => {
  try {
    return main(input);
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    process.stderr.write(`${UTILITY}: ${error.message}\n`);
    process.exit(1);
  }
});
