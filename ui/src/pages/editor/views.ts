// What is seen of a loadout: findings by the thing they are about, words on lines, matches of a search.
import type { Finding, Walk } from "../../api/generated";
import { edgeById, type Loadout, type MateriaInfo, object, type Selected, thingAt } from "../../document";
import { EDITOR, type Sizes } from "../../graph/layout";
import type { EditorState, Subject } from "./state";

export interface Marks {
  errors: number;
  warnings: number;
  /** How many findings of an exploration are about it, and whether one of them is notable. */
  explored?: number;
  notable?: boolean;
}
export const rank = (finding: Finding): number =>
  finding.severity === "error" ? 0 : finding.severity === "warning" ? 1 : 2;

/** The findings of the text that is shown, worst first; those about what is open come before others. */
export function findingsOf(findings: Finding[], file: string, subject: Subject): Finding[] {
  const own = (finding: Finding) => {
    const [, top, name] = (finding.pointer ?? "").split("/");
    const field = subject.kind === "loadout" ? "loadouts" : "materia";
    return top === field && name === subject.name.replaceAll("~", "~0").replaceAll("/", "~1") ? 0 : 1;
  };
  // Where cards stand is the editor's own; that the program has no use for it is no news.
  const ours = (finding: Finding) => finding.code === "document::no-effect" && finding.pointer?.endsWith("/layout");
  return findings
    .filter((finding) => !ours(finding))
    .filter((finding) => !finding.file || finding.file === file || finding.file.endsWith(`/${file}`))
    .toSorted((a, b) => rank(a) - rank(b) || own(a) - own(b) || (a.line ?? 0) - (b.line ?? 0));
}

export const keyOf = (one: Selected): string => (one.kind === "loadout" ? "loadout" : `${one.kind}:${one.id}`);

export function marksOf(loadout: Loadout, findings: Finding[]): Map<string, Marks> {
  const marks = new Map<string, Marks>();
  const add = (key: string, finding: Finding) => {
    const now = marks.get(key) ?? { errors: 0, warnings: 0 };
    if (rank(finding) === 0) now.errors += 1;
    else if (rank(finding) === 1) now.warnings += 1;
    marks.set(key, now);
  };
  for (const finding of findings) {
    if (rank(finding) > 1) continue;
    const thing = thingAt(loadout, finding.pointer);
    if (!thing) continue;
    add(keyOf(thing), finding);
    // A finding about an edge is also seen on the card that it leaves.
    const socket = thing.kind === "edge" ? edgeById(loadout, thing.id)?.socket.id : undefined;
    if (socket) add(`socket:${socket}`, finding);
  }
  return marks;
}

/** The words on a line besides its condition. */
export function edgeNote(raw: Record<string, unknown>): string {
  const parts: string[] = [];
  const where = object((raw.where ?? null) as never);
  if (typeof where.path === "string") {
    const last = where.path.split(".").at(-1);
    if (where.exists === false) parts.push(`if ${last} is missing`);
    else if (where.exists === true) parts.push(`if ${last} is there`);
    else if ("notEquals" in where) parts.push(`if ${last} is not ${JSON.stringify(where.notEquals)}`);
    else parts.push(`if ${last} is ${JSON.stringify(where.equals ?? null)}`);
  }
  if (typeof raw.maxTraversals === "number") parts.push(`at most ${raw.maxTraversals}`);
  if (typeof raw.deliveryMode === "string" && raw.deliveryMode !== "queue")
    parts.push(
      raw.deliveryMode === "debounce" ? `debounce ${raw.debounceMs ?? "?"} ms` : raw.deliveryMode.replaceAll("_", " "),
    );
  return parts.join(", ");
}

/** How wide the words on a line are, about. */
export const wordsWidth = (text: string): number => (text ? text.length * 5.9 + 12 : 0);

/** Between cards there is room for the longest words on a line that leads on. */
export function sizesFor(loadout: Loadout | null): Sizes {
  const members = loadout?.sockets ?? [];
  const place = new Map(members.map((socket, index) => [socket.id, index]));
  const widths = members.flatMap((socket, index) =>
    socket.edges
      .filter((edge) => (place.get(edge.to) ?? Number.POSITIVE_INFINITY) > index)
      .map((edge) => Math.max(wordsWidth(edge.when === "always" ? "" : edge.when), wordsWidth(edgeNote(edge.raw)))),
  );
  const gap = Math.min(150, Math.max(EDITOR.gap, ...widths.map((width) => width + 22)));
  return { ...EDITOR, gap: Math.round(gap / 8) * 8 };
}

/** What a card says at its lower right. */
export function cardNote(raw: Record<string, unknown>, info: MateriaInfo | undefined): string {
  if (raw.foreach) return "for each element";
  if (raw.trigger === "scheduled") return "scheduled";
  if (raw.trigger === "manual_only") return "by hand";
  if (!info) return "unknown materia";
  return info.kind === "utility" ? "utility" : String(raw.parse ?? info.parse);
}

/** The sockets whose id, materia, words or commands have what is looked for. */
export function matches(state: Pick<EditorState, "loadout" | "materia">, words: string): Set<string> | null {
  const wanted = words.trim().toLowerCase();
  if (!wanted || !state.loadout) return null;
  const found = new Set<string>();
  for (const socket of state.loadout.sockets) {
    const info = state.materia.get(socket.materia);
    const text = `${socket.id} ${JSON.stringify(socket.raw)} ${info?.label ?? ""} ${JSON.stringify(info?.value ?? {})}`;
    if (text.toLowerCase().includes(wanted)) found.add(socket.id);
  }
  return found;
}

/** What a walk went over, and where it is. */
export interface Walked {
  sockets: Set<string>;
  edges: Set<string>;
  now: Set<string>;
}
export function walkedBy(walk: Walk | null): Walked | null {
  if (!walk) return null;
  return {
    sockets: new Set(walk.steps.map((step) => step.socket)),
    edges: new Set(walk.steps.flatMap((step) => step.routes.flatMap((route) => route.edge ?? []))),
    now: new Set(walk.asks.map((one) => one.socket)),
  };
}
