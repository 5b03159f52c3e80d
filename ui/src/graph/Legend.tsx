// What the lines of a graph mean.
import { cx } from "../shared/cx";
import css from "./graph.module.css";

const kinds = {
  always: "always",
  satisfied: "satisfied",
  not_satisfied: "not satisfied",
  feed: "items",
  exit: "loop exit",
  lit: "started this turn",
} as const;
const own = { feed: css.feed, lit: css.lit } as Record<string, string>;

export function Legend() {
  return (Object.keys(kinds) as (keyof typeof kinds)[]).map((kind) => (
    <span key={kind}>
      <svg width="26" height="8" aria-hidden="true">
        {kind === "exit" ? <path className={cx(css.ln, "exit wide")} d="M0 4h26" /> : null}
        <path
          className={kind === "exit" ? cx(css.ln, css.hollow, "exit") : cx(css.ln, own[kind] ?? kind)}
          d="M0 4h26"
        />
        {kind === "satisfied" ? <circle className={css.bead} cx="13" cy="4" r="3" /> : null}
      </svg>
      {kinds[kind]}
    </span>
  ));
}
