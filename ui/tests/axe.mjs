// Accessibility, by axe-core: nothing that it finds may be there.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export async function violations(page) {
  // Through the debugger, not as a script element: the page's policy would rightly refuse one.
  await page.evaluate(source);
  const found = await page.evaluate(async () => {
    const result = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return result.violations.map(
      (one) =>
        `${one.id}: ${one.nodes
          .slice(0, 3)
          .map((node) => `${node.html.slice(0, 160)} [${node.any[0]?.message ?? ""}]`)
          .join(" | ")}`,
    );
  });
  return found;
}
