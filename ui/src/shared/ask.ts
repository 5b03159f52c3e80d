// Everything that is asked of the server goes through one cache: an answer is shared, a question that nobody
// waits for any more is given up, and what could not be asked is asked again when the server is back.
import {
  keepPreviousData,
  QueryCache,
  QueryClient,
  type UseQueryResult,
  useMutation,
  useQuery,
} from "@tanstack/react-query";
import { useRef } from "react";
import { get, getText, type Query, Refusal } from "../api/client";
import { noteRefusal } from "./live-state";

const TRIES_MAX = 2;

/** Only a server that is busy is asked again at once; where none answers, the stream says when it is back. */
const isBusy = (error: Error) => error instanceof Refusal && [429, 502, 503, 504].includes(error.problem.status);

export const client = new QueryClient({
  queryCache: new QueryCache({ onError: (error) => noteRefusal(error) }),
  defaultOptions: {
    queries: {
      // The server is on this machine: it needs no network.
      networkMode: "always",
      retry: (tries, error) => tries < TRIES_MAX && isBusy(error),
      refetchOnWindowFocus: false,
      placeholderData: keepPreviousData,
    },
    mutations: { networkMode: "always" },
  },
});

/** What a question can be told beside its address. */
interface Asked {
  /** The answer never changes. */
  fixed?: boolean;
  /** Something that the answer depends on beside the address: another value asks anew. */
  since?: unknown;
}

/** Keeps the last answer while more is asked about the same thing; an answer about another thing is never shown. */
function sameThing(path: string | null, query: Query) {
  return <T>(last: T | undefined, asked?: { queryKey: readonly unknown[] }): T | undefined => {
    const [lastPath, lastQuery] = (asked?.queryKey ?? []) as [string?, Query?];
    return lastPath === path && lastQuery?.project === query.project ? last : undefined;
  };
}

/** Asks for what is at an address; nothing while the address is null. */
export function useGet<T>(path: string | null, query: Query = {}, asked: Asked = {}): UseQueryResult<T> {
  return useQuery({
    queryKey: [path, query, asked.since],
    placeholderData: sameThing(path, query),
    queryFn: ({ signal }) => get<T>(path ?? "", query, signal),
    enabled: path !== null,
    ...(asked.fixed ? { staleTime: Number.POSITIVE_INFINITY } : {}),
  });
}

/** The same for a text. */
export function useText(path: string | null, query: Query = {}): UseQueryResult<string> {
  return useQuery({
    queryKey: [path, query, "text"],
    placeholderData: sameThing(path, query),
    queryFn: ({ signal }) => getText(path ?? "", query, signal),
    enabled: path !== null,
  });
}

/** Lets a person go on typing before something is asked; it ends with the question. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** Asks anew, once the server is back: what failed, and what may have changed meanwhile. What was opened stays. */
export function askAgain(): void {
  void client.invalidateQueries({ predicate: (query) => query.state.status === "error" || !query.meta?.once });
}

/** Something that a person does: once at a time, however often it is pressed. */
export function useOnce<G, D>(act: (given: G) => Promise<D>, onDone?: (done: D, given: G) => void) {
  const busy = useRef(false);
  const { mutate, data, isPending, error, reset } = useMutation<D, Error, G>({
    mutationFn: act,
    onSuccess: (done, given) => onDone?.(done, given),
    onSettled: () => {
      busy.current = false;
    },
  });
  const run = (given: G) => {
    if (busy.current) return;
    busy.current = true;
    mutate(given);
  };
  return { run, done: data, busy: isPending, error, forget: reset };
}
