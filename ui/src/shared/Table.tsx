// Tables, facts, findings and boxes to tick, as all pages have them.
import type { ComponentProps, ReactNode } from "react";
import type { Finding } from "../api/generated";
import { cx, styled } from "./cx";
import { Foreign } from "./parts";
import css from "./table.module.css";

/** What stands at the head of a column, how wide it is in pixels (else it shares what is left), and its classes. */
export type Column = [head: ReactNode, width?: number | null, look?: string];

export function Table({
  columns = [],
  className,
  children,
  ...rest
}: ComponentProps<"table"> & { columns?: Column[] }) {
  return (
    <table className={cx(css.tbl, className)} {...rest}>
      {columns.length > 0 ? (
        <>
          <colgroup>
            {columns.map(([, width], place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
              <col key={place} style={width ? { width } : {}} />
            ))}
          </colgroup>
          <thead>
            <tr>
              {columns.map(([head, , look], place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
                <th key={place} className={look}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
        </>
      ) : null}
      {children}
    </table>
  );
}

/** A list of facts. */
export const Facts = styled("dl", css.facts);

/** One line of a list of facts; nothing where nothing is known. */
export function Fact({ name, children, ...rest }: ComponentProps<"dd"> & { name: string }) {
  if (!children) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd {...rest}>{children}</dd>
    </div>
  );
}

interface CheckProps extends Omit<ComponentProps<"input">, "onChange"> {
  onTick: (ticked: boolean) => void;
  testid?: string;
  /** Without a distance of its own. */
  bare?: boolean;
}

/** A box to tick, with its words behind it. */
export function Check({ className, bare, testid, children, onTick, ...rest }: CheckProps) {
  return (
    <label className={bare ? className : cx(css.check, className)}>
      <input type="checkbox" data-testid={testid} onChange={(event) => onTick(event.target.checked)} {...rest} />
      {children}
    </label>
  );
}

type Found = Pick<Finding, "code" | "message" | "help">;

export function Findings({ items, help = false }: { items: Found[]; help?: boolean }) {
  return (
    <ul className={css.findings}>
      {items.map((one) => (
        <li key={`${one.code}${one.message}`}>
          <code>{one.code}</code> <Foreign text={one.message} />
          {help && one.help ? <Foreign as="div" className="faint" text={one.help} /> : null}
        </li>
      ))}
    </ul>
  );
}
