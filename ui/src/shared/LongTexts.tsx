// The long texts of something that is shown, each read when somebody asks for it.
import { useState } from "react";
import type { Json } from "../api/generated";
import { type LongText, longText } from "../api/texts";
import { useText } from "./ask";
import { Button } from "./Button";
import { bytes } from "./format";
import { plain } from "./text";

export function LongTexts({ value, project }: { value: Json; project: string | null }) {
  return found(value).map((text) => <OneText key={text.hash} text={text} project={project} />);
}

function OneText({ text, project }: { text: LongText; project: string | null }) {
  const [wanted, setWanted] = useState(false);
  const { data } = useText(wanted ? `/blobs/${text.hash}` : null, { project });
  if (data !== undefined) return <pre>{plain(data)}</pre>;
  return (
    <Button look="small" onClick={() => setWanted(true)}>
      Show the text of {bytes(text.bytes)} ({text.hash.slice(0, 12)})
    </Button>
  );
}

function found(value: Json, into = new Map<string, LongText>()): LongText[] {
  const text = longText(value);
  if (text) into.set(text.hash, text);
  else if (value !== null && typeof value === "object") for (const part of Object.values(value)) found(part, into);
  return [...into.values()];
}
