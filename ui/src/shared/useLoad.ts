// Asks the server for something, and again when what it depends on has changed.
import { useEffect, useState } from "react";
import { noteRefusal } from "./live";

export interface Loaded<T> {
  value: T | null;
  error: Error | null;
}

export function useLoad<T>(ask: (() => Promise<T>) | null, depends: string): Loaded<T> {
  const [held, setHeld] = useState<Loaded<T> & { key: string }>({ value: null, error: null, key: "" });
  // biome-ignore lint/correctness/useExhaustiveDependencies: `depends` names everything that `ask` reads
  useEffect(() => {
    let left = false;
    if (!ask) return;
    ask().then(
      (value) => {
        if (!left) setHeld({ value, error: null, key: depends });
      },
      (error: Error) => {
        noteRefusal(error);
        if (!left) setHeld({ value: null, error, key: depends });
      },
    );
    return () => {
      left = true;
    };
  }, [depends, ask === null]);
  return held;
}
