// Values that change faster than anybody reads.
import { startTransition, useEffect, useRef, useState } from "react";

/** The newest value, but each one for so many milliseconds at least. Where the key changes, the newest at once. */
export function usePaced<T>(newest: T, ms: number, key = ""): T {
  const held = useRef({ value: newest, key, until: performance.now() + ms });
  const [, drawAgain] = useState(0);
  const { until } = held.current;
  if (newest !== held.current.value && (key !== held.current.key || performance.now() >= until))
    held.current = { value: newest, key, until: performance.now() + ms };
  held.current.key = key;
  const { value } = held.current;
  useEffect(() => {
    if (value === newest) return;
    const timer = setTimeout(() => startTransition(() => drawAgain(performance.now())), until - performance.now());
    return () => clearTimeout(timer);
  }, [value, newest, until]);
  return value;
}
