// Makes sure that a pattern stands in .gitignore.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const given = JSON.parse(readFileSync(0, "utf8"));
const path = join(given.cwd, ".gitignore");
const text = existsSync(path) ? readFileSync(path, "utf8") : "";
const changed = !text.split("\n").includes(given.params.pattern);
if (changed) {
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  writeFileSync(path, `${text}${gap}${given.params.pattern}\n`);
}
console.log(JSON.stringify({ state: { hidden: { pattern: given.params.pattern, changed } } }));
