// A button. It submits no form; `look` says how it differs from a plain one. And a link that looks like one.
import type { LucideIcon } from "lucide-react";
import type { ComponentProps } from "react";
import css from "./button.module.css";
import { cx } from "./cx";
import { Link } from "./router";

const looks = { primary: css.primary, danger: css.danger, quiet: css.quiet, small: css.small, icon: css.icon };
type Word = keyof typeof looks;
export type Look = Word | `${Word} ${Word}` | `${Word} ${Word} ${Word}`;

export type ButtonProps = ComponentProps<"button"> & {
  look?: Look | undefined;
  icon?: LucideIcon | undefined;
  testid?: string | undefined;
  /** The key that presses it, for the page around it. */
  "data-key"?: string;
};

const classOf = (look: Look | undefined, more: string | undefined) =>
  cx(css.btn, ...(look?.split(" ") ?? []).map((word) => looks[word as Word]), more);

export function Button({ look, icon: Icon, testid, className, children, ...rest }: ButtonProps) {
  return (
    <button type="button" className={classOf(look, className)} data-testid={testid} {...rest}>
      {Icon ? <Icon className="ico" /> : null}
      {children}
    </button>
  );
}

/** A sign to press, with its name in words. */
export function IconButton({ label, ...rest }: ButtonProps & { icon: LucideIcon; label: string }) {
  return <Button look="quiet small icon" aria-label={label} {...rest} />;
}

export function LinkButton({ look, className, ...rest }: ComponentProps<typeof Link> & { look?: Look | undefined }) {
  return <Link className={classOf(look, className)} {...rest} />;
}
