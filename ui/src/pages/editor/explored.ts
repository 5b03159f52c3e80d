// The result of an exploration, by the things of the loadout that it names.
import type { Choice, ExploreFinding, ExploreView } from "../../api/generated";
import type { Selected } from "../../document";
import { keyOf, type Marks } from "./views";

export interface Row {
  key: string;
  message: string;
  /** Whether it is more than a turn that can fail or a question that waits. */
  notable: boolean;
  about: Selected[];
  finding: ExploreFinding | null;
  choices: Choice[] | null;
  /** Why Simulate cannot play the history. */
  reason: string;
}

const ORDER = ["race", "stuck", "drops", "itemsLeft", "unset", "waits", "fails"];

/** All that was found, the notable first. */
export function rowsOf(view: ExploreView): Row[] {
  const { explored, walks } = view;
  if (!explored) return [];
  const found = explored.findings.map((finding, index): Row & { rank: number } => ({
    key: `${finding.kind} ${finding.message}`,
    message: finding.message,
    notable: finding.kind !== "fails" && finding.kind !== "waits",
    about: [
      ...[finding.other, finding.socket].flatMap((id) => (id ? [{ kind: "socket" as const, id }] : [])),
      ...(finding.edge ? [{ kind: "edge" as const, id: finding.edge }] : []),
      ...(finding.loop ? [{ kind: "loop" as const, id: finding.loop }] : []),
    ],
    finding,
    choices: walks[index]?.choices ?? null,
    reason: walks[index]?.reason ?? "",
    rank: ORDER.indexOf(finding.kind),
  }));
  const never = (kind: "socket" | "edge", id: string, message: string): Row & { rank: number } => ({
    key: `never ${kind} ${id}`,
    message,
    notable: true,
    about: [{ kind, id }],
    finding: null,
    choices: null,
    reason: "",
    rank: -1,
  });
  // Only a complete exploration knows which sockets no history reaches.
  const unreached = explored.complete
    ? [
        ...explored.unreachedSockets.map((id) => never("socket", id, `no history reaches \`${id}\``)),
        ...explored.unreachedEdges.map((id) => never("edge", id, `no history takes \`${id}\``)),
      ]
    : [];
  return [...unreached, ...found].toSorted((a, b) => a.rank - b.rank);
}

/** Adds what an exploration found to the marks of cards and loops. */
export function withExplored(marks: Map<string, Marks>, rows: Row[]): Map<string, Marks> {
  if (rows.length === 0) return marks;
  const all = new Map(marks);
  for (const row of rows)
    for (const thing of row.about) {
      const key = keyOf(thing);
      const now = all.get(key) ?? { errors: 0, warnings: 0 };
      all.set(key, { ...now, explored: (now.explored ?? 0) + 1, notable: now.notable || row.notable });
    }
  return all;
}

/** The words on lines that an exploration names. */
export function linesOf(rows: Row[]): Map<string, string> {
  return new Map(
    rows.flatMap((row) =>
      row.about.flatMap((thing): [string, string][] =>
        thing.kind === "edge" ? [[thing.id, row.finding ? "can be dropped" : "never taken"]] : [],
      ),
    ),
  );
}

export function summaryOf(view: ExploreView): string {
  const { explored } = view;
  if (!explored) return "The loadout has errors; nothing was explored.";
  const states = `${explored.states.toLocaleString("en")} ${explored.states === 1 ? "state" : "states"}`;
  return explored.complete ? `${states}, all of them.` : `${states}, not all: ${explored.stopped ?? "it stopped"}.`;
}
