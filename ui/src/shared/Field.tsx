// Fields to type into, and to pick from.
import { styled } from "./cx";
import css from "./field.module.css";

export const Input = styled("input", css.field);
export const TextArea = styled("textarea", css.field);
export const Select = styled("select", css.field);
