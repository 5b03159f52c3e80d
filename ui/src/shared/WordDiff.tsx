import css from "./diff.module.css";
import { diffWords } from "./differences";
import { plain } from "./text";

export const Ins = ({ text }: { text: string }) => <ins className={css.ins}>{text}</ins>;
export const Del = ({ text }: { text: string }) => <del className={css.del}>{text}</del>;

const EDGE = 160;

/** What both have: where two texts stand side by side, only its edges are shown. */
function Same({ text, whole }: { text: string; whole: boolean }) {
  if (whole || text.length < 4 * EDGE) return text;
  return (
    <>
      {text.slice(0, EDGE)}
      <span className="faint"> … {(text.length - 2 * EDGE).toLocaleString("en")} characters, the same in both … </span>
      {text.slice(-EDGE)}
    </>
  );
}

/** What one text has and the other has not, word by word. */
export function WordDiff(props: { before: string; after: string; side: "both" | "before" | "after" }) {
  const { before, after, side } = props;
  const parts = diffWords(plain(before), plain(after)).filter(
    (part) => side === "both" || part.kind === "same" || part.kind === (side === "after" ? "add" : "del"),
  );
  return (
    <pre>
      {parts.map(({ kind, text }, index) => {
        const Changed = kind === "add" ? Ins : Del;
        return kind === "same" ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other name
          <Same key={index} text={text} whole={side === "both"} />
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other name
          <Changed key={index} text={text} />
        );
      })}
    </pre>
  );
}
