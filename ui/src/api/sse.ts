// Server-sent events, read with fetch because the key travels in a header.
import { createParser } from "eventsource-parser";

export interface Message {
  event: string;
  id: string | null;
  data: string;
}

/** Takes text as it arrives and tells whole messages. */
export const messageParser = (tell: (message: Message) => void) =>
  createParser({ onEvent: ({ event = "message", id = null, data }) => tell({ event, id, data }) });

export type Connection = { kind: "connected" } | { kind: "reconnecting"; inSeconds: number } | { kind: "offline" };

/** Seconds until a lost connection is tried again. */
const DELAYS = [0.5, 1, 2, 4, 8];

export interface StreamOptions {
  /** The address as of now: a reconnect asks again, so that it can begin behind what is known. */
  address: () => string;
  headers: () => Record<string, string>;
  /** Awaited before each connection; where it fails, none is made. */
  before?: () => Promise<void>;
  onMessage: (message: Message) => void;
  onConnection: (state: Connection) => void;
  /** Called when a connection is lost. */
  onLost?: () => void;
  /** Called when the server refuses; the stream then ends. */
  onRefused?: (status: number) => void;
}

/** Reads until it is closed, across lost connections. Returns what closes it. */
export function openStream(options: StreamOptions): () => void {
  let closed = false;
  let tries = 0;
  let controller = new AbortController();
  let wake: (() => void) | null = null;
  const nudge = () => wake?.();
  globalThis.addEventListener?.("online", nudge);
  globalThis.document?.addEventListener("visibilitychange", nudge);

  async function read(): Promise<void> {
    controller = new AbortController();
    await options.before?.();
    const answer = await fetch(options.address(), {
      headers: { ...options.headers(), Accept: "text/event-stream" },
      signal: controller.signal,
      cache: "no-store",
    });
    if (answer.status >= 400 && answer.status < 500 && answer.status !== 429 && answer.status !== 408) {
      closed = true;
      options.onRefused?.(answer.status);
      return;
    }
    if (!answer.ok || !answer.body) throw new Error(`status ${answer.status}`);
    options.onConnection({ kind: "connected" });
    const parser = messageParser(options.onMessage);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || closed) return;
      tries = 0;
      parser.feed(value);
    }
  }

  async function run(): Promise<void> {
    while (!closed) {
      try {
        await read();
      } catch {
        // A lost connection and a server that is gone look the same: try again.
      }
      if (closed) return;
      options.onLost?.();
      const seconds = DELAYS[Math.min(tries, DELAYS.length - 1)] ?? 1;
      tries += 1;
      options.onConnection(tries > DELAYS.length ? { kind: "offline" } : { kind: "reconnecting", inSeconds: seconds });
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, seconds * 1000);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      wake = null;
    }
  }
  void run();
  return () => {
    closed = true;
    controller.abort();
    nudge();
    globalThis.removeEventListener?.("online", nudge);
    globalThis.document?.removeEventListener("visibilitychange", nudge);
  };
}
