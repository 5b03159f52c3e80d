// The exported file has no text editor: its policy allows no style that is made at run time.
import { Foreign } from "../parts";
import type { CodeProps } from "./Code";

export function Code({ text }: CodeProps) {
  return <Foreign as="pre" text={text} />;
}

export { Rows as Patch } from "./Rows";
