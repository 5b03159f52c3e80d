// Small parts that every page uses.
import { Check, Copy } from "lucide-react";
import { type ElementType, type HTMLAttributes, type KeyboardEvent, type ReactNode, useState } from "react";
import { Lost } from "../api/client";
import type { SocketState } from "../api/generated";
import { Button } from "./Button";
import { cx, styled } from "./cx";
import { useLive } from "./live-state";
import css from "./parts.module.css";
import { oneLine, type Piece, pieces } from "./text";

export const stateWords: Record<SocketState, string> = {
  idle: "Idle",
  queued: "Queued",
  running: "Running",
  needs_you: "Needs you",
  done: "Done",
  failed: "Failed",
  stalled: "Stalled",
  aborted: "Aborted",
};

/** Eight shapes, so that no state is told by its colour alone. */
export function Mark({ state }: { state: SocketState }) {
  return (
    <svg
      className={css.mark}
      viewBox="0 0 14 14"
      aria-hidden="true"
      fill="none"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      {shapes[state]}
    </svg>
  );
}

const shapes: Record<SocketState, ReactNode> = {
  idle: <circle cx="7" cy="7" r="5" stroke="currentColor" strokeWidth="1.4" />,
  queued: <circle cx="7" cy="7" r="5" stroke="currentColor" strokeWidth="1.4" strokeDasharray="2 2.2" />,
  running: (
    <>
      <circle cx="7" cy="7" r="5.2" stroke="currentColor" strokeWidth="1.4" opacity="0.45" />
      <path d="M7 1.8a5.2 5.2 0 0 1 4.5 7.8" stroke="currentColor" strokeWidth="2" />
      <circle cx="7" cy="7" r="2" fill="currentColor" />
    </>
  ),
  needs_you: (
    <>
      <path d="M7 0.8 13.2 7 7 13.2 0.8 7z" fill="currentColor" />
      <path className={css.knock} d="M7 4.2v3.2M7 9.7v.1" strokeWidth="1.6" />
    </>
  ),
  done: (
    <>
      <circle cx="7" cy="7" r="6" fill="currentColor" />
      <path className={css.knock} d="m4.4 7.2 1.8 1.8 3.4-3.8" strokeWidth="1.6" />
    </>
  ),
  failed: (
    <>
      <path d="M4.5 1h5L13 4.5v5L9.500 13h-5L1 9.500v-5z" fill="currentColor" />
      <path className={css.knock} d="m5.100 5.100 3.800 3.800M8.900 5.100 5.100 8.900" strokeWidth="1.500" />
    </>
  ),
  stalled: (
    <>
      <rect x="1" y="1" width="12" height="12" rx="4" fill="currentColor" />
      <path className={css.knock} d="M4.500 5.700h5M4.500 8.400h5" strokeWidth="1.500" />
    </>
  ),
  aborted: (
    <>
      <circle cx="7" cy="7" r="5.300" stroke="currentColor" strokeWidth="1.400" />
      <path d="m3.600 10.400 6.800-6.800" stroke="currentColor" strokeWidth="1.400" />
    </>
  ),
};

export function State({ state, word, testid }: { state: SocketState; word?: string; testid?: string }) {
  return (
    <span className={cx(css.state, "st", state)} data-testid={testid}>
      <Mark state={state} />
      <span className={css.word}>{word ?? stateWords[state]}</span>
    </span>
  );
}

interface ForeignProps extends Omit<HTMLAttributes<HTMLElement>, "children"> {
  text: string | null | undefined;
  mixed?: boolean;
  /** The element that holds it; without one it is text of the element around it. */
  as?: ElementType;
}

/** Text that somebody else wrote: as text, and with what nobody sees made visible. */
export function Foreign({ text, mixed = false, as: Holder, ...rest }: ForeignProps) {
  // What a server leaves out is shown as nothing.
  const cut = pieces(text ?? "", mixed);
  const marked = (piece: Piece, index: number) =>
    piece.odd ? (
      <span className={css.odd} key={index}>
        {piece.text}
      </span>
    ) : (
      piece.text
    );
  const shown = cut.length === 1 && !cut[0]?.odd ? cut[0]?.text : cut.map(marked);
  return Holder ? <Holder {...rest}>{shown}</Holder> : shown;
}

/** Stands where an answer is yet to come. */
export function Reading({ what = "Reading…", className = "dim" }: { what?: string; className?: string }) {
  return (
    <p className={className} role="status">
      {what}
    </p>
  );
}

/** The head of a part of a page, small. */
export const Sub = styled("p", css.sub);
export const Tag = styled("span", css.tag);
/** Stands where there is nothing else. */
export const Empty = styled("p", css.empty);
/** What went wrong. */
export const Fault = styled("div", css.errorBox);

