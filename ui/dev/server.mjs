// A server of recorded casts, for working on the page and for its tests: `npm run fixtures`.
// It has the addresses and shapes of the real one and decides nothing; `POST /test/*` drives it.
import { randomUUID } from "node:crypto";
import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { transformWithOxc } from "vite";
import { compare } from "./compare.mjs";
import { cost, cut, files, loadCasts, page, stateOf, summary, turn, view } from "./fixture-casts.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "../dist");
const KEY = "fixture-key";
const VERIFIER = "07".repeat(32);

// The page's own hash: the page asks for a proof after a lost connection.
const hashFile = fileURLToPath(new URL("../src/api/blake3.ts", import.meta.url));
const { code: hashCode } = await transformWithOxc(readFileSync(hashFile, "utf8"), hashFile);
const { keyedHash } = await import(`data:text/javascript,${encodeURIComponent(hashCode)}`);
const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};
const policy = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";

export async function startFixtures({ port = 0, live = [], extra = [], delayMs = 0, demo = null, empty = false } = {}) {
  const casts = loadCasts();
  /** Casts that are not there before somebody begins them. */
  const hidden = new Map();
  for (const cast of extra) casts.set(cast.id, { all: cast.events, state: null, ...cast });
  for (const [id, seq] of live) cut(casts.get(id), seq);
  if (empty)
    for (const [id, cast] of casts) {
      hidden.set(id, cast);
      casts.delete(id);
    }
  const commands = [];
  const streams = new Set();
  let faulty = false;

  const json = (res, body, status = 200, type = "application/json") => {
    res.writeHead(status, { "Content-Type": type });
    res.end(JSON.stringify(body));
  };
  const problem = (res, status, code, detail) =>
    json(res, { type: "about:blank", title: code, status, code, detail }, status, "application/problem+json");

  function tell(cast) {
    for (const stream of streams) stream.flush(cast);
  }
  function append(cast, type, data, nodeId) {
    const seq = cast.events.length + 1;
    const now = Date.now();
    const ts = Math.max(now * 1000, cast.events.at(-1).ts + 1);
    cast.events.push({
      seq,
      id: `made-${seq}`,
      runId: cast.id,
      ts,
      wallTime: new Date(now).toISOString(),
      type,
      ...(nodeId ? { nodeId } : {}),
      data,
    });
    tell(cast);
  }
  /** Plays a cut cast on, one event at a time. */
  function play(cast, count, everyMs) {
    return new Promise((resolve) => {
      const step = () => {
        const seq = cast.events.length;
        if (seq >= cast.all.length || count-- <= 0) return resolve();
        const now = Date.now();
        const next = cast.all[seq];
        cast.events.push({
          ...next,
          ts: Math.max(now * 1000, cast.events.at(-1).ts + 1),
          wallTime: new Date(now).toISOString(),
        });
        tell(cast);
        setTimeout(step, everyMs);
      };
      step();
    });
  }

  function act(cast, body) {
    const from = cast.events.length + 1;
    const state = stateOf(cast);
    const over = ["completed", "aborted"].includes(state.status);
    if (over && body.do !== "fork") return { refuse: `the cast has ${state.status}` };
    const node = body.node ?? state.waiting?.node;
    if (body.do === "approve") {
      if (!state.questions[node]) return { refuse: `no turn of \`${node}\` waits for approval` };
      append(cast, "approval.given", { hash: body.hash }, node);
      append(cast, "run.resumed", { cwd: "/home/ada/src/greet", runDir: "" });
    } else if (body.do === "deny")
      append(cast, "approval.denied", { hash: body.hash, reason: body.reason ?? null, route: false }, node);
    else if (body.do === "pause") append(cast, "mode.changed", { value: "INTERACTIVE", reason: "person" });
    else if (body.do === "mode" || body.do === "globalMode")
      append(cast, "mode.changed", { value: body.value, reason: "person" });
    else if (body.do === "say") append(cast, "message.received", { payloadId: `said-${from}`, text: body.text }, node);
    else if (body.do === "budget") {
      append(cast, "budget.changed", { budget: body.budget });
      append(cast, "run.resumed", { cwd: "/home/ada/src/greet", runDir: "" });
    } else if (body.do === "skip") {
      const loop = Object.values(state.loops).find((one) => !body.loop || one.id === body.loop);
      if (!loop) return { refuse: "no loop has an item under way" };
      append(cast, "item.skipped", { loop: loop.id, index: loop.index });
      const index = loop.index + 1;
      append(cast, "cursor.advanced", { index, count: loop.total, exhausted: index >= loop.total, loop: loop.id });
    } else if (body.do === "abort") append(cast, "run.aborted", { reason: "a person ended it" });
    else if (body.do === "fork") {
      const id = body.castId ?? `${cast.id}-fork2`;
      const events = structuredClone(cast.events.slice(0, body.at));
      events[0].data.fork = { castId: cast.id, seq: body.at, hash: "", writtenBy: [] };
      casts.set(id, { ...cast, id, events, all: events, state: null });
      return { castId: id };
    } else append(cast, "run.resumed", { cwd: "/home/ada/src/greet", runDir: "" });
    return { from };
  }

  function inbox() {
    const items = [];
    for (const cast of casts.values()) {
      const state = stateOf(cast);
      if (state.status !== "waiting" || state.waiting.reason === "interactive") continue;
      const node = state.waiting.node;
      const question = state.questions[node];
      const behavior = state.plan.nodes[node]?.behavior;
      const said = cast.events.findLast((event) => event.type === "turn.completed" && event.nodeId === node)?.data
        .output;
      items.push({
        project: "p1",
        castId: cast.id,
        loadout: state.loadout,
        request: state.request,
        reason: state.waiting.reason,
        message: state.waiting.message,
        node,
        since: state.wall,
        ...(question
          ? {
              approval: {
                hash: question.hash,
                runs: behavior?.command ?? ["agent"],
                inputs: cast.events
                  .filter((event) => event.type === "handoff.sent" && event.data.to === node)
                  .map((event) => event.data.preview)
                  .slice(-1),
                writes: "the project",
                routes: state.plan.nodes[node].edges?.map((edge) => `${edge.when} → ${edge.to ?? "end"}`) ?? [],
              },
            }
          : {}),
        ...(state.waiting.reason === "multi_turn" ? { said } : {}),
        next: view(cast).next,
      });
    }
    return items;
  }

  function events(cast, query) {
    let list = cast.events;
    const from = Number(query.get("from") ?? 0);
    const to = Number(query.get("to") ?? Number.MAX_SAFE_INTEGER);
    const type = query.get("type");
    const item = query.get("item");
    const itemOf = (event) => event.data.item ?? cast.events[(event.data.turn ?? 0) - 1]?.data.item;
    list = list.filter((event) => event.seq >= from && event.seq <= to);
    if (type)
      list = list.filter((event) =>
        type.split(",").some((one) => event.type === one || event.type.startsWith(`${one}.`)),
      );
    if (query.get("node")) list = list.filter((event) => event.nodeId === query.get("node"));
    if (item) list = list.filter((event) => itemOf(event) === item);
    if (query.get("text"))
      list = list.filter((event) => JSON.stringify(event).toLowerCase().includes(query.get("text").toLowerCase()));
    if (query.get("order") === "desc") list = list.toReversed();
    const limit = Number(query.get("limit") ?? 1000);
    return { items: list.slice(0, limit), next: list.length > limit ? list[limit].seq : null };
  }

  function stream(req, res, url, only) {
    res.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    res.write(": hello\n\n");
    const watched = only ?? casts.get(url.searchParams.get("cast"));
    const lastId = req.headers["last-event-id"];
    let sent = only && lastId ? Number(lastId) : Number(url.searchParams.get(only ? "from" : "castFrom") ?? 1) - 1;
    const one = {
      res,
      flush(cast) {
        if (!only && cast) res.write(`event: cast\nid: c${Date.now()}\ndata: ${JSON.stringify(summary(cast))}\n\n`);
        if (!watched) return;
        for (const event of watched.events.slice(sent)) {
          res.write(`event: journal\n${only ? `id: ${event.seq}\n` : ""}data: ${JSON.stringify(event)}\n\n`);
          sent = event.seq;
        }
      },
      live(cast, news) {
        if (watched === cast) res.write(`event: live\ndata: ${JSON.stringify(news)}\n\n`);
      },
    };
    one.flush(null);
    streams.add(one);
    req.on("close", () => streams.delete(one));
  }

  async function api(req, res, url) {
    const parts = url.pathname.split("/").slice(2).map(decodeURIComponent);
    const body = req.method === "POST" ? JSON.parse((await text(req)) || "{}") : null;
    if (parts[0] === "health") {
      const nonce = url.searchParams.get("nonce");
      const proof = nonce ? keyedHash(VERIFIER, `${nonce}:${req.socket.localPort}`) : undefined;
      return json(res, { status: "ok", version: "fixtures", proof });
    }
    if (parts[0] === "session")
      return body.code === "used"
        ? problem(res, 401, "unauthorized", "the code was used before")
        : json(res, { key: KEY, verifier: VERIFIER });
    if (req.headers["x-materia-key"] !== KEY)
      return problem(res, 401, "unauthorized", "sign in with a link that the command line prints");
    if (delayMs) await new Promise((resolve) => setTimeout(resolve, delayMs));
    if (parts[0] === "demo") {
      if (!demo) return problem(res, 404, "resolution", "this server has no demo project");
      if (req.method !== "POST") return json(res, { available: true });
      const cast = casts.get(demo) ?? hidden.get(demo);
      casts.set(demo, cast);
      return json(res, summary(cast), 201);
    }
    if (parts[0] === "projects") return json(res, { items: [{ id: "p1", dir: "/home/ada/src/greet", name: "greet" }] });
    if (parts[0] === "stream") return stream(req, res, url);
    if (parts[0] === "inbox") return json(res, { items: inbox() });
    if (parts[0] === "trust") return json(res, { items: [] });
    if (parts[0] === "agents") return json(res, JSON.parse(readFileSync(join(here, "fixtures/doctor.json"), "utf8")));
    if (parts[0] === "materia")
      return json(res, {
        items: Object.entries([...casts.values(), ...hidden.values()][0].all[0].data.plan.nodes).map(([, node]) => ({
          name: node.materia,
          layer: "shipped",
          file: "(shipped)",
        })),
      });
    if (parts[0] === "config")
      return json(res, {
        items: [
          {
            layer: "project",
            file: "materia.json",
            text: '{ "activeLoadout": "Demo" }',
            hash: "f2b01e96",
            editable: true,
          },
        ],
        findings: [],
      });
    if (parts[0] === "loadouts" && !parts[1])
      return json(res, {
        items: ["Demo", "Pair", "Consult"].map((name) => ({
          name,
          layer: "project",
          file: "materia.json",
          active: name === "Demo",
        })),
      });
    if (parts[0] === "loadouts") {
      const file = join(here, "fixtures", `loadout-${parts[1].replace(/[^A-Za-z-]/g, "")}.json`);
      if (!existsSync(file)) return problem(res, 404, "resolution", `no loadout \`${parts[1]}\``);
      return json(res, {
        name: parts[1],
        layer: "project",
        file: "materia.json",
        graph: JSON.parse(readFileSync(file, "utf8")),
        findings: [],
        mayWrite: true,
        beside: [],
      });
    }
    if (parts[0] !== "casts") return problem(res, 404, "usage", "there is nothing at this address");
    if (parts.length === 1 && req.method === "POST") {
      const id = `2026-new-${casts.size}`;
      const source = casts.get("20261115T124651-09a44c");
      const all = structuredClone(source.all);
      all[0].data.request = body.request;
      const cast = { ...source, id, all, events: all.slice(0, 4), state: null };
      casts.set(id, cast);
      cut(cast, 4);
      return json(res, summary(cast), 201);
    }
    if (parts.length === 1) {
      const { status, loadout, text: words } = Object.fromEntries(url.searchParams);
      let items = [...casts.values()]
        .map(summary)
        .sort((a, b) => String(b.startedAt).localeCompare(String(a.startedAt)));
      if (status) items = items.filter((one) => status.split(",").includes(one.status));
      if (loadout) items = items.filter((one) => one.loadout === loadout);
      if (words)
        items = items.filter((one) =>
          `${one.request} ${one.castId} ${one.error?.message ?? ""}`.toLowerCase().includes(words.toLowerCase()),
        );
      return json(res, { items, next: null });
    }
    const cast = casts.get(parts[1]);
    if (!cast) return problem(res, 404, "resolution", `there is no cast \`${parts[1]}\``);
    const at = Number(url.searchParams.get("at") ?? 0);
    if (parts.length === 2) return json(res, view(cast, at));
    if (parts[2] === "events") return json(res, events(cast, url.searchParams));
    if (parts[2] === "stream") return stream(req, res, url, cast);
    if (parts[2] === "turns") {
      const found = turn(cast, Number(parts[3]));
      return found ? json(res, found) : problem(res, 404, "resolution", `no turn began at event ${parts[3]}`);
    }
    const sent = (event) => ({
      payloadId: event.data.payloadId,
      kind: event.data.kind,
      fromNodeId: event.nodeId,
      edgeId: event.data.edgeId,
      message: event.data.preview,
    });
    if (parts[2] === "payloads") {
      const event = cast.events[Number(parts[3]) - 1];
      return event?.type === "handoff.sent"
        ? json(res, sent(event))
        : problem(res, 404, "resolution", `nothing was sent at event ${parts[3]}`);
    }
    if (parts[2] === "nodes" && parts[4] === "given") {
      const payloads = cast.events.filter((event) => event.type === "handoff.sent" && event.data.to === parts[3]);
      const input = { request: stateOf(cast).request, inputs: payloads.slice(-1).map(sent) };
      return json(res, { layers: [], input, payloads: input.inputs });
    }
    if (parts[2] === "nodes")
      return cast.why?.[parts[3]] ? json(res, cast.why[parts[3]]) : problem(res, 404, "resolution", "no such socket");
    if (parts[2] === "compare") {
      const other = casts.get(parts[3]);
      return other ? json(res, compare(cast, other)) : problem(res, 404, "resolution", "there is no such cast");
    }
    if (parts[2] === "cost") return json(res, cost(cast));
    if (parts[2] === "files" && !parts[3])
      return json(res, { items: files(cast).map((file) => ({ path: file.name, bytes: file.content.length })) });
    if (parts[2] === "files") {
      const found = files(cast).find((file) => file.name === parts.slice(3).join("/"));
      if (!found) return problem(res, 404, "resolution", "no such file");
      res.writeHead(200, { "Content-Type": "text/plain; charset=utf-8" });
      return res.end(found.content);
    }
    if (parts[2] === "commands") {
      const key = req.headers["idempotency-key"];
      const known = commands.find((one) => one.key === key);
      if (known) return json(res, known.answer, known.status);
      const done = act(cast, body);
      const status = done.refuse ? 409 : 200;
      const answer = done.refuse
        ? { type: "about:blank", title: "refused", status: 409, code: "refused", detail: done.refuse }
        : { events: done.from ? [done.from, cast.events.length] : [], ...(done.castId ? { castId: done.castId } : {}) };
      commands.push({ key, cast: cast.id, body, answer, status });
      return json(res, answer, status);
    }
    return problem(res, 404, "usage", "there is nothing at this address");
  }

  const server = createServer(async (req, res) => {
    const url = new URL(req.url, "http://127.0.0.1");
    res.setHeader("Content-Security-Policy", policy);
    res.setHeader("X-Frame-Options", "DENY");
    res.setHeader("X-Content-Type-Options", "nosniff");
    try {
      if (faulty) return void req.socket.destroy();
      if (url.pathname.startsWith("/api/")) return await api(req, res, url);
      let file = normalize(join(dist, url.pathname));
      if (!file.startsWith(dist) || !existsSync(file) || statSync(file).isDirectory()) file = join(dist, "index.html");
      if (file.endsWith("index.html")) {
        const nonce = randomUUID();
        res.setHeader("Content-Security-Policy", `${policy}; style-src 'self' 'nonce-${nonce}'`);
        res.writeHead(200, { "Content-Type": "text/html" });
        return void res.end(readFileSync(file, "utf8").replaceAll("MATERIA_NONCE", nonce));
      }
      res.writeHead(200, { "Content-Type": types[extname(file)] ?? "application/octet-stream" });
      createReadStream(file).pipe(res);
    } catch (error) {
      if (!res.headersSent) problem(res, 500, "internal", String(error.stack ?? error));
    }
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  return {
    url,
    link: `${url}/#code=fixture`,
    casts,
    commands,
    page,
    append: (id, ...args) => append(casts.get(id), ...args),
    play: (id, count = 1000, everyMs = 50) => play(casts.get(id), count, everyMs),
    live: (id, news) => {
      for (const one of streams) one.live(casts.get(id), news);
    },
    /** Drops every connection and answers nobody until it is called with false. */
    fault(on) {
      faulty = on;
      if (on) for (const one of streams) one.res.destroy();
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

async function text(req) {
  let all = "";
  for await (const chunk of req) all += chunk;
  return all;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = await startFixtures({
    port: Number(process.env.PORT ?? 7420),
    live: [["20261115T124651-09a44c", 44]],
  });
  console.log(server.link);
  process.stdin.on("data", (line) => server.play("20261115T124651-09a44c", Number(String(line)) || 1, 50));
}
