// A button. It submits no form; `look` says how it differs from a plain one.
import type { ComponentProps } from "react";

export function Button({ look, ...rest }: ComponentProps<"button"> & { look?: string }) {
  return <button type="button" className={look ? `btn ${look}` : "btn"} {...rest} />;
}
