// The page's text editor, loaded when a text is shown in it.
import { later } from "../later";
import { plain } from "../text";
import type { CodeProps } from "./Code";
import { Rows } from "./Rows";

export const Code = later<CodeProps>(
  async () => (await import("./Code")).Code,
  ({ className, text }) => <pre className={className}>{plain(text)}</pre>,
);
/** Two texts as one, with changed lines and the words that changed in them. */
export const Compare = later(async () => (await import("./Compare")).Compare);
/** A patch with its line numbers, and with the words that changed. */
export const Patch = later(async () => (await import("./Patch")).Patch, Rows);
