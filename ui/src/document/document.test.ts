import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { randomEdit, randomFrom } from "../../tests/random";
import {
  addAfter,
  addSocket,
  at,
  type Change,
  cleanMerge,
  connect,
  copied,
  deleteSockets,
  EMPTY,
  exitEdgeId,
  fits,
  type History,
  insertOnEdge,
  insertOnExit,
  makeLoop,
  merge3,
  moveEdge,
  noted,
  parse,
  paste,
  readFragment,
  readIn,
  redone,
  removeExit,
  renameSocket,
  resolved,
  setEdge,
  setExit,
  setSpots,
  shownText,
  typedInto,
  undone,
  ungroup,
  Writer,
} from "./index";

const root = join(import.meta.dirname, "../../..");
const configs = ["loadouts", "examples", "examples/seeds"].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".json") && !name.endsWith("-script.json"))
    .map((name) => ({ name: `${folder}/${name}`, text: readFileSync(join(root, folder, name), "utf8") })),
);
const shipped = readFileSync(join(root, "loadouts/Full-Auto.json"), "utf8");
const none = () => [];
const read = (text: string, name = "Full-Auto") => readIn(new Writer(text), name);
const valid = (text: string) => parse(text).errors.length === 0;
const edit = (text: string, act: (writer: Writer) => void) => {
  const writer = new Writer(text);
  act(writer);
  expect(parse(writer.text).errors).toEqual([]);
  return writer.text;
};
/** Lines of `after` that are not in `before`, and the other way round. */
const lines = (before: string, after: string) => ({
  gone: before.split("\n").filter((line) => !after.split("\n").includes(line)),
  come: after.split("\n").filter((line) => !before.split("\n").includes(line)),
});

test.each(configs)("$name: opens, and a value set to itself changes no byte", ({ text }) => {
  expect(parse(text).errors).toEqual([]);
  const writer = new Writer(text);
  for (const name of writer.keys(["loadouts"])) {
    const loadout = readIn(writer, name);
    if (loadout.entry) writer.set(at(name, "entry"), loadout.entry);
    for (const socket of loadout.sockets) writer.set(at(name, "sockets", socket.id, "materia"), socket.materia);
  }
  expect(writer.text).toBe(text);
  expect(writer.splices).toEqual([]);
});

test("a socket is added behind the last one, in the way its neighbours are written", () => {
  const text = edit(shipped, (writer) => expect(addSocket(writer, "Full-Auto", "Build")).toBe("Socket-8"));
  expect(lines(shipped, text)).toEqual({
    gone: ['        "Socket-7": { "materia": "Narrate", "edges": [{ "when": "always", "to": "end" }] }'],
    come: [
      '        "Socket-7": { "materia": "Narrate", "edges": [{ "when": "always", "to": "end" }] },',
      '        "Socket-8": { "materia": "Build" }',
    ],
  });
});

test("inserting on an edge keeps the condition on the first half, and stays in the loop", () => {
  const text = edit(shipped, (writer) => insertOnEdge(writer, "Full-Auto", "Socket-5", 0, "Build"));
  const loadout = read(text);
  expect(loadout.sockets.find((one) => one.id === "Socket-5")?.edges[0]).toMatchObject({
    when: "satisfied",
    to: "Socket-8",
  });
  expect(loadout.sockets.find((one) => one.id === "Socket-8")?.edges[0]).toMatchObject({
    when: "always",
    to: "Socket-6",
  });
  expect(loadout.loops[0]?.sockets).toEqual(["Socket-4", "Socket-5", "Socket-8", "Socket-6"]);
});

test("adding after a socket takes over what followed it", () => {
  const text = edit(shipped, (writer) => addAfter(writer, "Full-Auto", "Socket-7", "Build"));
  expect(read(text).sockets.at(-1)?.edges[0]?.to).toBe("end");
  expect(read(text).sockets.find((one) => one.id === "Socket-7")?.edges[0]?.to).toBe("Socket-8");
});

