// Pages that are read from above to below, such as the settings.
import { cx, styled } from "./cx";
import css from "./page.module.css";

export const Page = styled("div", css.page);
export const WidePage = styled("div", cx(css.page, css.wide));
