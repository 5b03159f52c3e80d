// Gives the subjects of the newest commits as context for whoever comes next.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

const given = JSON.parse(readFileSync(0, "utf8"));
const words = ["log", `--max-count=${given.params.most}`, "--no-merges", "--format=%s"];
const git = spawnSync("git", words, { cwd: given.cwd, encoding: "utf8" });
const commits = git.status === 0 ? git.stdout.split("\n").filter((line) => line !== "") : [];
const context = commits.length > 0 ? commits.join("\n") : "There are no commits yet.";
console.log(JSON.stringify({ context, state: { commits: commits.length } }));
