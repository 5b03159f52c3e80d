// The bar above the canvas: what it is, whether it is kept, and the way to save it.
import { Check, type LucideIcon, Redo2, Undo2 } from "lucide-react";
import type { Finding } from "../../api/generated";
import { type Change, readLoadout } from "../../document";
import { Button, LinkButton } from "../../shared/Button";
import { cx } from "../../shared/cx";
import { clock } from "../../shared/format";
import { Foreign, Tag } from "../../shared/parts";
import css from "./editor.module.css";
import type { FormProps } from "./fields";
import { type EditorState, readText } from "./state";

interface SaveBarProps extends FormProps {
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
    <div className={css.save} data-testid="save-bar">
      <Foreign as="h1" className="cut" text={subject.name} />
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
          <Step verb="Undo" icon={Undo2} change={last} onGo={() => store.undo()} />
          <Step verb="Redo" icon={Redo2} change={next} onGo={() => store.redo()} />
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
        <Button
          look={reason ? undefined : "primary"}
          data-testid="review"
          disabled={reason !== null}
          onClick={props.onReview}
        >
          Review and save{reason ? `: ${reason}` : ""}
        </Button>
      ) : subject.kind === "loadout" ? (
        <LinkButton to={`/casts?new=1&loadout=${encodeURIComponent(subject.name)}`} data-testid="start-cast">
          Start a cast
        </LinkButton>
      ) : null}
    </div>
  );
}

function Step(props: { verb: string; icon: LucideIcon; change: Change | undefined; onGo: () => void }) {
  const { verb, icon, change, onGo } = props;
  const words = change ? `${verb}: ${change.label}` : undefined;
  return (
    <Button
      look="quiet icon"
      icon={icon}
      aria-label={words ?? verb}
      title={words}
      testid={verb.toLowerCase()}
      disabled={!change}
      onClick={onGo}
    />
  );
}

function KeptTag({ state }: { state: EditorState }) {
  const { state: where, at, why } = state.kept;
  if (where === "kept" && at)
    return (
      <Tag data-testid="kept">
        <Check className="ico s" />
        kept {clock(at, true).slice(0, 8)}
      </Tag>
    );
  if (where === "offline" || where === "held")
    return (
      <Tag
        className={cx("st needs_you", where === "held" && "cut")}
        role="status"
        title={why}
        data-testid={`kept-${where}`}
      >
        {where === "held" ? why : "Offline, kept here"}
      </Tag>
    );
  return <Tag data-testid="keeping">keeping</Tag>;
}
