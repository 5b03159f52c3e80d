// A socket that talks with a person: what was said, and the next answer.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { field } from "../../api/events";
import { ActButton } from "../../shared/ActButton";
import { type Act, commandLine } from "../../shared/acts";
import { Cli } from "../../shared/Cli";
import { cx } from "../../shared/cx";
import { TextArea } from "../../shared/Field";
import { ErrorBox, Item } from "../../shared/parts";
import { plain } from "../../shared/text";
import css from "./inbox.module.css";
import type { CardProps } from "./props";
import { events, targetOf } from "./target";

/** What an answer says, where it is an object with a context; else all of it. */
export function spoken(output: string): { text: string; items: string[] } {
  try {
    const value = JSON.parse(output) as { context?: unknown; workItems?: { title?: unknown }[] };
    const items = Array.isArray(value.workItems) ? value.workItems.map((one) => String(one?.title ?? "")) : [];
    if (typeof value.context === "string" || items.length > 0)
      return { text: typeof value.context === "string" ? value.context : "", items };
  } catch {
    // Not an object: shown as it is.
  }
  return { text: output, items: [] };
}

function Said({ output }: { output: string }) {
  const { text, items } = spoken(output);
  return (
    <>
      {text ? <pre className={css.prose}>{plain(text)}</pre> : null}
      {items.length > 0 ? (
        <ol className={css.plan}>
          {items.map((title, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: items are named by their place
            <li key={index}>
              <Item itemKey={`WI-${index + 1}`} title={title} />
            </li>
          ))}
        </ol>
      ) : null}
    </>
  );
}

export function Conversation({ item, onAnswered }: CardProps) {
  const target = targetOf(item);
  const draft = `materia.answer.${item.castId}`;
  const [text, setText] = useState(() => sessionStorage.getItem(draft) ?? "");
  const [sent, setSent] = useState(0);
  const keep = (value: string) => {
    setText(value);
    sessionStorage.setItem(draft, value);
  };
  const talk = useQuery({
    queryKey: ["talk", item.castId, target.project, item.since, sent],
    queryFn: async ({ signal }) => {
      const [said, told] = await Promise.all([
        events(item, "turn.completed", signal),
        events(item, "message.received", signal),
      ]);
      return [...said, ...told].sort((a, b) => a.seq - b.seq);
    },
  });
  const say: Act = { do: "say", ...(item.node ? { node: item.node } : {}), text };
  const finish: Act = { do: "continue", ...(item.node ? { node: item.node } : {}) };
  return (
    <>
      <div className={cx(css.ibody, css.talk)}>
        {talk.error ? <ErrorBox error={talk.error} /> : null}
        {(talk.data ?? []).map((event) => (
          <div key={event.seq} className={event.type === "message.received" ? css.you : ""}>
            <span className={css.who}>
              <strong>{event.type === "message.received" ? "You" : item.node}</strong>
              <span className="faint sm">event {event.seq}</span>
            </span>
            <div>
              {event.type === "message.received" ? (
                <pre className={css.prose}>{plain(event.data.text)}</pre>
              ) : (
                <Said output={String(field(event, "output"))} />
              )}
            </div>
          </div>
        ))}
        {!talk.data && item.said ? <Said output={item.said} /> : null}
        <label className="sr" htmlFor={`answer-${item.castId}`}>
          Your answer
        </label>
        <TextArea
          id={`answer-${item.castId}`}
          rows={3}
          value={text}
          placeholder="Your answer. It is one more input of the socket, which answers and waits again."
          data-testid="answer"
          onChange={(event) => keep(event.target.value)}
        />
      </div>
      <footer>
        <ActButton
          look="primary"
          target={target}
          act={say}
          disabled={!text.trim()}
          testid="say"
          onDone={() => {
            keep("");
            setSent(sent + 1);
            onAnswered(`Answered: ${item.node}`);
          }}
        >
          Send the answer
        </ActButton>
        <ActButton target={target} act={finish} testid="continue" onDone={() => onAnswered(`Finished: ${item.node}`)}>
          Accept and go on
        </ActButton>
        <span className="grow" />
        <Cli bare words={commandLine(item.castId, text.trim() ? say : finish)} project={target.project} />
      </footer>
    </>
  );
}
