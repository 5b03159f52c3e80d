// The real server with its casts on a NATS server, and workers.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { binary, start } from "./editor-server.mjs";

const SPACE = "tests";

/** The program that `scripts/test` installs. */
function nats() {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  const file = process.env.MATERIA_NATS_SERVER ?? join(cache, "materia-tests/nats-server-2.15.1/bin/nats-server");
  if (!existsSync(file))
    throw new Error("nats-server is missing: run `scripts/test`, or set MATERIA_NATS_SERVER to its path");
  return file;
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

async function answers(port) {
  for (;;) {
    const there = await new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
      socket.on("close", () => socket.destroy());
      socket.unref();
    });
    if (there) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A turn that lasts until the file `go` is there. */
const config = {
  activeLoadout: "Hold",
  loadouts: { Hold: { entry: "hold", sockets: { hold: { materia: "Hold" } } } },
  materia: {
    Hold: {
      type: "utility",
      command: ["sh", "-c", "while [ ! -e go ]; do sleep 0.05; done; echo done"],
      parse: "text",
    },
  },
};

export async function startCluster() {
  const folder = mkdtempSync(join(tmpdir(), "materia-nats-"));
  const port = await freePort();
  const file = join(folder, "nats.conf");
  writeFileSync(file, `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${folder}/store" }\n`);
  const broker = spawn(nats(), ["-c", file], { stdio: "ignore" });
  await answers(port);
  const place = { MATERIA_JOURNAL: `nats://127.0.0.1:${port}`, MATERIA_SPACE: SPACE };
  const server = await start(JSON.stringify(config), place);
  const children = [broker];
  const ended = (child, signal) => {
    if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    return gone;
  };
  return {
    server,
    /** Hands a cast to the workers. */
    cast(id, request) {
      const made = server.cli("cast", "--trust", "--detach", "--cast-id", id, request);
      if (made.status !== 0) throw new Error(made.stderr);
    },
    worker(...words) {
      const { project, env } = server;
      const all = ["worker", "--trust-space", SPACE, ...words];
      const child = spawn(binary, all, { cwd: project, env, stdio: "ignore" });
      children.push(child);
      return { stop: () => ended(child, "SIGTERM") };
    },
    /** Lets every cast go on. */
    go: () => writeFileSync(join(server.project, "go"), ""),
    async stop() {
      await server.stop();
      for (const child of children) await ended(child, "SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
