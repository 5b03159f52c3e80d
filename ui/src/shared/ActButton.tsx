// A button that does one thing to a cast, once, and the words that do the same on the command line.
import { type ReactNode, useRef, useState } from "react";
import { newKey } from "../api/client";
import { type Act, commandLine, type Done, perform } from "./acts";
import { useOnce } from "./ask";
import { Button, type ButtonProps } from "./Button";
import { Cli, useLine } from "./Cli";
import { Foot, Pop } from "./Pop";
import { ErrorBox } from "./parts";

export interface Target {
  castId: string;
  project: string | null;
}

function useAct(target: Target, onDone?: (done: Done, act: Act) => void) {
  // The same key until it has worked: a second press, or a lost answer, repeats the first.
  const key = useRef<{ act: string; key: string } | null>(null);
  return useOnce(
    (act: Act) => {
      const body = JSON.stringify(act);
      if (key.current?.act !== body) key.current = { act: body, key: newKey() };
      return perform(target.castId, target.project, act, key.current.key);
    },
    (done, act) => {
      key.current = null;
      onDone?.(done, act);
    },
  );
}

interface ActButtonProps extends Omit<ButtonProps, "title"> {
  target: Target;
  act: Act;
  onDone?: (done: Done, act: Act) => void;
}

/** Acts at once; its title names the command. */
export function ActButton({ target, act, disabled, onDone, ...button }: ActButtonProps) {
  const { run, busy, error } = useAct(target, onDone);
  const line = useLine(commandLine(target.castId, act), target.project);
  return (
    <>
      <Button {...button} disabled={busy || disabled} title={line} onClick={() => run(act)} />
      {error ? <ErrorBox error={error} /> : null}
    </>
  );
}

interface ConfirmProps extends ActButtonProps {
  title: string;
  text: ReactNode;
  verb: string;
  danger?: boolean;
  body?: ReactNode;
  label?: string;
  ready?: boolean;
  /** Another thing that can be done instead, below the question. */
  more?: ReactNode;
}

/** Asks once, in place, with the words of the button, and shows the command. */
export function Confirm(props: ConfirmProps) {
  const { target, act, onDone, title, text, verb, danger, body, label, ready, more, ...opener } = props;
  const [open, setOpen] = useState(false);
  const { run, busy, error, forget } = useAct(target, (done, what) => {
    setOpen(false);
    onDone?.(done, what);
  });
  return (
    <Pop
      open={open}
      onOpen={(now) => {
        if (now) forget();
        setOpen(now);
      }}
      opener={{ "aria-label": label, title: label, ...opener }}
    >
      <h2>{title}</h2>
      <div className="stack">
        <div className="dim">{text}</div>
        {body}
        <Cli words={commandLine(target.castId, act)} project={target.project} />
        {error ? <ErrorBox error={error} /> : null}
        <Foot>
          <Button onClick={() => setOpen(false)}>Cancel</Button>
          <Button
            look={danger ? "danger" : "primary"}
            disabled={busy || ready === false}
            testid={`${props.testid}-confirm`}
            autoFocus={!body}
            onClick={() => run(act)}
          >
            {verb}
          </Button>
        </Foot>
        {more}
      </div>
    </Pop>
  );
}
