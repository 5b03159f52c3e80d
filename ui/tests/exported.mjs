// An exported cast, put together from the answers of a server as the program puts it together.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const viewer = fileURLToPath(new URL("../dist/viewer.html", import.meta.url));

export async function exportOf(url, id) {
  const ask = async (path, init) => {
    const answer = await fetch(`${url}/api${path}`, init);
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    return answer.json();
  };
  const { key } = await ask("/session", { method: "POST", body: JSON.stringify({ code: "fixture" }) });
  const headers = { "X-Materia-Key": key };
  const get = (path) => ask(path, { headers });
  const cast = await get(`/casts/${id}`);
  const { items: events } = await get(`/casts/${id}/events?limit=100000`);
  const turns = {};
  for (const event of events)
    if (event.type === "turn.started") turns[event.seq] = await get(`/casts/${id}/turns/${event.seq}`);
  const whys = {};
  for (const socket of cast.graph.sockets)
    whys[socket.id] = await get(`/casts/${id}/nodes/${socket.id}/why`).catch(() => undefined);
  const files = [];
  for (const file of (await get(`/casts/${id}/files`)).items) {
    const answer = await fetch(`${url}/api/casts/${id}/files/${file.path}`, { headers });
    files.push({ ...file, text: await answer.text() });
  }
  return { version: 1, cast, events, turns, cost: await get(`/casts/${id}/cost`), whys, files, stateHash: "c0ffee" };
}

/** Writes the file and gives its address. */
export function writeExport(file, value) {
  const json = JSON.stringify(value).replaceAll("<", "\\u003c");
  const element = `<script type="application/json" id="materia-export">${json}</script>`;
  const page = readFileSync(viewer, "utf8")
    .replace("<!--materia-export-->", () => element)
    .replace(/<!--materia-file \/(\S+)-->/, (_, path) => readFileSync(join(dirname(viewer), path), "utf8"));
  writeFileSync(file, page);
  return pathToFileURL(file).href;
}
