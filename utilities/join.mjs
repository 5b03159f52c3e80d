// Join: waits until every source has sent something, and then hands all of it on together.
//
// The node runs for each arrival and remembers in the state what it has seen; it is satisfied only
// by the arrival that completes the round. The next arrival after that begins a new round. Page
// for authors: README.md.

const UTILITY = "join";
// A complete round is written twice, as `sources` and in the state; with the context that stays below 1 MiB.
const ROUND_BYTES_MAX = 400_000;
const CONTEXT_CHARS_MAX = 32_000;
const SOURCES_MAX = 256;

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
  const awaited = sourcesOf(input.params);
  const key = keyOf(input.params);
  const before = roundBefore(input.state[key], key, input.socketId ?? null);
  const expected = Array.isArray(awaited) ? awaited : null;
  const count = expected?.length ?? awaited;
  const bytesMax = Math.floor(ROUND_BYTES_MAX / count);
  const arrived = new Map(Object.entries(before.arrived));
  const ignored = [];
  for (const envelope of envelopesOf(input.inputs)) {
    const source = sourceOf(envelope, expected);
    if (source === null) ignored.push(envelope.fromNodeId ?? envelope.kind ?? "unknown");
    else arrived.set(source, kept(envelope, arrived.get(source), bytesMax));
  }
  const missing = expected?.filter((source) => !arrived.has(source)) ?? [];
  const complete = expected ? missing.length === 0 : arrived.size >= count;
  const round = {
    socketId: input.socketId ?? null,
    round: before.round,
    complete,
    expected: count,
    missing,
    // In the order in which the author names the sources, not that of arrival.
    arrived: Object.fromEntries(
      (expected ?? [...arrived.keys()].sort()).flatMap((source) =>
        arrived.has(source) ? [[source, arrived.get(source)]] : [],
      ),
    ),
  };
  const sources = complete ? { sources: Object.entries(round.arrived).map(forwarded) } : {};
  return { satisfied: complete, context: describe(round, ignored, key), ...sources, state: { [key]: round } };
}

/** The names of the sources, or how many different ones are awaited. */
function sourcesOf({ sources }) {
  const named =
    Array.isArray(sources) &&
    sources.every((name) => typeof name === "string" && name !== "") &&
    new Set(sources).size === sources.length;
  const amount = named ? sources.length : sources;
  if (!Number.isInteger(amount) || amount < 1 || amount > SOURCES_MAX) {
    throw new Refusal(
      "`params.sources` must name the sockets (or edges) to wait for, each once, or say how many there are; " +
        `at least 1, at most ${SOURCES_MAX}`,
    );
  }
  return sources;
}

/** Where the round is kept. A path splits at dots, so the name must have none. */
function keyOf({ as = "join" }) {
  if (
    typeof as !== "string" ||
    !/^[A-Za-z_][\w-]*$/.test(as) ||
    ["workItems", "satisfied", "__proto__"].includes(as)
  ) {
    throw new Refusal("`params.as` must be the name of a state field: letters, digits, `_` and `-`");
  }
  return as;
}

/** The round that is going on; a new one if there is none or the last is complete. */
function roundBefore(last, key, socketId) {
  if (last === undefined || last === null) return { round: 1, arrived: {} };
  if (!isObject(last) || !isObject(last.arrived) || !Number.isInteger(last.round)) {
    throw new Refusal(
      `\`state.${key}\` is used for something else; give this join another name with \`params.as\``,
    );
  }
  if (last.complete) return { round: last.socketId === socketId ? last.round + 1 : 1, arrived: {} };
  if (last.socketId !== socketId) {
    throw new Refusal(
      `\`state.${key}\` belongs to the join in socket ${last.socketId}; give each join its own \`params.as\``,
    );
  }
  return last;
}

function envelopesOf(inputs = []) {
  if (!Array.isArray(inputs) || !inputs.every(isObject)) {
    throw new Refusal("`inputs` must be the list of envelopes that the turn consumed");
  }
  return inputs;
}

/** The source that an envelope stands for: the socket it comes from, or the edge it crossed. */
function sourceOf({ fromNodeId, edgeId }, expected) {
  if (expected === null) return fromNodeId ?? null;
  return expected.find((name) => name === edgeId) ?? expected.find((name) => name === fromNodeId) ?? null;
}

