// A sentence of the program, with its event numbers as links and its names as code.
import { type ComponentProps, Fragment } from "react";
import { styled } from "./cx";
import css from "./linked.module.css";
import { Foreign } from "./parts";
import { Link } from "./router";

/** Goes to an event or a socket. */
export const Jump = (props: ComponentProps<"button">) => <button type="button" className={css.jump} {...props} />;
export const JumpLink = styled(Link, css.jump);

export function EventLink({ seq, onEvent }: { seq: number; onEvent: (seq: number) => void }) {
  return (
    <Jump title={`Event ${seq}`} data-testid={`event-link-${seq}`} onClick={() => onEvent(seq)}>
      {seq}
    </Jump>
  );
}

interface LinkedProps {
  text: string;
  onEvent: (seq: number) => void;
  names?: (id: string) => string | undefined;
}

export function Linked({ text, onEvent, names }: LinkedProps) {
  const parts = text.split(/(`[^`]*`|\bevents? \d+(?:(?:, | and )\d+)*)/g);
  return parts.map((part, index) => {
    const key = `${index}:${part.slice(0, 12)}`;
    if (part.startsWith("`") && part.endsWith("`") && part.length > 1) {
      const word = part.slice(1, -1);
      const name = names?.(word);
      return name && name !== word ? (
        <Foreign as="span" key={key} title={word} className="strong" text={name} />
      ) : (
        <Foreign as="code" key={key} text={word} />
      );
    }
    if (/^events? \d/.test(part))
      return (
        <Fragment key={key}>
          {part
            .split(/(\d+)/)
            .map((bit) =>
              /^\d+$/.test(bit) ? <EventLink key={`${key}:${bit}`} seq={Number(bit)} onEvent={onEvent} /> : bit,
            )}
        </Fragment>
      );
    return <Foreign key={key} text={part} />;
  });
}
