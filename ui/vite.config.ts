import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { build, type Plugin } from "vite";
import { defineConfig } from "vitest/config";

// The page is one set of static files under /assets. Nothing is inlined: the server's content policy
// allows scripts, styles and workers of its own origin only.
export default defineConfig({
  plugins: [react(), viewer()],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000,
    reportCompressedSize: false,
  },
  worker: { format: "es" },
  server: { proxy: { "/api": { target: process.env.MATERIA_URL ?? "http://127.0.0.1:7420", changeOrigin: true } } },
  test: { environment: "node", include: ["src/**/*.test.{ts,tsx}"] },
});

/** Where the program puts the cast: it replaces this line, which is there once. */
const PLACE = "<!--materia-export-->";

/**
 * Makes `viewer.html` beside `index.html`: the cast page as one file, with its script and its style inside, which opens
 * from a disk. `materia export` needs this file and no other of `dist`. It replaces the one line
 * `<!--materia-export-->` by
 * `<script type="application/json" id="materia-export">JSON</script>`, where every `<` of the JSON is written `\u003c`.
 * The file's own policy allows the script and the style by their hashes and nothing else; the JSON is data and needs no
 * leave. So the program must change nothing but that line.
 */
function viewer(): Plugin {
  let folder = "dist";
  let root = ".";
  return {
    name: "materia-viewer",
    apply: "build",
    configResolved(config) {
      root = config.root;
      folder = join(config.root, config.build.outDir);
      if (config.build.outDir.startsWith("/")) folder = config.build.outDir;
    },
    async closeBundle() {
      const made = await build({
        root,
        configFile: false,
        logLevel: "warn",
        plugins: [react()],
        publicDir: false,
        resolve: {
          alias: [{ find: /^\.\/elk-engine$/, replacement: join(root, "src/graph/elk-engine.file.ts") }],
        },
        build: {
          write: false,
          target: "es2022",
          cssCodeSplit: false,
          modulePreload: false,
          reportCompressedSize: false,
          chunkSizeWarningLimit: 4000,
          rolldownOptions: { input: join(root, "src/viewer/main.tsx"), output: { codeSplitting: false } },
        },
      });
      const files = (Array.isArray(made) ? made : [made]).flatMap((one) => ("output" in one ? one.output : []));
      const scripts = files.flatMap((file) => (file.type === "chunk" ? [file.code] : []));
      const styles = files.flatMap((file) => (file.type === "asset" ? [String(file.source)] : []));
      if (scripts.length !== 1 || styles.length !== 1 || files.length !== 2)
        throw new Error(`the viewer must be one script and one style, not ${files.map((file) => file.fileName)}`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "viewer.html"), oneFile(scripts[0] ?? "", styles[0] ?? ""));
    },
  };
}

function oneFile(code: string, style: string): string {
  // Neither may end its own element; in a string or a pattern the backslash changes nothing.
  const script = code.replaceAll(/<\/(script)/gi, "<\\/$1");
  if (script.includes("<!--")) throw new Error("the script would begin a comment of the page");
  if (/<\/style/i.test(style)) throw new Error("the style would end its own element");
  const hash = (text: string) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
  const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`;
  const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="referrer" content="no-referrer" />
    <title>Materia: an exported cast</title>
    <style>${style}</style>
  </head>
  <body>
    <div id="root"></div>
${PLACE}
    <script type="module">${script}</script>
  </body>
</html>
`;
  if (page.split(PLACE).length !== 2) throw new Error(`${PLACE} must be in the viewer once`);
  return page;
}
