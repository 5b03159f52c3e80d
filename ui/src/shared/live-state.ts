// What the live connection has told, for those who show it.
import { create } from "zustand";
import { Refusal } from "../api/client";
import type { CastSummary } from "../api/generated";
import type { Connection } from "../api/sse";

interface LiveState {
  connection: Connection;
  casts: Map<string, CastSummary>;
  loaded: boolean;
  /** Where the list goes on, if it does. */
  next: string | null;
  /** The newest event that was heard of the cast that is open. */
  lastSeq: number | null;
  /** Whether the server is asked at all: not in an exported file, and not before somebody is signed in. */
  started: boolean;
  /** The server does not know this page. */
  signedOut: boolean;
  /** How often the connection was made again after it was lost. */
  returns: number;
}

export const useLive = create<LiveState>(() => ({
  connection: { kind: "reconnecting", inSeconds: 0 },
  casts: new Map(),
  loaded: false,
  next: null,
  lastSeq: null,
  started: false,
  signedOut: false,
  returns: 0,
}));

export function noteRefusal(error: unknown): void {
  if (error instanceof Refusal && error.problem.status === 401) useLive.setState({ signedOut: true });
}
