// Commit-Sigil: looks whether the titles of all work items are Conventional Commit titles.
//
// A validator that is a generator: it hands the items on exactly as they came, says whether they
// will do, and names what to correct. It rewrites nothing. Page for authors: README.md.

const UTILITY = "commit-sigil";
const TYPES = ["feat", "fix", "chore", "docs", "style", "refactor", "perf", "test", "build", "ci", "revert"];

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
  const workItems = input.state.workItems ?? input.workItems ?? [];
  if (!Array.isArray(workItems)) throw new Refusal("`state.workItems` must be a list of work items");
  const types = input.params.types ?? TYPES;
  if (!Array.isArray(types) || types.length === 0 || !types.every((type) => /^[A-Za-z][\w-]*$/.test(type))) {
    throw new Refusal('`params.types` must be a list of words such as "feat"');
  }
  const faults = workItems.flatMap((item, index) => {
    const fault = faultOf(item?.title, types);
    return fault === null ? [] : [`Work item ${index}: ${fault}`];
  });
  const fine = workItems.length === 0 ? "No work items to validate." : "All work items validated.";
  return { workItems, satisfied: faults.length === 0, context: faults.join("\n") || fine };
}

/** What is wrong with a title, as a sentence that says how to correct it; null if nothing is. */
export function faultOf(title, types = TYPES) {
  if (typeof title !== "string") return "title must be a string.";
  if (/[\r\n]/.test(title)) return "title must be one line.";
  const head = /^([A-Za-z][\w-]*)(\(([^()]*)\))?!?:(.*)$/.exec(title);
  const examples = `${types
    .slice(0, 4)
    .map((type) => `${type}:`)
    .join(", ")}${types.length > 4 ? ", …" : ""}`;
  if (head === null) return `title must start with type: (${examples}).`;
  const [, type, brackets, scope, rest] = head;
  // The convention asks that upper and lower case be treated alike.
  if (!types.some((known) => known.toLowerCase() === type.toLowerCase())) {
    return `title type "${type}" must be one of ${types.join(", ")}.`;
  }
  if (brackets !== undefined && scope.trim() === "") {
    return `title scope must not be empty; write ${type}(scope): or ${type}:.`;
  }
  if (rest.trim() === "") return `title needs a description after "${type}:".`;
  if (!rest.startsWith(" ")) return `title needs a space after "${type}:".`;
  return null;
}

await start(main);
