// Pages that are read from above to below, such as the settings.
import { cx } from "./cx";
import css from "./page.module.css";
import { styled } from "./styled";

export const Page = styled("div", css.page);
export const WidePage = styled("div", cx(css.page, css.wide));
