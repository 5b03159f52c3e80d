// Fields to type into, and to pick from.
import css from "./field.module.css";
import { styled } from "./styled";

export const Input = styled("input", css.field);
export const TextArea = styled("textarea", css.field);
export const Select = styled("select", css.field);
