import { useEffect, useRef } from "react";

/** Hears the keys of the whole page, with what was drawn last. */
export function useKeydown(onKey: (event: KeyboardEvent) => void): void {
  const latest = useRef(onKey);
  latest.current = onKey;
  useEffect(() => {
    const heard = (event: KeyboardEvent) => latest.current(event);
    addEventListener("keydown", heard);
    return () => removeEventListener("keydown", heard);
  }, []);
}
