// The frame of every page: a bar at the top, the page below it, and beside both the rail where there is one.
import type { ReactNode } from "react";
import { Boundary } from "./Boundary";
import { cx } from "./cx";
import css from "./shell.module.css";

interface ShellProps {
  rail?: ReactNode;
  top: ReactNode;
  /** A fault of one page is forgotten with it. */
  page?: string;
  children: ReactNode;
  /** What lies over the page. */
  over?: ReactNode;
}

export function Shell({ rail, top, page, children, over }: ShellProps) {
  return (
    <div className={cx(css.shell, !rail && css.file)}>
      {rail}
      <header className={css.top}>{top}</header>
      <main className={css.main} id="main" tabIndex={-1}>
        <Boundary key={page}>{children}</Boundary>
      </main>
      {over}
    </div>
  );
}
