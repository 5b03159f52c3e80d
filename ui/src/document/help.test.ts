import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Json } from "../api/generated";
import { fixFor, proposals, readIn, Writer } from "./index";

const shipped = readFileSync(join(import.meta.dirname, "../../../loadouts/Full-Auto.json"), "utf8");
const loadout = readIn(new Writer(shipped), "Full-Auto");
const names = { loadout, materia: ["Build", "Narrate"] };
const labels = (text: string, mark = "¦") =>
  proposals(text.replace(mark, ""), text.indexOf(mark), names).map((one) => one.label);
const fixed = (text: string, code: string, pointer: string) => {
  const writer = new Writer(text);
  const fix = fixFor({ code, severity: "error", message: "", pointer }, writer.value([]));
  fix?.apply(writer);
  return { label: fix?.label, value: writer.value([]) as Json };
};

test("fields and words come from the schema, names from the document", () => {
  expect(labels('{"loadouts":{"L":{"sockets":{"a":{"¦"}}}}}')).toContain("onFailure");
  expect(labels('{"loadouts":{"L":{"sockets":{"a":{"edges":[{"when":"¦"}]}}}}}')).toEqual([
    "always",
    "satisfied",
    "not_satisfied",
  ]);
  expect(labels('{"loadouts":{"L":{"sockets":{"a":{"edges":[{"when":"not¦"}]}}}}}')).toEqual(["not_satisfied"]);
  expect(labels('{"loadouts":{"L":{"sockets":{"a":{"edges":[{"to":"¦"}]}}}}}')).toContain("Socket-7");
  expect(labels('{"loadouts":{"L":{"sockets":{"a":{"materia":"¦"}}}}}')).toEqual(["Build", "Narrate"]);
  expect(labels('{"loadouts":{"L":{"sockets":{"a":{"parse": ¦}}}}}')).toEqual(["text", "json"]);
  expect(labels("{¦}")).toContain("activeLoadout");
});

test("a proposal replaces what was typed", () => {
  const text = '{"loadouts":{"L":{"sockets":{"a":{"parse":"js"}}}}}';
  const [one] = proposals(text, text.indexOf('js"') + 2, names);
  expect(one && text.slice(0, one.from) + one.insert + text.slice(one.to)).toBe(text.replace('"js"', '"json"'));
});

test("fixes: the edge is put before the one that always matches; the socket is parsed", () => {
  const text = '{"loadouts":{"L":{"sockets":{"a":{"edges":[{"to":"b"},{"when":"satisfied","to":"c"}]}}}}}';
  expect(fixed(text, "graph::unreachable-edge", "/loadouts/L/sockets/a/edges/1")).toEqual({
    label: "Put it first",
    value: { loadouts: { L: { sockets: { a: { edges: [{ when: "satisfied", to: "c" }, { to: "b" }] } } } } },
  });
  expect(fixed(text, "graph::needs-json", "/loadouts/L/sockets/a/edges/1/when").value).toMatchObject({
    loadouts: { L: { sockets: { a: { parse: "json" } } } },
  });
  expect(fixFor({ code: "nothing::known", severity: "error", message: "", pointer: "/loadouts/L" }, {})).toBe(null);
});
