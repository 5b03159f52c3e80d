// A materia's own colour, as a configuration writes it. It is somebody else's text: only what is plainly a colour counts.

const NAMES: Record<string, string> = {
  amber: "#d0982f",
  blue: "#3f7ad8",
  brown: "#8d6e4b",
  cyan: "#2b9eb3",
  gold: "#c9a227",
  gray: "#8a8f98",
  green: "#2f9e5b",
  grey: "#8a8f98",
  indigo: "#5560c8",
  lime: "#7da52b",
  magenta: "#b0578d",
  orange: "#d9772b",
  pink: "#cf6a9b",
  purple: "#7a5cd0",
  red: "#c9504d",
  rose: "#cf5f78",
  slate: "#6b7685",
  teal: "#2a9487",
  violet: "#8a63d2",
  yellow: "#c7a52a",
};

/** `#rgb`, `#rrggbb`, or a name of the list, also as `materia-color-NAME`; anything else is no colour. */
export function materiaColor(text: unknown): string | null {
  if (typeof text !== "string") return null;
  const word = text.trim().toLowerCase();
  if (/^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/.test(word)) return word;
  const name = word.replace(/^materia-color-/, "");
  return Object.hasOwn(NAMES, name) ? (NAMES[name] ?? null) : null;
}
