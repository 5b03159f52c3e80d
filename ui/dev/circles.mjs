// No file of the page imports itself through others, types included: each can be read, tested and moved by itself.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const source = new URL("../src", import.meta.url).pathname;
const files = readdirSync(source, { recursive: true }).filter(
  (name) => /\.tsx?$/.test(name) && !name.includes(".test."),
);
const known = new Set(files);
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"?]*)"/g;

/** The files that a file imports, also those that it loads later. */
function importsOf(name) {
  const text = readFileSync(join(source, name), "utf8");
  return [...text.matchAll(IMPORT)].flatMap(([, path]) => {
    const target = relative(source, join(source, dirname(name), path));
    const found = ["", ".ts", ".tsx", "/index.ts", "/index.tsx"]
      .map((end) => target + end)
      .find((one) => known.has(one));
    return found ? [found] : [];
  });
}

const edges = new Map(files.map((name) => [name, importsOf(name)]));
const circles = [];
const done = new Set();
const way = [];
function walk(name) {
  const began = way.indexOf(name);
  if (began >= 0) {
    circles.push([...way.slice(began), name].join(" → "));
    return;
  }
  if (done.has(name)) return;
  way.push(name);
  for (const next of edges.get(name)) walk(next);
  way.pop();
  done.add(name);
}
files.forEach(walk);
if (![...edges.values()].some((all) => all.length > 0)) throw new Error(`no import was found in ${source}`);
if (circles.length > 0) {
  console.error(`Imports in a circle; move what both need into a file of its own:\n  ${circles.join("\n  ")}`);
  process.exit(1);
}
