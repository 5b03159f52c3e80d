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
