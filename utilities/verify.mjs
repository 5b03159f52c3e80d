// Verify: runs a command of `params` and is satisfied if it ends with status 0.
//
// The command is a list: a program and its arguments, started without a shell in the project. How
// its output ends is the context, so that whoever mends it sees what went wrong. Page for authors: README.md.

import { spawn } from "node:child_process";
import { isAbsolute } from "node:path";
import { statSync } from "node:fs";

const UTILITY = "verify";
const END_CHARS_MAX = 2_000;
// How much of the end of a stream is held; more than the answer has of it, for space at the end does not count.
const KEPT_CHARS_MAX = 64_000;

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

async function main(input) {
  const [program, ...words] = commandOf(input.params);
  const cwd = folderOf(input);
  const child = spawn(program, words, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const ends = [child.stdout, child.stderr].map(passOn);
  const { error, status, signal } = await new Promise((resolve) => {
    child.once("error", (error) => resolve({ error }));
    child.once("close", (status, signal) => resolve({ status, signal }));
  });
  if (error) throw new Failed(`\`${program}\` cannot be run: ${error.message}`);
  if (signal) throw new Failed(`\`${program}\` was ended by ${signal}`);
  const said = ends.map((end) => lastOf(end().trimEnd())).filter(Boolean);
  return { satisfied: status === 0, context: said.join("\n") || `exit status ${status}` };
}

/** Passes a stream on to standard error as it comes, where people follow it. Gives how it ends. */
function passOn(stream) {
  let end = "";
  stream.setEncoding("utf8");
  stream.on("data", (text) => {
    end = (end + text).slice(-KEPT_CHARS_MAX);
    // Who writes faster than is read waits.
    if (!process.stderr.write(text)) {
      stream.pause();
      process.stderr.once("drain", () => stream.resume());
    }
  });
  return () => end;
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
function lastOf(text) {
  const characters = Array.from(text.slice(-2 * END_CHARS_MAX));
  return characters.slice(-END_CHARS_MAX).join("");
}

await start(async (input) => {
  try {
    return await main(input);
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    process.stderr.write(`${UTILITY}: ${error.message}\n`);
    process.exit(1);
  }
});
