// What the tests of the utilities share: a scratch world with its own home, configuration and
// PATH, so that nothing of the machine is seen and nothing of it is touched.
//
// Each utility is copied alone into a folder of its own before it runs: that is how a profile
// holds it, and a utility that needs a second file fails here.

import { spawnSync } from "node:child_process";
import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder that holds the utilities. */
export const UTILITIES = dirname(dirname(fileURLToPath(import.meta.url)));

const JJ_VERSION = "0.45.1";

/** Where a program lies on the PATH of the tests, or null. */
function onPath(name) {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // The next folder may have it.
    }
  }
  return null;
}

const jjFile = process.env.MATERIA_JJ || onPath("jj");

/** For tests that need jj: skipped only where somebody said that there is none. */
export const withJj = { skip: process.env.MATERIA_WITHOUT_JJ === "1" ? "MATERIA_WITHOUT_JJ=1" : false };

/** The jj of the tests; a clear failure if it is missing. */
export function needJj() {
  if (jjFile) return jjFile;
  throw new Error(
    `these tests need jj: install it with \`cargo install --locked jj-cli@${JJ_VERSION}\`, or name one with MATERIA_JJ, ` +
      "or leave its tests out with MATERIA_WITHOUT_JJ=1",
  );
}

/** A scratch world that is removed when the test `t` ends. `tools` are the programs on its PATH. */
export function world(t, ...tools) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "materia-utilities-")));
  t.after(() => rmSync(base, { recursive: true, force: true, maxRetries: 3 }));
  const folder = (name) => {
    mkdirSync(join(base, name), { recursive: true });
    return join(base, name);
  };
  const bin = folder("bin");
  for (const name of tools.filter((name) => name !== "jj")) symlinkSync(onPath(name), join(bin, name));
  if (tools.includes("jj")) symlinkSync(needJj(), join(bin, "jj"));
  writeFileSync(join(base, "jj.toml"), '[user]\nname = "Test"\nemail = "test@example.com"\n');
  writeFileSync(
    join(base, "gitconfig"),
    "[user]\nname = Test\nemail = test@example.com\n[init]\ndefaultBranch = main\n",
  );
  const env = {
    HOME: folder("home"),
    XDG_CONFIG_HOME: folder("home/.config"),
    XDG_STATE_HOME: folder("home/.local/state"),
    XDG_CACHE_HOME: folder("home/.cache"),
    JJ_CONFIG: join(base, "jj.toml"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: join(base, "gitconfig"),
    GIT_CEILING_DIRECTORIES: base,
    PATH: bin,
    LC_ALL: "C.UTF-8",
  };
  return new World(base, env, folder("project"));
}

class World {
  constructor(base, env, project) {
    Object.assign(this, { base, env, project });
  }

  /** Runs a program of the world; its stdout, or a failure of the test. */
  tell(program, ...words) {
    return this.tellIn(this.project, program, ...words);
  }

  tellIn(cwd, program, ...words) {
    const done = spawnSync(join(this.env.PATH, program), words, {
      cwd,
      env: this.env,
      encoding: "utf8",
      timeout: 60_000,
    });
    if (done.status !== 0) throw new Error(`${program} ${words.join(" ")}: ${done.error ?? done.stderr}`);
    return done.stdout;
  }

  write(name, text) {
    mkdirSync(dirname(join(this.project, name)), { recursive: true });
    writeFileSync(join(this.project, name), text);
  }

  /** Puts a jj on PATH that fails for one subcommand and is the real one for all others. */
  breakJj(subcommand, complaint = "broken on purpose") {
    const file = join(this.env.PATH, "jj");
    rmSync(file, { force: true });
    writeFileSync(
      file,
      [
        "#!/bin/sh",
        `case "$*" in '${subcommand}' | '${subcommand} '*) printf 'Error: %s\\n' '${complaint}' >&2; exit 1 ;; esac`,
        `exec '${needJj()}' "$@"`,
        "",
      ].join("\n"),
    );
    chmodSync(file, 0o755);
  }

  /** Makes the jj of the world the real one again. */
  mendJj() {
    rmSync(join(this.env.PATH, "jj"), { force: true });
    symlinkSync(needJj(), join(this.env.PATH, "jj"));
  }

  /** Puts a program on PATH that never ends by itself. */
  hang(name) {
    const file = join(this.env.PATH, name);
    writeFileSync(file, `#!${process.execPath}\nsetInterval(() => {}, 1000);\n`);
    chmodSync(file, 0o755);
  }

  /** Lets utilities run as an ordinary user where the tests run as root. */
  asNobody() {
    if (process.getuid?.() !== 0) return;
    this.who = { uid: 65534, gid: 65534 };
    chmodSync(this.base, 0o755);
  }

  /** Runs a utility with what the runtime would give it; `input` replaces single fields. */
  utility(name, input = {}) {
    const given = {
      cwd: this.project,
      runDir: join(this.project, ".materia", "cast-1"),
      request: "test",
      castId: "cast-1",
      socketId: "Socket-1",
      params: {},
      state: {},
      item: null,
      itemKey: null,
      itemLabel: null,
      cursor: null,
      cursors: {},
      globalMode: "IMPLEMENTATION",
      inputs: [],
      ...input,
    };
    return this.raw(name, JSON.stringify(given), given.cwd);
  }

  /** The same with any text on stdin. */
  raw(name, stdin, cwd = this.project) {
    const alone = join(this.base, "profile", name);
    mkdirSync(alone, { recursive: true });
    copyFileSync(join(UTILITIES, name), join(alone, name));
    const done = spawnSync(process.execPath, [join(alone, name)], {
      ...this.who,
      cwd,
      env: this.env,
      input: stdin,
      encoding: "utf8",
      timeout: 60_000,
    });
    if (done.error) throw done.error;
    const answer = done.stdout === "" ? null : JSON.parse(done.stdout);
    return { status: done.status, answer, stdout: done.stdout, stderr: done.stderr };
  }
}
