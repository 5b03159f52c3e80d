// A cast that the program exported, and the same with other content.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const viewer = fileURLToPath(new URL("../dist/viewer.html", import.meta.url));

/** The cast as the program exports it, and the file that it is in. */
export function exportOf(server, id) {
  const file = join(server.project, "..", `${id}.html`);
  server.run("export", id, "--output", file, "--force");
  const [, json] = /<script type="application\/json" id="materia-export">(.*?)<\/script>/s.exec(
    readFileSync(file, "utf8"),
  );
  return { value: JSON.parse(json), address: pathToFileURL(file).href };
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
