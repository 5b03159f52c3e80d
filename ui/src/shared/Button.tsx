// A button. It submits no form; `look` says how it differs from a plain one.
import type { LucideIcon } from "lucide-react";
import type { ComponentProps } from "react";

export type ButtonProps = ComponentProps<"button"> & {
  look?: string | undefined;
  icon?: LucideIcon | undefined;
  testid?: string | undefined;
  /** The key that presses it, for the page around it. */
  "data-key"?: string;
};

export function Button({ look, icon: Icon, testid, children, ...rest }: ButtonProps) {
  return (
    <button type="button" className={look ? `btn ${look}` : "btn"} data-testid={testid} {...rest}>
      {Icon ? <Icon className="ico" /> : null}
      {children}
    </button>
  );
}

/** A sign to press, with its name in words. */
export function IconButton({ label, ...rest }: ButtonProps & { icon: LucideIcon; label: string }) {
  return <Button look="quiet small icon" aria-label={label} {...rest} />;
}
