// Says whether the project lies in a git repository: the verdict decides which edge is taken.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const given = JSON.parse(readFileSync(0, "utf8"));
let folder = given.cwd;
while (!existsSync(join(folder, ".git")) && dirname(folder) !== folder) {
  folder = dirname(folder);
}
const satisfied = existsSync(join(folder, ".git"));
const context = satisfied ? `The repository is ${folder}.` : "There is no git repository here.";
console.log(JSON.stringify({ satisfied, context, state: { git: { found: satisfied } } }));
