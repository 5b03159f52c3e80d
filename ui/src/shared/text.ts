// Text that agents, repositories and tools wrote. It is shown as text, and what could deceive is made visible.

// Terminal sequences: CSI, strings (OSC, DCS, APC, PM, SOS) up to their end, single escapes, and the 8-bit forms.
const STRINGS = /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[\s\S]*?(?:\u0007|\u001b\\|\u009c|$)/g;
const CONTROL = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?/g;
const SINGLE = /\u001b[ -/]*[0-~]?/g;
const REST = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** Without terminal sequences and control characters; lines and tabs stay. */
function stripped(text: string): string {
  if (!/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(text)) return text;
  return text
    .replace(STRINGS, "")
    .replace(CONTROL, "")
    .replace(SINGLE, "")
    .replace(/\r\n/g, "\n")
    .replace(/\r/g, "\n")
    .replace(REST, "");
}

/**
 * Others' text as it can be shown: without terminal sequences, and what has no shape as its code. For what is a text by
 * itself; `pieces` marks the codes as such.
 */
export function plain(text: string): string {
  return stripped(text).replace(ODD, (character) => `<${code(character)}>`);
}

function code(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

// Characters without a shape: they change how others are read, or nobody sees them. The same rule as the program's
// (crates/app/src/text/sanitize).
const STRICT = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]/gu;
// What joins or colours an emoji does its work there, in names and prose, but in no command.
const JOINER =
  "(?<=[\\p{Extended_Pictographic}\\ufe0f\\u{1f3fb}-\\u{1f3ff}])\\u200d(?=\\p{Extended_Pictographic})" +
  "|(?<=\\p{Extended_Pictographic})\\ufe0f|(?<=[0-9#*])\\ufe0f(?=\\u20e3)";
const ODD = new RegExp(`(?!${JOINER})${STRICT.source}`, "gu");
const MIXED = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]/gu;

export interface Piece {
  text: string;
  odd: boolean;
}

/**
 * Cuts text where a character should be shown by its number instead. `strict` is for what a person allows to run:
 * there a letter that only looks Latin is shown, too.
 */
export function pieces(text: string, strict = false): Piece[] {
  const clean = stripped(text);
  const latin = /[A-Za-z]/.test(clean);
  const pattern = !strict ? ODD : latin ? new RegExp(`${STRICT.source}|${MIXED.source}`, "gu") : STRICT;
  const out: Piece[] = [];
  let from = 0;
  for (const found of clean.matchAll(pattern)) {
    if (found.index > from) out.push({ text: clean.slice(from, found.index), odd: false });
    const seen = MIXED.test(found[0]) ? `${found[0]} ` : "";
    MIXED.lastIndex = 0;
    out.push({ text: `${seen}${code(found[0])}`, odd: true });
    from = found.index + found[0].length;
  }
  if (from < clean.length) out.push({ text: clean.slice(from), odd: false });
  return out;
}

export function oneLine(text: string, max = 300): string {
  const line = plain(text).replace(/\s+/g, " ").trim();
  return line.length > max ? `${line.slice(0, max - 1)}…` : line;
}

/** The text between two places counted in bytes of UTF-8. */
export function sliceBytes(bytes: Uint8Array, start: number, end: number): string {
  return new TextDecoder().decode(bytes.subarray(start, end));
}

/** A word of a command line, quoted where a shell would change it. */
export function quoted(word: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
