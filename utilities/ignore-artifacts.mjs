// Ignore-Artifacts: makes sure that the cast's artifacts stand in .gitignore.
//
// The file is only ever appended to, in its own style of line ends; what is there stays byte for
// byte. Which folder holds the artifacts follows from `runDir`. Page for authors: README.md.

import { appendFileSync, readFileSync } from "node:fs";
import { basename, dirname, isAbsolute, relative, resolve, sep } from "node:path";

const UTILITY = "ignore-artifacts";
const ARTIFACT_PATTERN = ".materia/";

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
  const cwd = input.cwd ?? process.cwd();
  if (typeof cwd !== "string" || !isAbsolute(cwd)) {
    throw new Refusal("`cwd` must be the absolute path of the project folder");
  }
  const name = input.params.file ?? ".gitignore";
  if (typeof name !== "string" || name === "") throw new Refusal("`params.file` must be a file name");
  const file = resolve(cwd, name);
  // A .gitignore speaks about its own folder, any other ignore file about the project.
  const base = basename(file) === ".gitignore" ? dirname(file) : cwd;
  const patterns = wanted(input, cwd, base);
  const text = read(file);
  const added = patterns.filter((pattern) => !covers(text, pattern));
  if (added.length > 0) {
    try {
      appendFileSync(file, addition(text, added));
    } catch (error) {
      return refused(input, file, error);
    }
  }
  return { state: { artifactIgnore: { ok: true, file, changed: added.length > 0, added } } };
}

/** The patterns that are asked for, each once. */
function wanted(input, cwd, base) {
  const patterns = input.params.patterns ?? artifactPatterns(input.runDir, cwd, base);
  const fine = (pattern) => typeof pattern === "string" && /^[^\r\n\0]*[^\s\0][^\r\n\0]*$/.test(pattern);
  if (!Array.isArray(patterns) || !patterns.every(fine)) {
    throw new Refusal("`params.patterns` must be a list of patterns, each one line of text");
  }
  return [...new Set(patterns)];
}

/**
 * The pattern for the folder around `runDir`. A folder outside the project needs none, and the
 * project itself must not be ignored.
 */
function artifactPatterns(runDir, cwd, base) {
  if (typeof runDir !== "string" || runDir === "") return [ARTIFACT_PATTERN];
  const folder = relative(base, dirname(resolve(cwd, runDir)));
  if (folder === "" || folder === ".." || folder.startsWith(`..${sep}`) || isAbsolute(folder)) return [];
  if (/[\r\n]/.test(folder)) throw new Refusal(`no pattern can name ${JSON.stringify(folder)}`);
  const path = folder
    .split(sep)
    .join("/")
    .replace(/[\\*?[]/g, "\\$&")
    .replace(/^[#!]/, "\\$&");
  return [`${path}/`];
}

function read(file) {
  try {
    // Latin-1 keeps every byte apart, whatever the file's encoding is.
    return readFileSync(file, "latin1");
  } catch (error) {
    if (error.code === "ENOENT") return "";
    throw new Refusal(`cannot read ${file}: ${error.message}`);
  }
}

/** Whether a line of the file says the same: for a folder `x/` also `x`, `/x` and `/x/` do. */
function covers(text, pattern) {
  const lines = text
    .replace(/^\u00ef\u00bb\u00bf/, "")
    .split(/\r?\n/)
    .map((line) => line.trimEnd());
  const bytes = Buffer.from(pattern, "utf8").toString("latin1").trimEnd();
  const bare = bytes.replace(/^\//, "").replace(/\/$/, "");
  const same = bytes.endsWith("/") ? [`${bare}/`, bare, `/${bare}/`, `/${bare}`] : [bytes];
  return same.some((line) => lines.includes(line));
}

function addition(text, patterns) {
  const end = /\r\n/.test(text) ? "\r\n" : "\n";
  const gap = text === "" || text.endsWith("\n") ? "" : end;
  return gap + patterns.map((pattern) => pattern + end).join("");
}

/** In Planning mode the project may not be written, which must not end a planning cast. */
function refused(input, file, error) {
  const complaint = `cannot write ${file}: ${error.message}`;
  const planning = input.globalMode === "PLANNING" && ["EACCES", "EPERM", "EROFS"].includes(error.code);
  if (!planning) throw new Refusal(complaint);
  return {
    complaint,
    state: { artifactIgnore: { ok: false, file, changed: false, added: [], error: complaint } },
  };
}

await start(main);
