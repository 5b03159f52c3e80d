// Two changed the same lines: both are shown, and a person decides. Nothing is overwritten meanwhile.
import { useMemo, useState } from "react";
import { merge3, resolved } from "../../document";
import { Button } from "../../shared/Button";
import { cx } from "../../shared/cx";
import { Dialog } from "../../shared/Dialog";
import { Foot } from "../../shared/Pop";
import { CopyButton } from "../../shared/parts";
import { plain } from "../../shared/text";
import css from "./editor.module.css";
import { type Conflict, readText } from "./state";
import type { EditorStore } from "./store";

type Pick = "yours" | "theirs" | "both";

export function MergeView({ store, conflict }: { store: EditorStore; conflict: Conflict }) {
  const { base, yours, theirs, of, mark } = conflict;
  const parts = useMemo(() => merge3(base, yours, theirs), [base, yours, theirs]);
  const conflicts = parts.flatMap((part) => (part.kind === "conflict" ? [part] : []));
  const [choices, setChoices] = useState<(Pick | null)[]>(() => conflicts.map(() => null));
  const open = choices.filter((one) => one === null).length;
  const merged = resolved(
    parts,
    choices.map((one) => one ?? "yours"),
  );
  const broken = readText(merged).fault;
  const who = of === "file" ? `${store.state.file} was changed outside this page` : "Another tab changed this draft";
  const done = () => {
    if (of === "file") store.settle(merged, theirs, mark);
    else store.settle(merged, store.state.base, store.state.hash, Number(mark));
  };
  return (
    <Dialog label="Merge" onClose={() => undefined} className={css.merge}>
      <header>
        <h2>{who}</h2>
        <p className="dim sm">
          {conflicts.length === 0
            ? "The changes do not conflict."
            : `${conflicts.length === 1 ? "One change conflicts" : `${conflicts.length} changes conflict`}. Everything else is merged.`}
        </p>
      </header>
      <div className={css.meets} data-testid="merge">
        {conflicts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: conflicts of one text have no other name
          <section key={index} aria-label={`Place ${index + 1}`}>
            {(["yours", "theirs"] as const).map((side) => (
              <div
                key={side}
                className={choices[index] === side || choices[index] === "both" ? cx(css.side, css.on) : css.side}
              >
                <div className="row">
                  <strong className="grow">{side === "yours" ? "Yours" : "Theirs"}</strong>
                  <CopyButton text={part[side]} label={`Copy ${side}`} />
                </div>
                <pre data-testid={`merge-${side}`}>{plain(part[side]) || "(nothing)"}</pre>
              </div>
            ))}
            <fieldset className={css.picks}>
              <legend className="sr">Place {index + 1}</legend>
              {(["yours", "theirs", "both"] as const).map((pick) => (
                <label key={pick}>
                  <input
                    type="radio"
                    name={`place-${index}`}
                    checked={choices[index] === pick}
                    data-testid={`pick-${pick}`}
                    onChange={() => setChoices(choices.map((one, at) => (at === index ? pick : one)))}
                  />
                  {pick === "yours" ? "Take yours" : pick === "theirs" ? "Take theirs" : "Take both, yours first"}
                </label>
              ))}
            </fieldset>
          </section>
        ))}
      </div>
      {open === 0 && broken ? (
        <p className={css.err}>
          The merged text is not valid JSON yet (line {broken.line}: {broken.message}). You can fix it in the text.
        </p>
      ) : null}
      <Foot>
        <CopyButton text={yours} label="Copy all of yours" />
        <span className="faint sm">Your whole text</span>
        <CopyButton text={theirs} label="Copy all of theirs" />
        <span className="faint sm">Their whole text</span>
        <span className="grow" />
        <Button data-testid="all-theirs" onClick={() => setChoices(conflicts.map(() => "theirs"))}>
          Theirs everywhere
        </Button>
        <Button data-testid="all-yours" onClick={() => setChoices(conflicts.map(() => "yours"))}>
          Yours everywhere
        </Button>
        <Button look="primary" data-testid="merge-done" disabled={open > 0} onClick={done}>
          {open > 0 ? `Decide ${open} more` : "Use the merged text"}
        </Button>
      </Foot>
    </Dialog>
  );
}
