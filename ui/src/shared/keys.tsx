// All keys, on `?`, and what the signs of a graph mean.

import type { SocketState } from "../api/generated";
import { KindIcon } from "../graph/KindIcon";
import { Legend } from "../graph/Legend";
import { Button } from "./Button";
import { cx } from "./cx";
import { Dialog } from "./Dialog";
import css from "./keys.module.css";
import { State } from "./parts";

const keys: [string, string][] = [
  ["Ctrl K", "find casts, sockets, events, pages"],
  ["C", "new cast"],
  ["G then C, I, L, M, S", "go to casts, inbox, loadouts, materia, settings"],
  [".", "what needs you"],
  ["/", "search in the list"],
  ["Arrows", "cast: from card to card"],
  ["[ and ]", "cast: one event back, one on"],
  ["L", "cast: to the newest event"],
  ["Space", "cast: hold, or play on"],
  ["1, 0", "graph: all of it, its own size"],
  ["W, O", "cast: why, output of the socket"],
  ["J, K", "inbox: next, previous"],
  ["Y, N", "inbox: approve, deny"],
  ["A, E", "editor: add after the selected socket, connect it"],
  ["F2, Delete", "editor: rename, delete"],
  ["Ctrl G, Ctrl Shift G", "editor: make a loop, ungroup it"],
  ["Ctrl Z, Ctrl Shift Z", "editor: undo, redo"],
  ["Ctrl C, X, V, D", "editor: copy as JSON, cut, paste, duplicate"],
  ["Shift or Alt and arrows", "editor: select more, move the card"],
  ["Shift L", "editor: lay out"],
  ["Ctrl F, Ctrl S", "editor: find, review and save"],
  ["Esc", "close, go up"],
];

const states: SocketState[] = ["idle", "queued", "running", "needs_you", "done", "failed", "stalled", "aborted"];

export function Keys({ onClose }: { onClose: () => void }) {
  return (
    <Dialog label="Keys" onClose={onClose} className={css.keys}>
      <h2>Keys</h2>
      <dl>
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <h2>Signs</h2>
      <div className={css.signs}>
        {states.map((state) => (
          <State key={state} state={state} />
        ))}
      </div>
      <div className={cx(css.signs, "dim")}>
        {["agent", "utility", "generator"].map((kind) => (
          <span key={kind} className="row">
            <KindIcon kind={kind} />
            {kind}
          </span>
        ))}
      </div>
      <div className={cx(css.signs, css.lines, "dim")}>
        <Legend />
      </div>
      <Button onClick={onClose}>Close</Button>
    </Dialog>
  );
}
