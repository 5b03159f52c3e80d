import { type ComponentProps, createElement, type ElementType } from "react";

/** The names of classes in one text; what does not apply is left out. */
export const cx = (...names: (string | false | null | undefined)[]): string => names.filter(Boolean).join(" ");

type Props<T extends ElementType> = ComponentProps<T> & { as?: ElementType; className?: string | undefined };

/** An element with a class of its sheet; who uses it may add others, and make it another element. */
export function styled<T extends ElementType>(usual: T, own: string) {
  return ({ as, className, ...rest }: Props<T>) =>
    createElement<object>(as ?? usual, { className: cx(own, className), ...rest });
}