/** What is remembered of an envelope; a newer one of the same source takes the place of the older. */
function kept(envelope, older, bytesMax) {
  const { payloadId, kind, fromNodeId, ts, message, structured, artifacts, status } = envelope;
  const entry = { payloadId, kind, fromNodeId, ts, message, structured, artifacts, status };
  entry.times =
    older === undefined
      ? 1
      : older.times + (older.payloadId === payloadId && payloadId !== undefined ? 0 : 1);
  if (structured !== undefined && bytes(structured) > bytesMax) {
    delete entry.structured;
    entry.truncated = true;
  }
  const room = bytesMax - (entry.structured === undefined ? 0 : bytes(structured));
  if (typeof message === "string" && bytes(message) > room) {
    entry.message = cutTo(message, room);
    entry.truncated = true;
  }
  return entry;
}

const bytes = (value) => Buffer.byteLength(JSON.stringify(value));

/** The beginning of a text that takes at most so many bytes as JSON. */
function cutTo(text, bytesMax) {
  let [fits, over] = [0, text.length];
  while (over - fits > 1) {
    const middle = Math.floor((fits + over) / 2);
    if (bytes(text.slice(0, middle)) <= bytesMax) fits = middle;
    else over = middle;
  }
  return text.slice(0, fits).toWellFormed();
}

/** What a source sent, for whoever comes next: nothing of it is left out. */
function forwarded([name, entry]) {
  const structured = structureOf(entry) ?? null;
  const verdict = structured?.satisfied;
  return {
    socket: entry.fromNodeId ?? name,
    message: wordsOf(entry) ?? entry.message ?? null,
    satisfied: typeof verdict === "boolean" ? verdict : entry.status?.ok === false ? false : null,
    structured,
    artifacts: entry.artifacts ?? [],
    ...(entry.truncated ? { truncated: true } : {}),
  };
}

/** For whoever comes next: what every source said when the round is complete, before that what is awaited. */
function describe(round, ignored, key) {
  const names = Object.keys(round.arrived);
  const note = ignored.length === 0 ? "" : ` Not a source, left out: ${[...new Set(ignored)].join(", ")}.`;
  if (!round.complete) {
    const open =
      round.missing.length > 0 ? `Waiting for ${round.missing.join(", ")}` : "Waiting for more sources";
    return `${open}: ${names.length} of ${round.expected} have arrived.${note}`;
  }
  const each = Math.floor(CONTEXT_CHARS_MAX / names.length);
  const parts = names.map(
    (name) => `## ${name}\n\n${excerpt(round.arrived[name], each, `state.${key}.arrived`)}`,
  );
  return [...parts, ...(note === "" ? [] : [note.trim()])].join("\n\n");
}

function excerpt(entry, charsMax, place) {
  const said = textOf(entry);
  const verdict = entry.status?.ok === false ? "(not satisfied)\n\n" : "";
  if (said.length > charsMax) return `${verdict}${said.slice(0, charsMax)}\n\n(cut; more is in ${place})`;
  return `${verdict}${said}${entry.truncated ? "\n\n(cut)" : ""}`;
}

/** The object that was sent, by itself or as the text of a handoff. */
function structureOf({ kind, message, structured }) {
  return structured ?? (kind === "handoff" ? parsed(message) : undefined);
}

/** Of an object its context and its work items, as the next agent would see them. */
function wordsOf(entry) {
  const handoff = structureOf(entry);
  const parts = typeof handoff?.context === "string" ? [handoff.context] : [];
  if (Array.isArray(handoff?.workItems) && handoff.workItems.length > 0) {
    parts.push(handoff.workItems.map((item, at) => `${at + 1}. ${item?.title}: ${item?.context}`).join("\n"));
  }
  return parts.length > 0 ? parts.join("\n\n") : undefined;
}

/** Fields of an object that are said in words. */
const SAID = ["context", "satisfied", "workItems"];

/** All that a source sent: its words, its object as JSON where that says more, the names of its artifacts. */
function textOf(entry) {
  const structure = structureOf(entry);
  const words = wordsOf(entry) ?? (structure === undefined || entry.structured ? entry.message : undefined);
  const more =
    entry.structured !== undefined ||
    (isObject(structure) && Object.keys(structure).some((name) => !SAID.includes(name)));
  const parts = [
    ...(words ? [words] : []),
    ...(more ? [fenced(JSON.stringify(structure, null, 2))] : []),
    ...(entry.artifacts ?? []).map(({ kind, name }) => `Artifact ${kind}: ${name}`),
  ];
  return parts.length > 0 ? parts.join("\n\n") : "(no text)";
}

function fenced(json) {
  const fence = json.includes("```") ? "````" : "```";
  return `${fence}json\n${json}\n${fence}`;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

await start(main);
