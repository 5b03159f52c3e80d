// What a turn was given: its prompt by layers, raw, or beside the turn before it.
import { useState } from "react";
import { segment } from "../../../api/client";
import { field } from "../../../api/events";
import type { TurnView } from "../../../api/generated";
import type { Turn } from "../../../fold";
import { useGet } from "../../../shared/ask";
import { type CastStore, useCast } from "../../../shared/cast-store";
import { cx } from "../../../shared/cx";
import { WordDiff } from "../../../shared/DiffView";
import { bytes, count } from "../../../shared/format";
import { JsonText } from "../../../shared/JsonTree";
import { EventLink, Linked } from "../../../shared/Linked";
import { CopyButton, Foreign, Reading, Seg } from "../../../shared/parts";
import { sliceBytes } from "../../../shared/text";
import type { PanelProps } from "../props";
import css from "../style.module.css";

/** Layers that bring a reason or an instruction are what a reader looks for. */
const KEY_LAYERS = new Set(["tick", "rework", "instruction", "message", "said", "repair"]);

interface InputProps extends Pick<PanelProps, "store" | "onEvent"> {
  turn: Turn | undefined;
  full: TurnView | null;
  turns: Turn[];
  /** Why the work was sent back to this turn, if it was. */
  reason: string | null;
}

/** A text with the reason for which the work was sent back made to stand out, as it is or as JSON writes it. */
function Marked({ text, reason }: { text: string; reason: string | null }) {
  const shapes = reason && reason.length >= 8 ? [reason, JSON.stringify(reason).slice(1, -1)] : [];
  const found = shapes.find((one) => text.includes(one));
  if (!found) return <Foreign text={text} />;
  const at = text.indexOf(found);
  return (
    <>
      <Foreign text={text.slice(0, at)} />
      <Foreign as="mark" data-testid="reason-mark" text={found} />
      <Foreign text={text.slice(at + found.length)} />
    </>
  );
}

export function InputTab({ turn, full, turns, store, onEvent, reason }: InputProps) {
  const [view, setView] = useState<"layers" | "raw" | "diff">("layers");
  if (!turn) return <p className="dim">No turn has run here yet.</p>;
  if (!full) return <Reading />;
  if (full.prompt === null || full.prompt === undefined)
    return (
      <>
        <p className="dim sm">A utility: it was given this object on its standard input.</p>
        <JsonText value={full.input} />
      </>
    );
  const encoded = new TextEncoder().encode(full.prompt);
  const before = turns[turns.indexOf(turn) - 1];
  const earlier = turns.filter(
    (other) => other.session !== null && other.session === turn.session && other.seq < turn.seq,
  );
  return (
    <>
      <div className="row">
        <span className="dim sm grow cut">
          {count(encoded.length)} bytes, {full.layers.length} layers
          {full.session ? (
            <>
              , session <span className="mono">{full.session.id.slice(0, 8)}</span>
            </>
          ) : null}
        </span>
        <Seg
          small
          label="View"
          now={view}
          onPick={setView}
          items={{ layers: "Layers", raw: "Raw", ...(before ? { diff: "Diff" } : {}) }}
        />
        <CopyButton text={full.prompt} label="Copy the prompt" />
      </div>
      {view === "raw" ? <Foreign as="pre" data-testid="prompt-raw" text={full.prompt} /> : null}
      {view === "diff" && before ? <PromptDiff store={store} before={before} after={full.prompt} /> : null}
      {view === "layers" ? (
        <div data-testid="prompt-layers">
          {full.layers.map((layer) => (
            <section
              key={`${layer.name}${layer.start}`}
              className={cx(css.layer, KEY_LAYERS.has(layer.name) && css.key)}
              data-testid={`layer-${layer.name}`}
            >
              <header>
                <Foreign as="strong" text={layer.name} />
                {layer.origin ? (
                  <span className="faint cut">
                    <Linked text={layer.origin} onEvent={onEvent} />
                  </span>
                ) : null}
                <span className={css.b}>
                  bytes {layer.start}–{layer.end}
                </span>
              </header>
              <pre>
                <Marked text={sliceBytes(encoded, layer.start, layer.end)} reason={reason} />
              </pre>
            </section>
          ))}
        </div>
      ) : null}
      {earlier.length > 0 ? (
        <section className={css.earlier}>
          <h3>Sent earlier in this session</h3>
          <ul>
            {earlier.map((other) => (
              <li key={other.seq}>
                <span>visit {other.visit}</span>
                <span className="faint">
                  event <EventLink seq={other.seq} onEvent={onEvent} />
                </span>
                <Size store={store} seq={other.seq} />
              </li>
            ))}
          </ul>
        </section>
      ) : null}
    </>
  );
}

function Size({ store, seq }: { store: CastStore; seq: number }) {
  const event = useCast(store, ({ events }) => events.find((one) => one.seq === seq));
  const prompt = field(event, "prompt");
  return (
    <span className="faint xs">{typeof prompt === "string" ? bytes(new TextEncoder().encode(prompt).length) : ""}</span>
  );
}

function PromptDiff({ store, before, after }: { store: CastStore; before: Turn; after: string }) {
  const other = useGet<TurnView>(
    `/casts/${segment(store.id)}/turns/${before.seq}`,
    { project: store.project },
    { fixed: true },
  );
  if (!other.data) return <Reading what={`Reading visit ${before.visit}…`} />;
  return (
    <>
      <p className="dim sm">Against visit {before.visit}: added words are underlined, removed ones struck.</p>
      <WordDiff before={other.data.prompt ?? ""} after={after} side="both" />
    </>
  );
}
