import { useSyncExternalStore } from "react";

const known = new Map<number, MediaQueryList>();
/** One question for each width: a new one at each drawing would be slow. */
function query(pixels: number): MediaQueryList {
  const found = known.get(pixels) ?? matchMedia(`(min-width: ${pixels}px)`);
  known.set(pixels, found);
  return found;
}

/** Whether the window is at least this wide. */
export function useWide(pixels: number): boolean {
  return useSyncExternalStore(
    (listener) => {
      query(pixels).addEventListener("change", listener);
      return () => query(pixels).removeEventListener("change", listener);
    },
    () => query(pixels).matches,
  );
}
