// Fields to type into, and to pick from.
import type { ComponentProps } from "react";
import { cx } from "./cx";
import css from "./field.module.css";

export const Input = ({ className, ...rest }: ComponentProps<"input">) => (
  <input className={cx(css.field, className)} {...rest} />
);
export const TextArea = ({ className, ...rest }: ComponentProps<"textarea">) => (
  <textarea className={cx(css.field, className)} {...rest} />
);
export const Select = ({ className, ...rest }: ComponentProps<"select">) => (
  <select className={cx(css.field, className)} {...rest} />
);
