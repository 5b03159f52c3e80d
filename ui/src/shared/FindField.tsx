// The field above a list that is found by words and walked with the arrow keys.
import type { ComponentProps } from "react";
import { styled } from "./cx";
import { Input } from "./Field";
import css from "./find.module.css";

interface FindFieldProps extends ComponentProps<"input"> {
  /** How many are found, and which of them is marked. */
  count: number;
  at: number;
  setAt: (at: number) => void;
  onWords: (words: string) => void;
  onTake: () => void;
}

export function FindField({ count, at, setAt, onWords, onTake, ...rest }: FindFieldProps) {
  return (
    <Input
      data-autofocus
      {...rest}
      onChange={(event) => {
        onWords(event.target.value);
        setAt(0);
      }}
      onKeyDown={(event) => {
        if (event.key === "ArrowDown") setAt(Math.min(at + 1, count - 1));
        else if (event.key === "ArrowUp") setAt(Math.max(at - 1, 0));
        else if (event.key === "Enter") onTake();
        else return;
        event.preventDefault();
      }}
    />
  );
}

/** The box of a field that finds, with a sign before it. */
export const FindBox = styled("label", css.find);
export const FindButton = styled("button", css.find);
