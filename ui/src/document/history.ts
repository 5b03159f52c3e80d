// What was done to a document, so that it can be taken back and done again, also after a reload.
import type { Splice } from "./writer";

export interface Change {
  /** What was done, in words: "add Build". */
  label: string;
  splices: Splice[];
  /** Changes that follow each other with the same mark are one: the letters of a word. */
  mark?: string;
}
export interface History {
  past: Change[];
  future: Change[];
}

export const EMPTY: History = { past: [], future: [] };
const MOST_CHANGES = 1000;
const MOST_CHARS = 1_200_000;

export function redone(text: string, change: Change): string {
  return change.splices.reduce((now, { at, del, ins }) => {
    if (now.slice(at, at + del.length) !== del) throw new Error(`the change "${change.label}" is not of this text`);
    return now.slice(0, at) + ins + now.slice(at + del.length);
  }, text);
}

export function undone(text: string, change: Change): string {
  return change.splices.reduceRight((now, { at, del, ins }) => {
    if (now.slice(at, at + ins.length) !== ins) throw new Error(`the change "${change.label}" is not of this text`);
    return now.slice(0, at) + del + now.slice(at + ins.length);
  }, text);
}

const chars = (change: Change) => change.splices.reduce((sum, { del, ins }) => sum + del.length + ins.length + 40, 0);

export function noted(history: History, change: Change): History {
  const last = history.past.at(-1);
  const joined = change.mark && last?.mark === change.mark;
  const past = joined
    ? [...history.past.slice(0, -1), { ...last, splices: joinedSplices(last.splices, change.splices) }]
    : [...history.past, change];
  let total = past.reduce((sum, one) => sum + chars(one), 0);
  while (past.length > 1 && (past.length > MOST_CHANGES || total > MOST_CHARS)) total -= chars(past.shift() as Change);
  return { past, future: [] };
}

/** Letters typed one behind the other become one splice. */
function joinedSplices(a: Splice[], b: Splice[]): Splice[] {
  const [last, next] = [a.at(-1), b[0]];
  if (b.length === 1 && last && next && next.del === "" && next.at === last.at + last.ins.length)
    return [...a.slice(0, -1), { ...last, ins: last.ins + next.ins }];
  return [...a, ...b];
}

/** The one range in which two texts differ. */
export function difference(before: string, after: string): Splice | null {
  if (before === after) return null;
  let head = 0;
  const most = Math.min(before.length, after.length);
  while (head < most && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  return { at: head, del: before.slice(head, before.length - tail), ins: after.slice(head, after.length - tail) };
}

/** A text as a browser shows it: every line ends with a line feed alone. */
export const shownText = (text: string): string => text.replace(/\r\n?/g, "\n");

/** What was typed into a text that is shown with other line ends than it has. The rest of it stays as it was. */
export function typedInto(text: string, typed: string): Splice | null {
  const splice = difference(shownText(text), typed);
  if (!splice || !text.includes("\r")) return splice;
  /** Where a place of what is shown is in the text. */
  const real = (shown: number) => {
    let at = 0;
    for (let seen = 0; seen < shown; seen += 1) at += text[at] === "\r" && text[at + 1] === "\n" ? 2 : 1;
    return at;
  };
  const [from, to] = [real(splice.at), real(splice.at + splice.del.length)];
  const ins = text.includes("\r\n") ? splice.ins.replaceAll("\n", "\r\n") : splice.ins;
  return { at: from, del: text.slice(from, to), ins };
}

/** Whether a history that was kept belongs to a text: all of it can be taken back and done again. */
export function fits(text: string, history: unknown): history is History {
  try {
    const { past, future } = history as History;
    let now = text;
    for (const change of past.toReversed()) now = undone(now, change);
    for (const change of past) now = redone(now, change);
    for (const change of future.toReversed()) now = redone(now, change);
    return true;
  } catch {
    return false;
  }
}