test("renaming changes every place that names the socket, and nothing else", () => {
  const text = edit(
    edit(shipped, (writer) => setSpots(writer, "Full-Auto", { "Socket-6": { x: 1, y: 2 } })),
    (writer) => renameSocket(writer, "Full-Auto", "Socket-6", "keep", none),
  );
  expect(text.replaceAll('"exit:Socket-6:always"', "")).not.toContain("Socket-6");
  expect(text.replaceAll('"keep"', '"Socket-6"')).toBe(
    edit(shipped, (writer) => setSpots(writer, "Full-Auto", { "Socket-6": { x: 1, y: 2 } })),
  );
  const withParams =
    '{"loadouts":{"L":{"entry":"a","sockets":{"a":{"materia":"Join","params":{"sources":["a","b"],"other":"a"}}}}}}';
  const renamed = edit(withParams, (writer) => renameSocket(writer, "L", "a", "z", () => ["sources"]));
  expect(renamed).toContain('"sources":["z","b"],"other":"a"');
});

test("deleting a socket cleans what named it; comments of others stay", () => {
  const text = edit(shipped, (writer) => deleteSockets(writer, "Full-Auto", ["Socket-6"], none));
  const loadout = read(text);
  expect(loadout.loops[0]).toMatchObject({ sockets: ["Socket-4", "Socket-5"], exits: [] });
  expect(loadout.sockets.flatMap((socket) => socket.edges.map((edge) => edge.to))).not.toContain("Socket-6");
  expect(text).toContain("// The default: plan");
  expect(text).not.toContain("What cannot be committed");
  const first = edit(shipped, (writer) => deleteSockets(writer, "Full-Auto", ["Socket-1"], none));
  expect(read(first).entry).toBe("Socket-2");
  const all = edit(shipped, (writer) =>
    deleteSockets(
      writer,
      "Full-Auto",
      read(shipped).sockets.map((socket) => socket.id),
      none,
    ),
  );
  expect(read(all)).toMatchObject({ entry: null, sockets: [], loops: [] });
});

test("deleting a loop removes its exits and nothing of its sockets' edges", () => {
  const text = edit(shipped, (writer) => ungroup(writer, "Full-Auto", "workItemIteration"));
  expect(text).not.toContain("exits");
  expect(text).not.toContain("advance");
  expect(read(text).sockets.map((socket) => socket.edges)).toEqual(read(shipped).sockets.map((socket) => socket.edges));
});

test("editing an exit edge changes loops.<id>.exits and nothing else", () => {
  const id = exitEdgeId("workItemIteration", "exit:Socket-6:always");
  const text = edit(shipped, (writer) => setExit(writer, "Full-Auto", id, { condition: "satisfied", to: "end" }));
  const { gone, come } = lines(shipped, text);
  expect(gone).toHaveLength(1);
  expect(come).toEqual([
    '            { "id": "exit:Socket-6:always", "from": "Socket-6", "condition": "satisfied", "targetSocketId": "end" }',
  ]);
  expect(text).not.toContain("loop-exit:");
});

test("the short form of an exit is changed as what it is, and goes between like any edge", () => {
  const short = `{ "loadouts": { "L": { "entry": "p", "sockets": { "p": { "materia": "P" }, "a": { "materia": "A" } },
    "loops": { "l": { "sockets": ["a"], "exit": { "from": "a", "when": "satisfied" } } } } } }`;
  const id = exitEdgeId("l", "exit:a:satisfied");
  const text = edit(short, (writer) => setExit(writer, "L", id, { condition: "always", to: "p" }));
  expect(read(text, "L").raw.loops).toEqual({ l: { sockets: ["a"], exit: { from: "a", when: "always", to: "p" } } });
  const between = edit(shipped, (writer) => {
    const exit = exitEdgeId("workItemIteration", "exit:Socket-6:always");
    insertOnExit(writer, "Full-Auto", exit, () => addSocket(writer, "Full-Auto", "Build"));
  });
  expect(read(between).loops[0]?.exits[0]?.to).toBe("Socket-8");
  expect(read(between).sockets.at(-1)?.edges[0]?.to).toBe("Socket-7");
  expect(read(between).loops[0]?.sockets).toEqual(["Socket-4", "Socket-5", "Socket-6"]);
  const gone = edit(text, (writer) => removeExit(writer, "L", exitEdgeId("l", "exit:a:always")));
  expect(read(gone, "L").raw.loops).toEqual({ l: { sockets: ["a"] } });
});

