// All keys, on `?`.
import { Dialog } from "./Dialog";

const keys: [string, string][] = [
  ["Ctrl K", "find a cast or a page"],
  ["C", "new cast"],
  ["G then C, I, L, M, S", "go to casts, inbox, loadouts, materia, settings"],
  [".", "what needs you"],
  ["/", "search in the list"],
  ["Arrows", "cast: from card to card"],
  ["[ and ]", "cast: one event back, one on"],
  ["L", "cast: to the newest event"],
  ["Space", "cast: play or hold"],
  ["W, O", "cast: why, output of the socket"],
  ["J, K", "inbox: next, before"],
  ["Y, N", "inbox: approve, deny"],
  ["Esc", "close, go up"],
];

export function Keys({ onClose }: { onClose: () => void }) {
  return (
    <Dialog label="Keys" onClose={onClose} className="keys">
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
      <button type="button" className="btn" onClick={onClose}>
        Close
      </button>
    </Dialog>
  );
}
