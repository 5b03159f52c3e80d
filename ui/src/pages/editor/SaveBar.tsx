// The bar above the canvas: what it is, whether it is kept, and the way to save it.
import { Check, type LucideIcon, Redo2, Undo2 } from "lucide-react";
import { memo } from "react";
import { type Change, readLoadout } from "../../document";
import { Button, LinkButton } from "../../shared/Button";
import { cx } from "../../shared/cx";
import { clock } from "../../shared/format";
import { Foreign, Tag } from "../../shared/parts";
import { changeSearch } from "../../shared/router";
import { layOut } from "./acts";
import css from "./editor.module.css";
import { type EditorState, readText } from "./state";
import { type EditorStore, useEditor } from "./store";

/** Whether every socket of a loadout that had some is gone. Saving takes the loadout away then. */
export function isCleared({ subject, loadout, base }: Pick<EditorState, "subject" | "loadout" | "base">): boolean {
  if (subject.kind !== "loadout" || !loadout || loadout.sockets.length > 0) return false;
  return (readLoadout(readText(base).value, subject.name)?.sockets.length ?? 0) > 0;
}

export function saveReason(
  state: Pick<EditorState, "fault" | "checked" | "findings" | "text" | "subject" | "loadout" | "base">,
): string | null {
  const { fault, checked, findings, text, subject } = state;
  if (fault) return `fix line ${fault.line} first`;
  if (checked !== text) return null;
  const own = `/loadouts/${subject.name}`;
  const cleared = isCleared(state);
  // What is only wrong because nothing is left goes with the loadout.
  const errors = findings.filter(
    (one) => one.severity === "error" && !(cleared && one.pointer?.startsWith(own)),
  ).length;
  return errors > 0 ? `fix ${errors} ${errors === 1 ? "error" : "errors"} first` : null;
}

export const SaveBar = memo(function SaveBar({ store, onCopy }: { store: EditorStore; onCopy?: () => void }) {
  const judged = ["fault", "checked", "findings", "text", "subject", "loadout", "base"] as const;
  const state = useEditor(store, "history", "hash", "file", "readOnly", "layer", ...judged);
  const { history, base, text, hash, file, readOnly, subject, layer } = state;
  const dirty = text !== base;
  const reason = saveReason(state);
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
          <KeptTag store={store} dirty={dirty} />
        </>
      )}
      <span className="sm faint cut">{file === "(shipped)" ? "" : `${file}, ${layer}`}</span>
      <span className="grow" />
      {readOnly ? (
        <Button
          look="primary"
          data-testid="copy-to-edit"
          onClick={onCopy ?? (() => store.patch({ sheet: { kind: "copy" } }))}
        >
          Copy to change it
        </Button>
      ) : (
        <>
          <Step verb="Undo" icon={Undo2} change={last} onGo={() => store.undo()} />
          <Step verb="Redo" icon={Redo2} change={next} onGo={() => store.redo()} />
        </>
      )}
      {subject.kind === "loadout" && !readOnly ? (
        <Button data-testid="lay-out" onClick={() => layOut(store)}>
          Lay out
        </Button>
      ) : null}
      {subject.kind === "loadout" ? (
        <Button data-testid="open-simulate" onClick={() => changeSearch({ drawer: "simulate" })}>
          Simulate
        </Button>
      ) : null}
      {readOnly ? null : dirty ? (
        <Button
          look={reason ? undefined : "primary"}
          data-testid="review"
          disabled={reason !== null}
          onClick={() => store.patch({ sheet: { kind: "review" } })}
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
});

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

function KeptTag({ store, dirty }: { store: EditorStore; dirty: boolean }) {
  const { state: where, at, why } = useEditor(store, "kept").kept;
  if (!dirty && where !== "offline" && where !== "held") return null;
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
