import { blake3 } from "@noble/hashes/blake3.js";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";

/** The proof of a server: BLAKE3 of a text under a key of 64 hexadecimal digits, in hexadecimal. */
export function keyedHash(key: string, text: string): string {
  return bytesToHex(blake3(utf8ToBytes(text), { key: hexToBytes(key) }));
}
