// Ignore-Artifacts: makes sure that the cast's artifacts stand in .gitignore.
//
// The file is only ever appended to, in its own style of line ends; what is there stays byte for
// byte. No link is followed and nothing outside the project is written. Which folder holds the
// artifacts follows from `runDir`. Page for authors: README.md.

import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

const UTILITY = "ignore-artifacts";
const ARTIFACT_PATTERN = ".materia/";
const GIT_EXCLUDE = ".git/info/exclude";
/** Whether the system lets us name files in a folder that is held open. */
const HANDLES = existsSync("/proc/self/fd");

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

function main(input) {
  const cwd = input.cwd ?? process.cwd();
  if (typeof cwd !== "string" || !isAbsolute(cwd)) {
    throw new Refusal("`cwd` must be the absolute path of the project folder");
  }
  const parts = partsOf(input.params.file ?? ".gitignore");
  const file = join(cwd, ...parts);
  // A .gitignore speaks about its own folder, any other ignore file about the project.
  const base = parts.at(-1) === ".gitignore" ? dirname(file) : cwd;
  const patterns = wanted(input, cwd, base);
  let place = null;
  try {
    place = new Place(cwd, parts);
    const text = place.read();
    const added = patterns.filter((pattern) => !covers(text, pattern));
    if (added.length > 0) place.append(addition(text, added));
    return { state: { artifactIgnore: { ok: true, file, changed: added.length > 0, added } } };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    return refused(input, file, error);
  } finally {
    place?.close();
  }
}

/** The parts of the file's path: downwards from the project, and into `.git` only to its list of ignored files. */
function partsOf(name) {
  if (typeof name !== "string" || name === "") throw new Refusal("`params.file` must be a file name");
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  const inside = !isAbsolute(name) && !name.endsWith("/") && parts.length > 0 && !parts.includes("..");
  if (!inside || /[\u0000-\u001f\u007f]/.test(name)) {
    throw new Refusal(`\`params.file\` must name a file inside the project, not ${JSON.stringify(name)}`);
  }
  const ofGit = parts.some((part) => part.toLowerCase() === ".git");
  if (ofGit && parts.join("/") !== GIT_EXCLUDE) {
    throw new Refusal(`\`params.file\`: of \`.git\` only \`${GIT_EXCLUDE}\` can be written, not ${JSON.stringify(name)}`);
  }
  return parts;
}

/**
 * The file, found from the project folder part by part, following no link. Each folder is held open
 * and the next part is looked for in it, so that nobody can put a link in its place meanwhile.
 */
class Place {
  constructor(cwd, parts) {
    this.names = [...parts];
    this.name = this.names.pop();
    this.folder = openSync(cwd, O_RDONLY | O_DIRECTORY);
    this.path = cwd;
    for (const part of this.names) {
      const next = this.open(part, O_RDONLY | O_DIRECTORY);
      closeSync(this.folder);
      [this.folder, this.path] = [next, join(this.path, part)];
    }
  }

  /** The path of a name in the open folder; without `/proc` by the path that it had. */
  at(name) {
    return HANDLES ? `/proc/self/fd/${this.folder}/${name}` : join(this.path, name);
  }

  open(name, how, mode) {
    try {
      return openSync(this.at(name), how | O_NOFOLLOW | O_NONBLOCK, mode);
    } catch (error) {
      const link = lstatSync(this.at(name), { throwIfNoEntry: false })?.isSymbolicLink();
      throw link ? new Link(`${join(this.path, name)} is a symbolic link, which is not followed`) : error;
    }
  }

  /** What the file holds; nothing where there is none. */
  read() {
    let file;
    try {
      file = this.open(this.name, O_RDONLY);
      this.found = fstatSync(file);
      if (!this.found.isFile()) throw new Refusal(`cannot read ${join(this.path, this.name)}: it is no file`);
      // Latin-1 keeps every byte apart, whatever the file's encoding is.
      this.text = readFileSync(file, "latin1");
      return this.text;
    } catch (error) {
      if (error.code === "ENOENT") return "";
      if (error instanceof Refusal || error instanceof Link) throw error;
      throw new Refusal(`cannot read ${join(this.path, this.name)}: ${error.message}`);
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  append(text) {
    // A file that has a second name elsewhere is not written to: a copy takes its place.
    if (this.found?.nlink > 1) return this.replace(text);
    const how = this.found ? O_WRONLY | O_APPEND : O_WRONLY | O_CREAT | O_EXCL;
    const file = this.open(this.name, how, 0o666);
    try {
      const now = fstatSync(file);
      if (this.found && (now.ino !== this.found.ino || now.dev !== this.found.dev || now.nlink > 1)) {
        throw new Link(`${join(this.path, this.name)} was changed meanwhile`);
      }
      writeFileSync(file, text);
    } finally {
      closeSync(file);
    }
  }

  replace(text) {
    const beside = `${this.name}.${process.pid}.new`;
    const file = this.open(beside, O_WRONLY | O_CREAT | O_EXCL, 0o600);
    try {
      writeFileSync(file, Buffer.concat([Buffer.from(this.text, "latin1"), Buffer.from(text)]));
      fchmodSync(file, this.found.mode & 0o777);
      renameSync(this.at(beside), this.at(this.name));
    } catch (error) {
      unlinkSync(this.at(beside));
      throw error;
    } finally {
      closeSync(file);
    }
  }

  close() {
    closeSync(this.folder);
  }
}

/** A link is in the way: the file is left alone, and the cast goes on. */
class Link extends Error {}

/** The patterns that are asked for, each once. */
function wanted(input, cwd, base) {
  const patterns = input.params.patterns ?? artifactPatterns(input.runDir, cwd, base);
  const fine = (pattern) => typeof pattern === "string" && /^[^\u0000-\u0008\u000a-\u001f\u007f]+$/.test(pattern) && pattern.trim() !== "";
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
  if (/[\u0000-\u001f\u007f]/.test(folder)) throw new Refusal(`no pattern can name ${JSON.stringify(folder)}`);
  return [`${escaped(folder.split(sep).join("/"))}/`];
}

/** A path as a pattern that means nothing but it, to git and to whoever reads the line as something else. */
function escaped(path) {
  return path.replace(/[ -,:-@[-^`{-~]/g, "\\$&");
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
  // Other backslashes than ours may mean the same.
  const plain = (line) => line.replace(/\\([^\\*?[#!])/g, "$1");
  const known = new Set([...lines, ...lines.map(plain)]);
  return same.some((line) => known.has(line) || known.has(plain(line)));
}

function addition(text, patterns) {
  const end = /\r\n/.test(text) ? "\r\n" : "\n";
  const gap = text === "" || text.endsWith("\n") ? "" : end;
  return gap + patterns.map((pattern) => pattern + end).join("");
}

/** What may not be written, in Planning mode or behind a link, must not end a cast. */
function refused(input, file, error) {
  const complaint = `cannot write ${file}: ${error.message}`;
  const planning = input.globalMode === "PLANNING" && ["EACCES", "EPERM", "EROFS"].includes(error.code);
  if (!planning && !(error instanceof Link)) throw new Refusal(complaint);
  return {
    complaint,
    state: { artifactIgnore: { ok: false, file, changed: false, added: [], error: complaint } },
  };
}

await start(main);
