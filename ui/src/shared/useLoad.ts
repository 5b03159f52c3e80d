// Asks the server for something, and again when what it depends on has changed.
import { useEffect, useRef, useState } from "react";
import { Lost } from "../api/client";
import { noteRefusal, useReturns } from "./live";

export interface Loaded<T> {
  value: T | null;
  error: Error | null;
}

export function useLoad<T>(ask: (() => Promise<T>) | null, depends: string): Loaded<T> {
  const [held, setHeld] = useState<Loaded<T> & { key: string }>({ value: null, error: null, key: "" });
  const tries = useTries(held.error);
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
  }, [depends, ask === null, tries]);
  return held;
}

/** Counts up when the server is back, where it did not answer before: then it is asked again. */
export function useTries(error: Error | null): number {
  const returns = useReturns();
  const [tries, setTries] = useState(0);
  const seen = useRef(returns);
  useEffect(() => {
    if (error instanceof Lost && returns > seen.current) setTries((before) => before + 1);
    seen.current = returns;
  }, [returns, error]);
  return tries;
}
