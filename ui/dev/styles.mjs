// Holds the style sheets, and writes the types of their classes to `.types`, where the compiler looks for them (`rootDirs`):
// a component that names a class which no sheet has is a fault of `tsc`.
// - Only `src/styles` is global; all other sheets are CSS modules.
// - Each class of a module is in a component, and each class of `src/styles` in the source; a class in quotes is in a sheet.
// - What a module names as global is a class of `src/styles`, of a module, or of a library.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const source = new URL("../src/", import.meta.url).pathname;
const types = new URL("../.types/", import.meta.url).pathname;
const files = readdirSync(source, { recursive: true });
const sheets = files.filter((name) => name.endsWith(".css"));
const code = files.filter((name) => /\.tsx?$/.test(name) && !name.includes(".test."));
const texts = new Map([...sheets, ...code].map((name) => [name, readFileSync(join(source, name), "utf8")]));
const faults = [];
const OF_LIBRARIES = /^(react-flow|cm-|connectingto$|nopan$)/;

/** The classes of a sheet: its own, and those that it names as global. */
function classesOf(name) {
  const own = new Set();
  const global = new Set();
  const rules = texts.get(name).replace(/\/\*[\s\S]*?\*\//g, "");
  for (const [, selector] of rules.matchAll(/([^{};]+)\{/g)) {
    if (/^\s*@/.test(selector)) continue;
    for (const [, outside, inside] of selector.matchAll(/:global\(\.([\w-]+)\)|\.([A-Za-z_][\w-]*)/g))
      if (outside) global.add(outside);
      else own.add(inside);
  }
  return { own, global };
}
const camel = (name) => name.replace(/-+(\w)/g, (_, letter) => letter.toUpperCase());
/** A sheet and those that it is made of. */
const wholeOf = (name) => [
  name,
  ...[...texts.get(name).matchAll(/@import "(.*?)"/g)].map(([, part]) => join(dirname(name), part)),
];
const modules = sheets.filter((name) => name.endsWith(".module.css"));
const parts = new Set(modules.flatMap((name) => wholeOf(name).slice(1)));
const words = new Set(
  [
    ...code
      .map((name) => texts.get(name))
      .join("\n")
      .matchAll(/[\w-]+/g),
  ].map(([word]) => word),
);
const base = new Set();
for (const name of sheets.filter((one) => !one.endsWith(".module.css"))) {
  if (!name.startsWith("styles/")) faults.push(`src/${name} is global: make it a module, or put it into src/styles`);
  for (const one of classesOf(name).own) {
    base.add(one);
    if (!words.has(one)) faults.push(`src/${name}: no component has the class ${one}: take the rule away`);
  }
}
/** The names that components take from a module, by the module. */
const taken = new Map();
for (const name of code)
  for (const [, as, path] of texts.get(name).matchAll(/import (\w+) from "(\.[^"]*\.module\.css)"/g)) {
    const module = join(dirname(name), path);
    const names = [...texts.get(name).matchAll(new RegExp(`\\b${as}\\.(\\w+)`, "g"))].map(([, one]) => one);
    taken.set(module, new Set([...(taken.get(module) ?? []), ...names]));
  }
rmSync(types, { recursive: true, force: true });
/** All classes of modules, as the page has them: named after their page or part (`vite.config.ts`). */
const scoped = new Set();
for (const name of modules.filter((one) => !parts.has(one))) {
  const own = new Set(wholeOf(name).flatMap((part) => [...classesOf(part).own]));
  const page = /^pages\/(\w+)/.exec(name)?.[1] ?? /(\w+)\.module\.css$/.exec(name)?.[1];
  const place = page === "materia" ? "editor" : page;
  for (const one of own) scoped.add(`${place}_${one}`);
  // The editor of materia is made of parts of the editor: they share their names.
  const takers = place === "editor" ? ["pages/editor/editor.module.css", "pages/materia/materia.module.css"] : [name];
  for (const one of own)
    if (!takers.some((taker) => taken.get(taker)?.has(camel(one))))
      faults.push(`src/${name}: no component has the class ${one}: take the rule away`);
  const file = join(types, name.replace(/\.css$/, ".d.css.ts"));
  mkdirSync(dirname(file), { recursive: true });
  const lines = [...own].map((one) => `  readonly ${camel(one)}: string;\n`);
  writeFileSync(file, `declare const classes: {\n${lines.join("")}};\nexport default classes;\n`);
}
for (const name of modules)
  for (const one of classesOf(name).global)
    if (!base.has(one) && !scoped.has(one) && !OF_LIBRARIES.test(one) && !words.has(one))
      faults.push(`src/${name}: nothing has the global class ${one}`);
const named = new Set([...base, ...modules.flatMap((name) => [...classesOf(name).global])]);
for (const name of code)
  for (const [, list] of texts.get(name).matchAll(/\bclassName="([^"]*)"/g))
    for (const one of list.split(/\s+/))
      if (one && !named.has(one) && !OF_LIBRARIES.test(one))
        faults.push(`src/${name}: no sheet has the class ${one} of ${list}`);
for (const name of code)
  if (/\bclassName=\{`/.test(texts.get(name))) faults.push(`src/${name}: join classes with cx, not in a text`);
if (faults.length > 0) {
  console.error(`Styles:\n  ${faults.join("\n  ")}`);
  process.exit(1);
}
