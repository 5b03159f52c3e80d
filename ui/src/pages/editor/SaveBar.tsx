// The bar above the canvas: what it is, whether it is kept, and the way to save it.

import { Check, Redo2, Undo2 } from "lucide-react";
import type { Finding } from "../../api/generated";
import { readLoadout } from "../../document";
import { Button } from "../../shared/Button";
import { clock } from "../../shared/format";
import { Foreign } from "../../shared/parts";
import { Link } from "../../shared/router";
import { type EditorState, readText } from "./state";
import type { EditorStore } from "./store";

export interface SaveBarProps {
  store: EditorStore;
  state: EditorState;
  findings: Finding[];
  onReview: () => void;
  onLayOut?: () => void;
  onSimulate?: () => void;
  onCopy: () => void;
}

/** Whether every socket of a loadout that had some is gone. Saving takes the loadout away then. */
export function isCleared(state: EditorState): boolean {
  const { subject, loadout, base } = state;
  if (subject.kind !== "loadout" || !loadout || loadout.sockets.length > 0) return false;
  return (readLoadout(readText(base).value, subject.name)?.sockets.length ?? 0) > 0;
}

export function saveReason(state: EditorState, findings: Finding[]): string | null {
  if (state.fault) return `fix line ${state.fault.line} first`;
  if (state.checked !== state.text) return null;
  const own = `/loadouts/${state.subject.name}`;
  const cleared = isCleared(state);
  // What is only wrong because nothing is left goes with the loadout.
  const errors = findings.filter(
    (one) => one.severity === "error" && !(cleared && one.pointer?.startsWith(own)),
  ).length;
  return errors > 0 ? `fix ${errors} ${errors === 1 ? "error" : "errors"} first` : null;
}

export function SaveBar(props: SaveBarProps) {
  const { store, state, findings } = props;
  const { history, base, text, hash, file, kept, readOnly, subject, layer } = state;
  const dirty = text !== base;
  const reason = saveReason(state, findings);
  const [last, next] = [history.past.at(-1), history.future.at(-1)];
  const changes = history.past.length;
  const fresh = base === "";
  return (
    <div className="save" data-testid="save-bar">
      <h1 className="cut">
        <Foreign text={subject.name} />
      </h1>
      {readOnly ? (
        <span className="sm dim" data-testid="save-state">
          Shipped. It stays as it is; a copy can be changed.
        </span>
      ) : (
        <>
          <span className="sm dim nowrap" data-testid="save-state">
            {dirty ? (
              <>
                Draft, <span data-testid="change-count">{changes}</span> {changes === 1 ? "change" : "changes"}
                {fresh ? "" : " since "}
                {fresh ? null : <span className="mono">{hash.slice(0, 8)}</span>}
              </>
            ) : (
              <>
                {fresh ? "New" : "Saved"} <span className="mono">{fresh ? "" : hash.slice(0, 8)}</span>
              </>
            )}
          </span>
          {dirty || kept.state === "offline" || kept.state === "held" ? <KeptTag state={state} /> : null}
        </>
      )}
      <span className="sm faint cut">{file === "(shipped)" ? "" : `${file}, ${layer}`}</span>
      <span className="grow" />
      {readOnly ? (
        <Button look="primary" data-testid="copy-to-edit" onClick={props.onCopy}>
          Copy to change it
        </Button>
      ) : (
        <>
          <Button
            look="quiet icon"
            aria-label={last ? `Undo: ${last.label}` : "Undo"}
            title={last ? `Undo: ${last.label}` : undefined}
            data-testid="undo"
            disabled={!last}
            onClick={() => store.undo()}
          >
            <Undo2 className="ico" />
          </Button>
          <Button
            look="quiet icon"
            aria-label={next ? `Redo: ${next.label}` : "Redo"}
            title={next ? `Redo: ${next.label}` : undefined}
            data-testid="redo"
            disabled={!next}
            onClick={() => store.redo()}
          >
            <Redo2 className="ico" />
          </Button>
        </>
      )}
      {props.onLayOut && !readOnly ? (
        <Button data-testid="lay-out" onClick={props.onLayOut}>
          Lay out
        </Button>
      ) : null}
      {props.onSimulate ? (
        <Button data-testid="open-simulate" onClick={props.onSimulate}>
          Simulate
        </Button>
      ) : null}
      {readOnly ? null : dirty ? (
        <button
          type="button"
          className={`btn${reason ? "" : " primary"}`}
          data-testid="review"
          disabled={reason !== null}
          onClick={props.onReview}
        >
          Review and save{reason ? `: ${reason}` : ""}
        </button>
      ) : subject.kind === "loadout" ? (
        <Link className="btn" to={`/casts?new=1&loadout=${encodeURIComponent(subject.name)}`} data-testid="start-cast">
          Start a cast
        </Link>
      ) : null}
    </div>
  );
}

function KeptTag({ state }: { state: EditorState }) {
  const { kept } = state;
  if (kept.state === "kept" && kept.at)
    return (
      <span className="tag" data-testid="kept">
        <Check className="ico s" />
        kept {clock(kept.at, true).slice(0, 8)}
      </span>
    );
  if (kept.state === "offline")
    return (
      <span className="tag st needs_you" role="status" title={kept.why} data-testid="kept-offline">
        Offline, kept here
      </span>
    );
  if (kept.state === "held")
    return (
      <span className="tag st needs_you cut" role="status" title={kept.why} data-testid="kept-held">
        {kept.why}
      </span>
    );
  return (
    <span className="tag" data-testid="keeping">
      keeping
    </span>
  );
}
