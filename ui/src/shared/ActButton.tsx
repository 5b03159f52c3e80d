// A button that does one thing to a cast, once, and the words that do the same on the command line.

import { type ReactNode, useRef, useState } from "react";
import { newKey } from "../api/client";
import { type Act, commandLine, type Done, perform } from "./acts";
import { Button } from "./Button";
import { Cli, useLine } from "./Cli";
import { Pop } from "./Pop";
import { ErrorBox } from "./parts";

export interface Target {
  castId: string;
  project: string | null;
}

export function useAct(target: Target, onDone?: (done: Done, act: Act) => void) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  // The same key until it has worked: a second press, or a lost answer, repeats the first.
  const key = useRef<{ act: string; key: string } | null>(null);
  async function run(act: Act): Promise<void> {
    if (busy) return;
    const body = JSON.stringify(act);
    if (key.current?.act !== body) key.current = { act: body, key: newKey() };
    setBusy(true);
    setError(null);
    try {
      const done = await perform(target.castId, target.project, act, key.current.key);
      key.current = null;
      onDone?.(done, act);
    } catch (fault) {
      setError(fault);
    } finally {
      setBusy(false);
    }
  }
  return { run, busy, error, clear: () => setError(null) };
}

interface ActButtonProps {
  target: Target;
  act: Act;
  children: ReactNode;
  className?: string;
  testid?: string;
  disabled?: boolean;
  onDone?: (done: Done, act: Act) => void;
}

/** Acts at once; its title names the command. */
export function ActButton({ target, act, children, className = "btn", testid, disabled, onDone }: ActButtonProps) {
  const { run, busy, error } = useAct(target, onDone);
  const line = useLine(commandLine(target.castId, act), target.project);
  return (
    <>
      <button
        type="button"
        className={className}
        disabled={busy || disabled}
        data-testid={testid}
        title={line}
        onClick={() => void run(act)}
      >
        {children}
      </button>
      {error ? <ErrorBox error={error} /> : null}
    </>
  );
}

/** Asks once, in place, with the words of the button, and shows the command. */
export function Confirm(
  props: ActButtonProps & {
    title: string;
    text: ReactNode;
    verb: string;
    danger?: boolean;
    body?: ReactNode;
    label?: string;
    ready?: boolean;
    /** Another thing that can be done instead, below the question. */
    more?: ReactNode;
  },
) {
  const [open, setOpen] = useState(false);
  const { run, busy, error, clear } = useAct(props.target, (done, act) => {
    setOpen(false);
    props.onDone?.(done, act);
  });
  return (
    <Pop
      open={open}
      onOpen={(now) => {
        if (now) clear();
        setOpen(now);
      }}
      opener={{
        className: props.className ?? "btn",
        "aria-label": props.label,
        title: props.label,
        disabled: props.disabled,
        "data-testid": props.testid,
        children: props.children,
      }}
    >
      <h3>{props.title}</h3>
      <div className="stack">
        <div className="dim">{props.text}</div>
        {props.body}
        <Cli words={commandLine(props.target.castId, props.act)} project={props.target.project} />
        {error ? <ErrorBox error={error} /> : null}
        <div className="foot">
          <Button onClick={() => setOpen(false)}>Cancel</Button>
          <button
            type="button"
            className={`btn ${props.danger ? "danger" : "primary"}`}
            disabled={busy || props.ready === false}
            data-testid={`${props.testid}-confirm`}
            // biome-ignore lint/a11y/noAutofocus: the question was just asked for
            autoFocus={!props.body}
            onClick={() => void run(props.act)}
          >
            {props.verb}
          </button>
        </div>
        {props.more}
      </div>
    </Pop>
  );
}
