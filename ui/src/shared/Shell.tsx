// The frame of every page: a bar at the top, the page below it, and beside both the rail where there is one.
import { cx, styled } from "./cx";
import css from "./shell.module.css";

export const Shell = styled("div", css.shell);
export const FileShell = styled("div", cx(css.shell, css.file));
export const Top = styled("header", css.top);
export const Main = styled("main", css.main);
