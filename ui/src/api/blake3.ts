// BLAKE3 with a key, of a text of at most 64 bytes: that is one block. A page checks the server's proof with it.

const IV = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a];
const ORDER = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
const BLOCK_BYTES = 64;
/** The first and last block of the only chunk, the root, under a key. */
const FLAGS = 1 | 2 | 8 | 16;

/** The hash of a text under a key of 64 hexadecimal digits, in hexadecimal. */
export function keyedHash(key: string, text: string): string {
  const bytes = new TextEncoder().encode(text);
  if (!/^[0-9a-f]{64}$/.test(key) || bytes.length > BLOCK_BYTES) throw new Error("not a key, or too long a text");
  const block = new Uint8Array(BLOCK_BYTES);
  block.set(bytes);
  const keyBytes = Uint8Array.from(key.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  let words = numbers(block);
  const state = Uint32Array.from([...numbers(keyBytes), ...IV, 0, 0, bytes.length, FLAGS]);
  for (let round = 0; round < 7; round += 1) {
    mixAll(state, words);
    words = ORDER.map((place) => words[place] ?? 0);
  }
  let out = "";
  for (let index = 0; index < 8; index += 1) {
    const word = ((state[index] ?? 0) ^ (state[index + 8] ?? 0)) >>> 0;
    for (let shift = 0; shift < 32; shift += 8) out += ((word >>> shift) & 255).toString(16).padStart(2, "0");
  }
  return out;
}

/** Bytes as numbers of four, the lowest first. */
function numbers(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer);
  return Array.from({ length: bytes.length / 4 }, (_, index) => view.getUint32(index * 4, true));
}

function mixAll(state: Uint32Array, words: number[]): void {
  const at = (index: number) => words[index] ?? 0;
  for (let column = 0; column < 4; column += 1)
    mix(state, [column, column + 4, column + 8, column + 12], at(2 * column), at(2 * column + 1));
  for (let row = 0; row < 4; row += 1) {
    const places: Places = [row, 4 + ((row + 1) % 4), 8 + ((row + 2) % 4), 12 + ((row + 3) % 4)];
    mix(state, places, at(8 + 2 * row), at(9 + 2 * row));
  }
}

type Places = [number, number, number, number];

function mix(state: Uint32Array, [a, b, c, d]: Places, one: number, other: number): void {
  const of = (index: number) => state[index] ?? 0;
  const turned = (value: number, by: number) => (value >>> by) | (value << (32 - by));
  for (const [word, first, second] of [
    [one, 16, 12],
    [other, 8, 7],
  ] as const) {
    state[a] = of(a) + of(b) + word;
    state[d] = turned(of(d) ^ of(a), first);
    state[c] = of(c) + of(d);
    state[b] = turned(of(b) ^ of(c), second);
  }
}
