// What can be done about a finding with one press. A fix is an edit like any other: it can be taken back.
import type { Finding, Json } from "../api/generated";
import { object, text } from "./loadout";
import { pointerParts, pointerPath } from "./places";
import { at, readIn } from "./sockets";
import type { Path, Writer } from "./writer";

export interface Fix {
  label: string;
  apply: (writer: Writer) => void;
}

export function fixFor(finding: Finding, document: Json | undefined): Fix | null {
  const path = pointerPath(document, finding.pointer);
  const [top, name, field, id] = pointerParts(finding.pointer);
  const make = fixes[finding.code];
  if (!make || (top !== "loadouts" && top !== "materia") || name === undefined) return null;
  return make({ loadout: name, field: field ?? "", id: id ?? "", path });
}

interface Place {
  loadout: string;
  /** `sockets` or `loops`. */
  field: string;
  id: string;
  path: Path;
}
type Maker = (place: Place) => Fix | null;

const on =
  (field: "sockets" | "loops") =>
  (label: string, apply: (writer: Writer, place: Place) => void): Maker =>
  (place) =>
    place.field === field && place.id ? { label, apply: (writer) => apply(writer, place) } : null;
const [onSocket, onLoop] = [on("sockets"), on("loops")];

/** The first numbers of a path cut it down to the entry of a list that it lies in. */
function entryOf(path: Path): Path | null {
  const place = path.findLastIndex((part) => typeof part === "number");
  return place < 0 ? null : path.slice(0, place + 1);
}

const beginAtFirst: Maker = ({ loadout }) => ({
  label: "Begin at the first socket",
  apply: (writer) => {
    const first = readIn(writer, loadout).sockets[0];
    if (first) writer.set(at(loadout, "entry"), first.id, true);
  },
});
const removeEntry =
  (label: string): Maker =>
  ({ path }) => {
    const entry = entryOf(path);
    return entry ? { label, apply: (writer) => writer.remove(entry) } : null;
  };
const removeField =
  (label: string): Maker =>
  ({ path }) =>
    path.length > 2 ? { label, apply: (writer) => writer.remove(path) } : null;

const fixes: Record<string, Maker> = {
  "graph::needs-json": onSocket("Parse as json", (writer, { loadout, id }) =>
    writer.set(at(loadout, "sockets", id, "parse"), "json"),
  ),
  "generator::needs-json": ({ loadout, field, id }) => {
    const owner = field === "sockets" ? at(loadout, "sockets", id) : ["materia", loadout];
    return { label: "Parse as json", apply: (writer) => writer.set([...owner, "parse"], "json") };
  },
  "graph::unreachable-edge": ({ path }) => {
    const entry = entryOf(path);
    const list = entry?.slice(0, -1);
    const index = entry?.at(-1);
    if (!list || typeof index !== "number") return null;
    return {
      label: "Put it first",
      apply: (writer) => {
        const edges = writer.value(list);
        if (!Array.isArray(edges)) return;
        const open = edges.findIndex(
          (edge) => !object(edge).where && (text(object(edge).when) || "always") === "always",
        );
        const own = text(object(edges[index]).when);
        const same = edges.findIndex((edge) => text(object(edge).when) === own && !object(edge).where);
        const to = [open, same].filter((place) => place >= 0 && place < index);
        if (own && own !== "always" && to.length > 0) writer.move(list, index, Math.min(...to));
        else writer.remove([...list, index]);
      },
    };
  },
  "graph::no-entry": beginAtFirst,
  "graph::unknown-entry": beginAtFirst,
  "graph::unknown-target": removeEntry("Remove the edge"),
  "graph::may-not-match": onSocket("End there", (writer, { loadout, id }) => {
    const edges = at(loadout, "sockets", id, "edges");
    writer.insert(edges, writer.size(edges), { when: "always", to: "end" });
  }),
  "graph::false-completes": onSocket("Fail then", (writer, { loadout, id }) => {
    const edges = at(loadout, "sockets", id, "edges");
    writer.insert(edges, writer.size(edges), { when: "not_satisfied", to: "fail" });
  }),
  "graph::unbounded-cycle": ({ path }) => {
    const entry = entryOf(path);
    return entry ? { label: "At most 3 times", apply: (writer) => writer.set([...entry, "maxTraversals"], 3) } : null;
  },
  "loop::advance-outside": onSocket("Remove it", (writer, { loadout, id }) =>
    writer.remove(at(loadout, "sockets", id, "advance")),
  ),
  "loop::never-advances": onLoop("Let the last socket advance the loop", (writer, { loadout, id }) => {
    const last = readIn(writer, loadout)
      .loops.find((one) => one.id === id)
      ?.sockets.at(-1);
    if (last) writer.set(at(loadout, "sockets", last, "advance"), { cursor: "workItemIndex", when: "always" });
  }),
  "loop::bad-output": onLoop("Write workItems", (writer, { loadout, id }) =>
    writer.set(at(loadout, "loops", id, "consumes", "output"), "workItems"),
  ),
  "loop::unknown-generator": onLoop("Consume from nothing", (writer, { loadout, id }) =>
    writer.remove(at(loadout, "loops", id, "consumes")),
  ),
  "loop::exit-target": removeEntry("Remove the exit"),
  "loop::exit-from": removeEntry("Remove the exit"),
  "loop::unreachable-exit": removeEntry("Remove the exit"),
  "loop::unknown-member": removeEntry("Take it out"),
  "loop::no-sockets": onLoop("Remove the loop", (writer, { loadout, id }) => writer.remove(at(loadout, "loops", id))),
  "document::unknown-field": removeField("Remove the field"),
  "document::no-effect": removeField("Remove the field"),
  "delivery::no-effect": removeField("Remove the field"),
  "trigger::no-effect": removeField("Remove the field"),
};