test("a loop made from a selection has the shape of the shipped one", () => {
  const open = edit(shipped, (writer) => ungroup(writer, "Full-Auto", "workItemIteration"));
  const text = edit(open, (writer) =>
    makeLoop(writer, "Full-Auto", {
      id: "workItemIteration",
      sockets: ["Socket-4", "Socket-5", "Socket-6"],
      consumes: "Socket-3",
      advance: "satisfied",
      exits: [{ from: "Socket-6", condition: "always", to: "Socket-7" }],
    }),
  );
  expect(read(text).raw.loops).toEqual(read(shipped).raw.loops);
  expect(read(text).sockets[5]?.raw.advance).toEqual({ cursor: "workItemIndex", when: "satisfied" });
});

test("edges are moved with the comments that belong to them", () => {
  const text = `{ "loadouts": { "L": { "sockets": { "a": { "edges": [
    // first
    { "to": "b" }, // one
    // second
    { "to": "c" } // two
  ] } } } } }`;
  expect(
    edit(text, (writer) => moveEdge(writer, "L", "a", 1, 0)),
  ).toBe(`{ "loadouts": { "L": { "sockets": { "a": { "edges": [
    // second
    { "to": "c" }, // two
    // first
    { "to": "b" } // one
  ] } } } } }`);
  const flat = '{"loadouts":{"L":{"sockets":{"a":{"edges":[{"to":"b"},{"to":"c"}]}}}}}';
  expect(edit(flat, (writer) => moveEdge(writer, "L", "a", 0, 1))).toContain('[{"to":"c"},{"to":"b"}]');
});

test("trailing commas, unknown fields, tabs and CRLF survive", () => {
  const text =
    '{\r\n\t"odd": 1.50, // keep\r\n\t"loadouts": {\r\n\t\t"L": {\r\n\t\t\t"entry": "a",\r\n\t\t\t"sockets": {\r\n\t\t\t\t"a": { "materia": "M", "mine": [1e3,], },\r\n\t\t\t},\r\n\t\t},\r\n\t},\r\n}\r\n';
  const added = edit(text, (writer) => void addSocket(writer, "L", "B"));
  expect(added).toContain('"mine": [1e3,], },\r\n\t\t\t\t"Socket-1": { "materia": "B" },\r\n\t\t\t},');
  expect(added).toContain('"odd": 1.50, // keep\r\n');
  expect(edit(added, (writer) => deleteSockets(writer, "L", ["Socket-1"], none))).toBe(text);
});

test("what is typed where lines end with CRLF leaves all other lines as they are", () => {
  const text = '{\r\n  "a": 1,\r\n  "b": 2\r\n}\r\n';
  const shown = shownText(text);
  expect(shown).toBe('{\n  "a": 1,\n  "b": 2\n}\n');
  for (const [typed, wanted] of [
    [shown.replace("2", "23"), text.replace("2", "23")],
    [shown.replace("1,\n", '1,\n  "c": 3,\n'), text.replace("1,\r\n", '1,\r\n  "c": 3,\r\n')],
    [shown.replace('  "a": 1,\n', ""), text.replace('  "a": 1,\r\n', "")],
    ["", ""],
  ] as const) {
    const splice = typedInto(text, typed);
    expect(splice).not.toBe(null);
    if (splice) expect(redone(text, { label: "", splices: [splice] })).toBe(wanted);
  }
  expect(typedInto(text, shown)).toBe(null);
});

test("a line that becomes too long is broken, without spelling anything anew", () => {
  const text = edit(shipped, (writer) => {
    connect(writer, "Full-Auto", "Socket-4", "Socket-7", "always");
    setEdge(writer, "Full-Auto", "Socket-4", 0, "maxTraversals", 4);
  });
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(120);
  expect(read(text).sockets[3]?.edges).toHaveLength(2);
});

test("an empty document becomes one", () => {
  const text = edit("", (writer) => {
    writer.set(at("New"), { sockets: {} });
    addSocket(writer, "New", "Build");
    addAfter(writer, "New", "Socket-1", "Narrate");
  });
  expect(JSON.parse(text)).toEqual({
    loadouts: {
      New: {
        entry: "Socket-1",
        sockets: {
          "Socket-1": { materia: "Build", edges: [{ when: "always", to: "Socket-2" }] },
          "Socket-2": { materia: "Narrate" },
        },
      },
    },
  });
});

