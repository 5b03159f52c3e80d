import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { lezer } from "@lezer/generator/rollup";
import react from "@vitejs/plugin-react";
import { build, type CSSOptions, type Plugin, type Rolldown } from "vite";
import { defineConfig } from "vitest/config";

/** Browsers that know `light-dark()`. */
const BROWSERS = ["chrome125", "firefox128", "safari17.5"];

/** A class is named after its page or part, so that the sheets of one page share their names: `cast_dock`, `graph_card`. */
const css: CSSOptions = {
  modules: {
    localsConvention: "camelCaseOnly",
    generateScopedName: (name, file) => {
      const [, page, part] = /\/src\/(?:pages\/(\w+)|.*?(\w+)\.module\.css)/.exec(file) ?? [];
      return `${page === "materia" ? "editor" : (page ?? part)}_${name}`;
    },
  },
};

// The page is one set of static files under /assets. Nothing is inlined: the server's content policy
// allows scripts, styles and workers of its own origin only.
export default defineConfig({
  plugins: [lezer(), react(), budget(), viewer()],
  css,
  build: {
    target: "es2022",
    cssTarget: BROWSERS,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000,
    reportCompressedSize: false,
  },
  worker: { format: "es" },
  server: { proxy: { "/api": { target: process.env.MATERIA_URL ?? "http://127.0.0.1:7420", changeOrigin: true } } },
  test: {
    environment: "node",
    alias: [{ find: /^\.\/elk-engine$/, replacement: join(import.meta.dirname, "src/testing/elk-engine.ts") }],
    css: { include: /.+/, modules: { classNameStrategy: "non-scoped" } },
    include: ["src/**/*.test.{ts,tsx}"],
    testTimeout: 60_000,
  },
});

/** The most that the first view may weigh, compressed: the shell and the list of casts, without fonts. */
const FIRST_VIEW_MAX = 150_000;
const FIRST_PAGE = "src/pages/casts/index.tsx";

/** Fails the build when the first view is too heavy. */
function budget(): Plugin {
  return {
    name: "materia-budget",
    apply: "build",
    generateBundle(_, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
      const first = chunks.filter((chunk) => chunk.isEntry || chunk.facadeModuleId?.endsWith(FIRST_PAGE));
      if (first.length !== 2) throw new Error(`the build has no chunk of its own for ${FIRST_PAGE}`);
      const names = new Set<string>();
      const add = (chunk: Rolldown.OutputChunk) => {
        if (names.has(chunk.fileName)) return;
        names.add(chunk.fileName);
        for (const style of chunk.viteMetadata?.importedCss ?? []) names.add(style);
        for (const other of chunks) if (chunk.imports.includes(other.fileName)) add(other);
      };
      first.forEach(add);
      const size = (name: string) => {
        const file = bundle[name];
        return file ? gzipSync(file.type === "chunk" ? file.code : file.source).length : 0;
      };
      const all = [...names].reduce((sum, name) => sum + size(name), 0);
      this.info(`first view: ${all.toLocaleString("en")} bytes compressed, of ${FIRST_VIEW_MAX.toLocaleString("en")}`);
      if (all > FIRST_VIEW_MAX) {
        const list = [...names].map((name) => `  ${size(name)} ${name}`).join("\n");
        throw new Error(`the first view has ${all} bytes compressed; at most ${FIRST_VIEW_MAX} are allowed\n${list}`);
      }
    },
  };
}

/** Where the program puts the cast: it replaces this line, which is there once. */
const PLACE = "<!--materia-export-->";

/**
 * Makes `viewer.html` beside `index.html`: the cast page as one file, with its script and its style inside, which opens
 * from a disk. `README.md` says how the program fills in the cast and Elk. The policy of the file allows the scripts and
 * the style by their hashes and nothing else, so the program must change nothing else.
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
        css,
        publicDir: false,
        resolve: {
          alias: [
            { find: /^\.\/elk-engine$/, replacement: join(root, "src/graph/elk-engine.file.ts") },
            { find: /^\.\/code$/, replacement: join(root, "src/shared/code/file.tsx") },
          ],
        },
        build: {
          write: false,
          target: "es2022",
          cssTarget: BROWSERS,
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
      const elk = readdirSync(join(folder, "assets")).filter((name) => name.startsWith("elk-worker"));
      if (elk.length !== 1) throw new Error(`Elk must be there once, not as ${elk}`);
      const engine = { path: `/assets/${elk[0]}`, code: readFileSync(join(folder, "assets", elk[0] ?? ""), "utf8") };
      writeFileSync(join(folder, "viewer.html"), oneFile(scripts[0] ?? "", styles[0] ?? "", engine));
    },
  };
}

function oneFile(code: string, style: string, engine: { path: string; code: string }): string {
  // Neither may end its own element; in a string or a pattern the backslash changes nothing.
  const script = code.replaceAll(/<\/(script)/gi, "<\\/$1");
  if (/<!--|<\/script/i.test(engine.code)) throw new Error("Elk would end its own element");
  if (script.includes("<!--")) throw new Error("the script would begin a comment of the page");
  if (/<\/style/i.test(style)) throw new Error("the style would end its own element");
  const hash = (text: string) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
  // Elk is a script for a worker, and leaves its class in `module` where there is none.
  const elk = (inside: string) =>
    `var materiaElk={exports:{}};(function(module,exports){${inside}\n})(materiaElk,materiaElk.exports)`;
  const policy = `default-src 'none'; script-src ${hash(script)} ${hash(elk(engine.code))}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`;
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
    <script>${elk(`<!--materia-file ${engine.path}-->`)}</script>
    <script type="module">${script}</script>
  </body>
</html>
`;
  if (page.split(PLACE).length !== 2) throw new Error(`${PLACE} must be in the viewer once`);
  return page;
}
