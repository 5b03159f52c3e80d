// Keeps the draft on the server: soon after each edit, one request at a time, and never an empty graph over a full one.

import { Refusal } from "../../api/client";
import { dropDraft, keepDraft } from "../../api/editor";
import type { Draft, Json } from "../../api/generated";
import { cleanMerge, readLoadout } from "../../document";
import { draftId, type EditorState, readText } from "./state";
import { forgetInTab, noteInTab } from "./tab";

const KEEP_AFTER_MS = 120;
const AGAIN_AFTER_MS = 1500;

/** What is kept. */
interface Edited {
  readonly state: EditorState;
  patch(part: Partial<EditorState>): void;
  settle(text: string, base: string, hash: string, version?: number): void;
  say(text: string): void;
}

export class Keeper {
  private timer: ReturnType<typeof setTimeout> | null = null;
  private busy: Promise<void> | null = null;
  /** What the server has. */
  private acknowledged: string | null = null;
  private closed = false;

  constructor(private readonly store: Edited) {
    if (store.state.kept.state === "kept") this.acknowledged = this.body();
    // The tab had more than the server.
    if (store.state.kept.state === "keeping") this.soon();
  }

  close(): void {
    this.closed = true;
    // What was not kept yet is kept now; the page goes on to another place meanwhile.
    if (this.timer) {
      clearTimeout(this.timer);
      void this.now();
    }
  }

  soon(after = KEEP_AFTER_MS): void {
    noteInTab(this.store.state);
    const { kept } = this.store.state;
    if (kept.state !== "offline" && kept.state !== "keeping") this.note({ state: "keeping" });
    if (this.timer) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.now(), after);
  }

  async now(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    while (this.busy) await this.busy;
    if (this.body() === this.acknowledged) {
      this.note({ state: this.store.state.kept.version > 0 ? "kept" : "none" });
      return;
    }
    this.busy = this.put().finally(() => {
      this.busy = null;
    });
    await this.busy;
  }

  private body(): string {
    const { text, history } = this.store.state;
    return JSON.stringify([text, history.past.length, history.future.length]);
  }
  private note(part: Partial<EditorState["kept"]>): void {
    this.store.patch({ kept: { ...this.store.state.kept, ...part } });
  }

  /** Whether the text would put an empty graph in the place of one that was not. */
  private empties(): boolean {
    const { subject, value, base } = this.store.state;
    if (subject.kind !== "loadout") return false;
    const now = readLoadout(value, subject.name)?.sockets.length ?? 0;
    const before = readLoadout(readText(base).value, subject.name)?.sockets.length ?? 0;
    return now === 0 && before > 0;
  }

  private async put(): Promise<void> {
    const { project, subject, layer, file, hash, text, history, base, kept } = this.store.state;
    if (this.store.state.conflict) return;
    if (this.empties()) {
      this.note({ state: "held", why: "The loadout is empty, so this is not kept. Undo brings it back." });
      return;
    }
    const body = this.body();
    try {
      const answer = await keepDraft(project, {
        id: draftId(subject),
        layer,
        file,
        base: hash,
        text,
        history: { v: 1, base, past: history.past, future: history.future } as unknown as Json,
        version: kept.version,
      });
      this.acknowledged = body;
      this.note({ version: answer.version, at: answer.updatedAt });
      if (this.body() === body) {
        this.note({ state: "kept", why: "" });
        forgetInTab(this.store.state);
      } else noteInTab(this.store.state);
    } catch (error) {
      if (error instanceof Refusal && error.problem.status === 412) this.met(error);
      else if (error instanceof Refusal && error.problem.status < 500)
        this.note({ state: "held", why: error.problem.detail });
      else this.offline();
    }
  }

  private offline(): void {
    this.note({ state: "offline", why: "The server does not answer. Your changes are in this tab until it does." });
    if (!this.closed) this.timer = setTimeout(() => void this.now(), AGAIN_AFTER_MS);
  }

  /** Another tab kept the draft meanwhile. */
  private met(refusal: Refusal): void {
    const { theirs } = refusal.problem as unknown as { theirs: Draft | null };
    const { text, base, hash } = this.store.state;
    if (!theirs) {
      this.note({ version: 0 });
      this.soon(0);
    } else if (theirs.text === text) {
      // An answer was lost on its way.
      this.note({ version: theirs.version });
      this.soon(0);
    } else {
      const shared = (theirs.history as { base?: string } | null)?.base ?? base;
      const merged = theirs.base === hash ? cleanMerge(shared, text, theirs.text) : null;
      if (merged !== null) {
        this.store.settle(merged, base, hash, theirs.version);
        this.store.say("Another tab changed this draft. Both changes are in it now.");
      } else
        this.store.patch({
          conflict: { of: "draft", base: shared, yours: text, theirs: theirs.text, mark: String(theirs.version) },
        });
    }
  }

  /** The file has what the draft had. */
  async drop(): Promise<void> {
    while (this.busy) await this.busy;
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    const { project, subject, kept } = this.store.state;
    this.acknowledged = this.body();
    forgetInTab(this.store.state);
    this.store.patch({ kept: { state: "none", version: 0, at: null, why: "" } });
    if (kept.version === 0) return;
    try {
      await dropDraft(project, draftId(subject), kept.version);
    } catch {
      // Another tab has gone on with it, or the server is gone: the draft stays and is offered again.
    }
  }
}