export function CopyButton({ text, label = "Copy", icon }: { text: string; label?: string; icon?: ReactNode }) {
  const [done, setDone] = useState(false);
  return (
    <Button
      look="quiet small icon"
      aria-label={done ? "Copied" : label}
      title={label}
      testid="copy"
      onClick={() => {
        void navigator.clipboard?.writeText(text).then(() => {
          setDone(true);
          setTimeout(() => setDone(false), 1500);
        });
      }}
    >
      {done ? <Check className="ico s" /> : (icon ?? <Copy className="ico s" />)}
    </Button>
  );
}

export function Tabs<T extends string>(props: {
  name: string;
  label: string;
  items: { id: T; label: string; count?: number | undefined }[];
  now: T;
  onPick: (id: T) => void;
}) {
  const { items, now, onPick, name, label } = props;
  function key(event: KeyboardEvent) {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const place = items.findIndex((item) => item.id === now);
    const next = items[(place + step + items.length) % items.length];
    if (!next) return;
    onPick(next.id);
    document.getElementById(`${name}-${next.id}`)?.focus();
  }
  return (
    <div className={css.tabs} role="tablist" aria-label={label} onKeyDown={key}>
      {items.map((item) => (
        <button
          key={item.id}
          type="button"
          role="tab"
          id={`${name}-${item.id}`}
          data-testid={`${name}-${item.id}`}
          aria-selected={item.id === now}
          aria-controls={`${name}-body`}
          tabIndex={item.id === now ? 0 : -1}
          onClick={() => onPick(item.id)}
        >
          {item.label}
          {item.count === undefined ? null : <span>{item.count.toLocaleString("en")}</span>}
        </button>
      ))}
    </div>
  );
}

export function Seg<T extends string>(props: {
  label: string;
  /** The words of each choice. */
  items: Partial<Record<T, string>>;
  now: T;
  onPick: (id: T) => void;
  small?: boolean;
  disabled?: boolean;
}) {
  return (
    <span className={cx(css.seg, props.small && css.small)} role="group" aria-label={props.label}>
      {(Object.entries(props.items) as [T, string][]).map(([id, words]) => (
        <button
          key={id}
          type="button"
          aria-pressed={id === props.now}
          disabled={props.disabled}
          data-testid={`seg-${id}`}
          onClick={() => id !== props.now && props.onPick(id)}
        >
          {words}
        </button>
      ))}
    </span>
  );
}

/** So many entries has a list that is closed, beside the one for all: a browser measures each of them. */
const PICK_MAX = 40;

export function Pick(props: {
  label: string;
  value: string;
  options: { value: string; label: string | (() => string) }[];
  /** The word for none of them, where that can be picked. */
  any?: string;
  onPick: (value: string) => void;
  testid?: string;
  className?: string;
}) {
  const [whole, setWhole] = useState(false);
  const from = whole ? 0 : props.options.length - PICK_MAX;
  const shown = props.options.filter(({ value }, place) => place >= from || value === props.value);
  return (
    <label className={cx(css.pick, props.className)}>
      <span className="faint">{props.label}</span>
      <select
        aria-label={props.label}
        value={props.value}
        onChange={(event) => props.onPick(event.target.value)}
        onPointerDown={() => setWhole(true)}
        onFocus={() => setWhole(true)}
        onBlur={() => setWhole(false)}
        data-testid={props.testid}
      >
        {props.any ? <option value="">{props.any}</option> : null}
        {shown.map((option) => (
          <option key={option.value} value={option.value}>
            {typeof option.label === "string" ? option.label : option.label()}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Strip({ cells, label }: { cells: { key: string; state: SocketState }[]; label: string }) {
  // Above 120 items neighbours share a cell, so that the strip stays a strip.
  const size = Math.ceil(cells.length / 120);
  const shown = cells.filter((_, index) => index % size === 0);
  return (
    <span className={css.strip} role="img" aria-label={label}>
      {shown.map((cell) => (
        <i key={cell.key} className={cx(css.cell, "st", cell.state)} />
      ))}
    </span>
  );
}

export function Meter({ spent, limit }: { spent: number; limit: number }) {
  const share = limit > 0 ? Math.min(1, spent / limit) : 1;
  return (
    <span className={cx(css.meter, share >= 0.75 && css.warn)}>
      <i style={{ width: `${share * 100}%` }} />
    </span>
  );
}

/** A work item: its title, and its key small beside it. */
export function Item({ itemKey, title }: { itemKey: string; title?: string | null | undefined }) {
  if (!title || title === itemKey) return <span>{itemKey}</span>;
  return (
    <span title={`${oneLine(title, 200)} (${itemKey})`}>
      <Foreign text={oneLine(title, 80)} /> <span className={css.itemKey}>{itemKey}</span>
    </span>
  );
}

export function ErrorBox({ error }: { error: unknown }) {
  const returns = useLive((live) => live.returns);
  const [first] = useState(returns);
  // The server is back: what it did not answer is asked again, or can be done again.
  if (error instanceof Lost && returns > first) return null;
  return (
    <Fault role="alert" data-testid="error">
      {error instanceof Error ? error.message : String(error)}
    </Fault>
  );
}
