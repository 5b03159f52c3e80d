// What CSS modules would give, checked instead: no rule of a page or part reaches another one, and none is left over.
// - Only `src/styles` is global; all other rules stand in an `@scope`.
// - A rule begins with a name of its own: no other folder that can be around it or within it begins a rule with that name.
// - Each class is in the source of a component that the rule can be for.
// The formatter begins each rule at its own line, and those of the whole file at the first column.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const source = new URL("../src/", import.meta.url).pathname;
const files = readdirSync(source, { recursive: true });
const read = (name) => readFileSync(join(source, name), "utf8");
const sheets = files.filter((name) => name.endsWith(".css"));
const code = files.filter((name) => /\.tsx?$/.test(name) && !name.includes(".test."));
const faults = [];

/** Pages are never within each other; the materia editor is made of parts of the editor. */
const folderOf = (name) => {
  if (name.startsWith("styles")) return "styles";
  const page = /^pages\/([^/]+)/.exec(name)?.[1];
  return page ? `page ${page === "materia" ? "editor" : page.replace(".css", "")}` : name;
};
/** The words of the components that the sheets of a folder can be for: its own, and parts that all pages use. */
const wordsIn = new Map();
const wordsOf = (folder) => {
  const isFor = (name) => !folder.startsWith("page ") || !name.startsWith("pages/") || folderOf(name) === folder;
  if (!wordsIn.has(folder))
    wordsIn.set(
      folder,
      new Set(
        code
          .filter(isFor)
          .map(read)
          .join("\n")
          .match(/[\w-]+/g),
      ),
    );
  return wordsIn.get(folder);
};
const apart = (one, other) => one.startsWith("page ") && other.startsWith("page ");

/** The selectors of a sheet, each with its line. */
function* selectorsOf(name) {
  let begun = "";
  for (const [index, line] of read(name).split("\n").entries()) {
    if (!name.startsWith("styles") && /^\S/.test(line) && !/^(\}|\/\*|\*\/|@scope |@keyframes )/.test(line))
      faults.push(
        `src/${name}:${index + 1}: ${line}\n    is global: write it in an @scope, or in src/styles if every page needs it`,
      );
    begun = /[,{]$/.test(line) ? `${begun} ${line.trim()}` : "";
    if (!line.endsWith("{")) continue;
    const selectors = begun.slice(1, -1).trim();
    begun = "";
    if (selectors.startsWith("@")) continue;
    for (const selector of selectors.split(/,(?![^(]*\))/))
      yield { selector: selector.trim(), at: `src/${name}:${index + 1}` };
  }
}

const rules = sheets.flatMap((name) => [...selectorsOf(name)].map((rule) => ({ ...rule, folder: folderOf(name) })));
/** Who begins a rule with a name. */
const owners = new Map();
for (const rule of rules) {
  const own = rule.selector.replace(/^:scope\S*\s*[>+~]?\s*/, "");
  rule.name = rule.selector.startsWith(":scope") ? undefined : /^[^\s>+~]*?\.([A-Za-z][\w-]*)/.exec(own)?.[1];
  if (rule.name) owners.set(rule.name, (owners.get(rule.name) ?? new Set()).add(rule.folder));
  if (!/react-flow__/.test(rule.selector))
    for (const [, name] of rule.selector.matchAll(/\.([A-Za-z][\w-]*)/g))
      if (!wordsOf(rule.folder).has(name))
        faults.push(`${rule.at}: ${rule.selector}\n    no component has the class ${name}: take the rule away`);
}
for (const { selector, name, folder, at } of rules) {
  if (!name || name.startsWith("react-flow__")) continue;
  const other = [...owners.get(name)].find((one) => one !== folder && !apart(one, folder));
  if (other && folder !== "styles")
    faults.push(`${at}: ${selector}\n    ${name} belongs to ${other}: begin the rule with a class of its own`);
}
if (faults.length > 0) {
  console.error(`Styles:\n  ${faults.join("\n  ")}`);
  process.exit(1);
}
