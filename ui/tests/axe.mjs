// Accessibility, by axe-core: nothing that it finds may be there, in either theme.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// The findings in both themes. The page is left in the theme that it was in.
export async function violations(page) {
  const now = await page.evaluate(() =>
    globalThis.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
  );
  const found = [];
  for (const scheme of [now === "dark" ? "light" : "dark", now]) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const one of await findings(page)) found.push(`${scheme}: ${one}`);
  }
  return found;
}

async function findings(page) {
  // Colours that are still changing would be measured half way.
  await page.evaluate(() =>
    Promise.allSettled(
      document
        .getAnimations()
        .filter((one) => one instanceof CSSTransition)
        .map((one) => one.finished),
    ),
  );
  // Through the debugger, not as a script element: the page's policy would rightly refuse one.
  await page.evaluate(source);
  return page.evaluate(async () => {
    const result = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return result.violations.map(
      (one) =>
        `${one.id}: ${one.nodes
          .slice(0, 3)
          .map((node) => `${node.html.slice(0, 160)} [${node.any[0]?.message ?? ""}]`)
          .join(" | ")}`,
    );
  });
}
