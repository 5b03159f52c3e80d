// A text or a value, whole: folded where it is long, and unfolded in place.
import { useState } from "react";
import type { Json } from "../api/generated";
import { Button } from "./Button";
import { Code } from "./code";
import { cx } from "./cx";
import { bytes, count } from "./format";
import { CopyButton, Foreign } from "./parts";
import css from "./whole.module.css";

const LINES_FOLDED = 12;
const CHARS_FOLDED = 900;

export function Whole(props: {
  value: Json;
  label: string;
  testid?: string;
  /** A person decides about it: all of it is in the page, with every odd character marked. */
  decides?: boolean;
}) {
  const { value, label, testid, decides } = props;
  const [open, setOpen] = useState(false);
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const lines = text.split("\n").length;
  const long = lines > LINES_FOLDED || text.length > CHARS_FOLDED;
  return (
    <div className={cx(css.whole, long && !open && css.folded)} data-testid={testid}>
      <div role="group" className={css.quote} aria-label={label} tabIndex={0}>
        {open && !decides ? (
          <Code language={typeof value === "string" ? "markdown" : "json"} readOnly label={label} text={text} />
        ) : (
          <Foreign as="pre" text={text} />
        )}
      </div>
      <div className="row sm">
        {long ? (
          <Button look="small" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? "Collapse" : "Show all"}
          </Button>
        ) : null}
        <span className="faint grow">
          {count(lines)} {lines === 1 ? "line" : "lines"}, {bytes(new TextEncoder().encode(text).length)}
        </span>
        <CopyButton text={text} label={`Copy ${label}`} />
      </div>
    </div>
  );
}
