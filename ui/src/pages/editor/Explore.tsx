// Every history that the loadout can take: what can go wrong, each with a history that Simulate plays.
import { useQuery } from "@tanstack/react-query";
import { Route, TriangleAlert } from "lucide-react";
import { useMemo, useState } from "react";
import { explore } from "../../api/editor";
import { pause } from "../../shared/ask";
import { Button } from "../../shared/Button";
import { cx } from "../../shared/cx";
import { CopyButton, ErrorBox } from "../../shared/parts";
import { changeSearch } from "../../shared/router";
import { plain } from "../../shared/text";
import css from "./editor.module.css";
import { type Row, rowsOf, summaryOf } from "./explored";
import { Said } from "./fields";
import type { Play } from "./state";
import { type EditorStore, useEditor } from "./store";

const AFTER_MS = 400;

/** Every history of the text that is shown. It is asked for while somebody looks, and held while the text is the same. */
export function useExplored(store: EditorStore, wanted: boolean) {
  const { project, file, text, subject, fault } = useEditor(store, "project", "file", "text", "subject", "fault");
  const { data, error, isPlaceholderData } = useQuery({
    queryKey: ["explore", project, file, subject.name, text],
    queryFn: async ({ signal }) => {
      await pause(AFTER_MS, signal);
      return explore(project, { [file]: text }, subject.name, signal);
    },
    enabled: wanted && !fault,
    staleTime: Number.POSITIVE_INFINITY,
    meta: { once: true },
  });
  const view = isPlaceholderData ? undefined : data;
  const rows = useMemo(() => (view ? rowsOf(view) : []), [view]);
  return { view, rows, error, fault };
}

export function Explore({ store }: { store: EditorStore }) {
  const { view, rows, error, fault } = useExplored(store, true);
  const onPlay = (play: Play) => {
    store.patch({ play });
    changeSearch({ drawer: "simulate" });
  };
  return (
    <div className={css.walk} data-testid="explore">
      <p className={cx(css.walkbar, "sm")} role="status" data-testid="explore-summary">
        {fault ? (
          "The text has an error; mend it first."
        ) : view ? (
          <>
            <strong>{summaryOf(view)}</strong>
            {rows.length > 0 ? <span className="dim">Each turn was given each answer; no agent ran.</span> : null}
          </>
        ) : error ? (
          "It could not be explored."
        ) : (
          "Exploring."
        )}
      </p>
      {error ? <ErrorBox error={error} /> : null}
      <ul className={cx(css.probs, css.explored)} data-testid="explore-rows">
        {rows.map((row) => (
          <Finding key={row.key} row={row} onSelect={() => store.select(row.about.slice(-1))} onPlay={onPlay} />
        ))}
        {view?.explored && rows.length === 0 ? <li className={css.none}>Nothing was found.</li> : null}
      </ul>
    </div>
  );
}

function Finding({ row, onSelect, onPlay }: { row: Row; onSelect: () => void; onPlay: (play: Play) => void }) {
  const [open, setOpen] = useState(false);
  const { message, finding, choices } = row;
  const Icon = row.notable ? TriangleAlert : Route;
  const steps = finding?.history.steps ?? 0;
  const script = finding ? `${JSON.stringify(finding.history.script, null, 2)}\n` : "";
  return (
    <li
      className={cx("st", row.notable ? "needs_you" : "idle")}
      data-testid="explored"
      data-kind={finding?.kind ?? "never"}
    >
      <Icon className="ico s" />
      <button type="button" className={css.what} onClick={onSelect}>
        <Said text={message} />
        {finding ? <span className={css.code}>{steps === 1 ? "after 1 step" : `after ${steps} steps`}</span> : null}
      </button>
      {finding ? (
        choices ? (
          <Button
            look="small"
            data-testid="play"
            aria-label={`Play it: ${message}`}
            onClick={() => onPlay({ message, choices })}
          >
            Play it
          </Button>
        ) : (
          <Button look="small" data-testid="show-script" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? "Hide the script" : "Show the script"}
          </Button>
        )
      ) : null}
      {finding && !choices ? (
        <div className={css.script}>
          <p className="dim" data-testid="no-play">
            <Said text={row.reason} />
          </p>
          {open ? (
            <>
              <div className="row dim">
                <span className="grow">
                  Save it as a file; <code>materia cast --virtual-time --script FILE</code> plays it.
                </span>
                <CopyButton text={script} label="Copy the script" />
              </div>
              <pre data-testid="script" tabIndex={0}>
                {plain(script)}
              </pre>
            </>
          ) : null}
        </div>
      ) : null}
    </li>
  );
}
