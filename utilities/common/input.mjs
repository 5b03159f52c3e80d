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
