// A page that is read from above to below, such as the settings.
import type { ComponentProps } from "react";
import { cx } from "./cx";
import css from "./page.module.css";

export function Page({ wide, className, ...rest }: ComponentProps<"div"> & { wide?: boolean }) {
  return <div className={cx(css.page, wide && css.wide, className)} {...rest} />;
}
