// Server-sent events, read with fetch because the key travels in a header.

export interface Message {
  event: string;
  id: string | null;
  data: string;
}

/** Takes text as it arrives and gives back whole messages. */
export class MessageParser {
  private rest = "";
  private event = "";
  private id: string | null = null;
  private data: string[] = [];

  push(text: string): Message[] {
    const out: Message[] = [];
    this.rest += text;
    for (;;) {
      const end = this.rest.search(/[\r\n]/);
      if (end < 0) break;
      // A carriage return at the very end may have its line feed still under way.
      if (this.rest[end] === "\r" && end === this.rest.length - 1) break;
      const line = this.rest.slice(0, end);
      this.rest = this.rest.slice(end + (this.rest.startsWith("\r\n", end) ? 2 : 1));
      const message = this.line(line);
      if (message) out.push(message);
    }
    return out;
  }

  private line(line: string): Message | null {
    if (line === "") {
      const message =
        this.data.length > 0 ? { event: this.event || "message", id: this.id, data: this.data.join("\n") } : null;
      this.event = "";
      this.id = null;
      this.data = [];
      return message;
    }
    if (line.startsWith(":")) return null;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.event = value;
    else if (field === "data") this.data.push(value);
    else if (field === "id") this.id = value;
    return null;
  }
}

export type Connection = { kind: "connected" } | { kind: "reconnecting"; inSeconds: number } | { kind: "offline" };

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
  delays?: number[];
}

/** Reads until it is closed, across lost connections. Returns what closes it. */
export function openStream(options: StreamOptions): () => void {
  const delays = options.delays ?? [0.5, 1, 2, 4, 8];
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
    const parser = new MessageParser();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || closed) return;
      tries = 0;
      for (const message of parser.push(value)) options.onMessage(message);
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
      const seconds = delays[Math.min(tries, delays.length - 1)] ?? 1;
      tries += 1;
      options.onConnection(tries > delays.length ? { kind: "offline" } : { kind: "reconnecting", inSeconds: seconds });
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
