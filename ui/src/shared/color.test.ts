import { expect, test } from "vitest";
import { materiaColor } from "./color";

test("colours are hexadecimal or of the list; nothing else gets into a style", () => {
  expect(materiaColor("#3F7ad8")).toBe("#3f7ad8");
  expect(materiaColor(" #abc ")).toBe("#abc");
  expect(materiaColor("Teal")).toBe(materiaColor("materia-color-teal"));
  expect(materiaColor("teal")).toMatch(/^#/);
  for (const bad of [
    "",
    "#12",
    "#12345",
    "#1234567",
    "url(https://evil.test/x)",
    "red;background:url(x)",
    "var(--ink-1)",
    "__proto__",
    "constructor",
    "expression(1)",
    7,
    null,
    undefined,
  ])
    expect(materiaColor(bad)).toBeNull();
});
