// The real server with a project for the editor's tests. MATERIA names the binary; otherwise the one that cargo built.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve as absolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { open } from "./browser.mjs";

const repository = fileURLToPath(new URL("../..", import.meta.url));
export const binary = process.env.MATERIA ?? join(repository, "target/debug/materia");
export const skip = existsSync(binary) ? false : "the program is not built; `cargo build` makes it";
export const shipped = (name) => readFileSync(join(repository, "loadouts", `${name}.json`), "utf8");
export const example = (name) => readFileSync(join(repository, "examples", name), "utf8");

/** The shipped default as a project's own loadout, under another name: F2. */
export function mine(name = "Mine") {
  return shipped("Full-Auto")
    .replace('"activeLoadout": "Full-Auto"', `"activeLoadout": "${name}"`)
    .replace('"Full-Auto": {', `"${name}": {`);
}

export async function start(text = mine(), more = {}) {
  const root = mkdtempSync(join(tmpdir(), "materia-editor-"));
  const project = join(root, "project");
  mkdirSync(project);
  const file = join(project, "materia.json");
  if (text !== null) writeFileSync(file, text);
  // MATERIA_PAGE_DIR=dist shows the page that was just made instead of the one in the binary.
  const made = process.env.MATERIA_PAGE_DIR ? { MATERIA_PAGE_DIR: absolute(process.env.MATERIA_PAGE_DIR) } : {};
  const env = {
    ...process.env,
    ...made,
    MATERIA_PROFILE_DIR: join(root, "profile"),
    MATERIA_STATE_DIR: join(root, "state"),
    ...more,
  };
  let child = null;
  let url = null;
  const one = {
    project,
    file,
    env,
    read: () => readFileSync(file, "utf8"),
    write: (now) => writeFileSync(file, now),
    get url() {
      return url;
    },
    async up() {
      const listen = url ? new URL(url).host : "127.0.0.1:0";
      child = spawn(binary, ["serve", "--listen", listen, "--test-hooks"], {
        cwd: project,
        env,
        stdio: ["ignore", "ignore", "pipe"],
      });
      let said = "";
      url = await new Promise((resolve, reject) => {
        child.stderr.on("data", (chunk) => {
          said += chunk;
          const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
          if (found) resolve(found[0]);
        });
        child.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
      });
    },
    /** Ends the server in the hardest way. */
    async kill() {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await gone;
    },
    token: () => JSON.parse(readFileSync(join(env.MATERIA_STATE_DIR, "server.json"), "utf8")).token,
    async ask(path, body, method = body ? "POST" : "GET", headers = {}) {
      const answer = await fetch(`${url}/api${path}`, {
        method,
        headers: { Authorization: `Bearer ${one.token()}`, "Content-Type": "application/json", ...headers },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      return { status: answer.status, body: await answer.json() };
    },
    async projectId() {
      return (await one.ask("/projects")).body.items[0].id;
    },
    async page(browser, path, options) {
      const { hash } = new URL((await one.ask("/codes", {})).body.url);
      return open(browser, `${url}${path}${hash}`, options);
    },
    /** What the command line says. */
    cli(...words) {
      return one.cliIn(project, ...words);
    },
    cliIn(cwd, ...words) {
      return spawnSync(binary, words, { cwd, env, encoding: "utf8", maxBuffer: 1 << 28 });
    },
    /** Has one more folder served, as somebody does who types `materia ui` there. */
    async also(name, configuration) {
      const dir = join(root, name);
      mkdirSync(dir);
      writeFileSync(join(dir, "materia.json"), configuration);
      const link = one.cliIn(dir, "ui", "--no-open").stdout.trim();
      const { items } = (await one.ask("/projects")).body;
      return { dir, link, id: items.find((item) => item.dir === dir).id };
    },
    async stop() {
      if (child && child.exitCode === null && child.signalCode === null) await one.kill();
      rmSync(root, { recursive: true, force: true });
    },
  };
  await one.up();
  return one;
}
