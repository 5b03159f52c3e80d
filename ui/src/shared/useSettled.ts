// Values that are worked out anew at each event, and mostly come to the same.
import { replaceEqualDeep } from "@tanstack/react-query";
import { useRef } from "react";

/** The same objects as before where nothing in them changed, so that what rests is not drawn again. */
export function useSettled<T>(next: T): T {
  const held = useRef(next);
  held.current = replaceEqualDeep(held.current, next);
  return held.current;
}
