// The long texts of something that is shown, each read when somebody asks for it.
import { useState } from "react";
import type { Json } from "../api/generated";
import { type LongText, longText, readText } from "../api/texts";
import { bytes } from "./format";
import { noteRefusal } from "./live";
import { plain } from "./text";

export function LongTexts({ value, project }: { value: Json; project: string | null }) {
  const [read, setRead] = useState<Record<string, string>>({});
  const texts = found(value);
  if (texts.length === 0) return null;
  const show = (text: LongText) =>
    readText(text, project).then((whole) => setRead((before) => ({ ...before, [text.hash]: whole })), noteRefusal);
  return (
    <>
      {texts.map((text) =>
        read[text.hash] === undefined ? (
          <button type="button" key={text.hash} className="btn small" onClick={() => void show(text)}>
            Show the text of {bytes(text.bytes)} ({text.hash.slice(0, 12)})
          </button>
        ) : (
          <pre key={text.hash} className="text">
            {plain(read[text.hash] ?? "")}
          </pre>
        ),
      )}
    </>
  );
}

function found(value: Json, into = new Map<string, LongText>()): LongText[] {
  const text = longText(value);
  if (text) into.set(text.hash, text);
  else if (value !== null && typeof value === "object") for (const part of Object.values(value)) found(part, into);
  return [...into.values()];
}