test("a copied loop is pasted whole, with new ids and no dangling target", () => {
  const fragment = copied(read(shipped), ["Socket-4", "Socket-5", "Socket-6"]);
  const parsed = readFragment(fragment);
  expect(typeof parsed).not.toBe("string");
  if (typeof parsed === "string") return;
  const text = edit(shipped, (writer) =>
    expect(paste(writer, "Full-Auto", parsed, none)).toEqual(["Socket-8", "Socket-9", "Socket-10"]),
  );
  const loadout = read(text);
  expect(loadout.loops[1]).toMatchObject({
    id: "workItemIteration-2",
    sockets: ["Socket-8", "Socket-9", "Socket-10"],
    consumes: "Socket-3",
    exits: [{ id: "exit:Socket-10:always", from: "Socket-10", to: "Socket-7" }],
  });
  expect(loadout.sockets[9]?.edges.map((edge) => edge.to)).toEqual(["Socket-8", "Socket-8"]);
  // In another loadout, what the fragment does not bring is left out.
  const other = edit('{"loadouts":{"Other":{}}}', (writer) => void paste(writer, "Other", parsed, none));
  expect(read(other, "Other")).toMatchObject({
    entry: "Socket-1",
    loops: [{ consumes: null, exits: [{ to: "end" }] }],
  });
  const known = new Set([...read(other, "Other").sockets.map((one) => one.id), "end"]);
  for (const socket of read(other, "Other").sockets) for (const edge of socket.edges) expect(known).toContain(edge.to);
});

test.each([
  "",
  "hello",
  "[1]",
  "{}",
  '{"sockets":{}}',
  '{"sockets":{"a":1}}',
  '{"sockets":{"a":{}}}',
  '{"sockets":',
  '{"sockets":{"a":{"materia":"B"}},"loops":{"l":{}}}',
])("garbage is refused: %s", (text) => expect(typeof readFragment(text)).toBe("string"));

test("200 seeds: 20 random edits, 20 undos, 20 redos", () => {
  const documents = configs.filter(({ text }) => new Writer(text).keys(["loadouts"]).length > 0);
  for (let seed = 1; seed <= 200; seed += 1) {
    const any = randomFrom(seed);
    const start = documents[seed % documents.length]?.text ?? "";
    const loadout = new Writer(start).keys(["loadouts"])[0] ?? "";
    let [text, history]: [string, History] = [start, EMPTY];
    for (let step = 0; step < 20; step += 1) {
      const writer = new Writer(text);
      const label = randomEdit(writer, loadout, any);
      text = writer.text;
      expect(valid(text), `seed ${seed}, step ${step}: ${label}\n${text}`).toBe(true);
      const now = readIn(writer, loadout);
      const known = new Set([...now.sockets.map((one) => one.id), "end"]);
      for (const socket of now.sockets) for (const edge of socket.edges) expect(known).toContain(edge.to);
      for (const loop of now.loops) {
        for (const id of loop.sockets) expect(known).toContain(id);
        for (const exit of loop.exits) expect(loop.sockets).toContain(exit.from);
      }
      expect(text).not.toContain("loop-exit:");
      history = noted(history, { label, splices: writer.splices });
    }
    const last = text;
    // Through JSON, as it is kept.
    history = JSON.parse(JSON.stringify(history)) as History;
    expect(fits(text, history)).toBe(true);
    const taken: Change[] = [];
    for (const change of history.past.toReversed()) {
      text = undone(text, change);
      taken.push(change);
    }
    expect(text === start, `seed ${seed}: undo`).toBe(true);
    for (const change of taken.toReversed()) text = redone(text, change);
    expect(text === last, `seed ${seed}: redo`).toBe(true);
  }
}, 120_000);

test("two changed one text: apart they are merged, together a person decides", () => {
  const base = "a\nb\nc\nd\ne\n";
  expect(cleanMerge(base, "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n")).toBe("A\nb\nc\nd\nE\n");
  expect(cleanMerge(base, base, "x\n")).toBe("x\n");
  expect(cleanMerge(base, "a\nb\nB\nd\ne\n", "a\nb\nC\nd\ne\n")).toBe(null);
  const parts = merge3(base, "a\nb\nB\nd\ne\n", "a\nb\nC\nd\ne\n");
  expect(resolved(parts, ["yours"])).toBe("a\nb\nB\nd\ne\n");
  expect(resolved(parts, ["theirs"])).toBe("a\nb\nC\nd\ne\n");
  expect(resolved(parts, ["both"])).toBe("a\nb\nB\nC\nd\ne\n");
});
