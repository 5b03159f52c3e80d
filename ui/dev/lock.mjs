// The lock file names packages by version and checksum, never by the address they came from.
import { readFileSync } from "node:fs";

const lock = JSON.parse(readFileSync(new URL("../package-lock.json", import.meta.url), "utf8"));
const faults = [];
for (const [name, entry] of Object.entries(lock.packages)) {
  if (entry.resolved) faults.push(`${name}: has an address`);
  if (name && !entry.integrity && !entry.link && !entry.inBundle) faults.push(`${name}: has no checksum`);
}
if (faults.length > 0) {
  console.error(
    `package-lock.json:\n  ${faults.slice(0, 10).join("\n  ")}\nSet omit-lockfile-registry-resolved (see .npmrc) and run npm install again.`,
  );
  process.exit(1);
}
