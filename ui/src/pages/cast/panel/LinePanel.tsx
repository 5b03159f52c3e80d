// A line of the graph: what went over it, what waits there, each payload whole.
import { useQuery } from "@tanstack/react-query";
import { ArrowRight, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { get, segment } from "../../../api/client";
import { isEnd } from "../../../api/ends";
import type { Envelope, Json, TurnView } from "../../../api/generated";
import { type CastState, type Crossing, counted, crossings, itemTitle, nameOf, PAYLOAD_EVENTS } from "../../../fold";
import { lineWords } from "../../../graph/lines";
import type { Line } from "../../../graph/rows";
import { Button, IconButton } from "../../../shared/Button";
import { type CastStore, useCast } from "../../../shared/cast-store";
import { cx } from "../../../shared/cx";
import { isExported } from "../../../shared/exported";
import { EventLink } from "../../../shared/Linked";
import { ErrorBox, Foreign, Item, Reading, Sub } from "../../../shared/parts";
import { oneLine } from "../../../shared/text";
import { Whole } from "../../../shared/Whole";
import type { PanelProps } from "../props";
import css from "../style.module.css";

/** Of a cast that is not held whole, so many of its newest events are looked through. */
const LOOK_BACK = 5000;
const SHOWN = 50;

interface LinePanelProps extends Pick<PanelProps, "store" | "state" | "change" | "onEvent"> {
  line: Line;
  taken: number;
}

export function LinePanel({ store, state, line, taken, change, onEvent }: LinePanelProps) {
  const whole = useCast(store, (held) => held.whole);
  const events = useCast(store, (held) => held.events);
  const from = Math.max(1, state.seq - LOOK_BACK);
  const read = useQuery({
    queryKey: ["payloads", store.id, store.project, line.id, state.seq],
    queryFn: ({ signal }) => store.read(from, state.seq, PAYLOAD_EVENTS, signal),
    enabled: !whole,
  });
  const all = crossings(whole ? events : (read.data ?? []), line.id, state.seq);
  const waiting = all.filter((one) => one.fate === "waits");
  const passed = all.filter((one) => one.fate !== "waits").toReversed();
  const name = (id: string) => (isEnd(id) ? (id === "end" ? "the end" : "the failure") : nameOf(state, id));
  const title = `${name(line.from)} to ${name(line.to)}`;
  const open = (one: Crossing) => change({ line: null, socket: one.to, turn: one.by, tab: "input" });
  const rows = (list: Crossing[]) =>
    list.map((one) => (
      <Row key={one.payloadId} one={one} store={store} state={state} onEvent={onEvent} onTurn={() => open(one)} />
    ));
  const place = useRef<HTMLElement>(null);
  // On a narrow screen it stands below the outline.
  useEffect(() => {
    place.current?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <aside className={css.panel} aria-label={`Line, ${title}`} data-testid="line-panel" ref={place}>
      <div className={css.phead}>
        <div className="row">
          <ArrowRight className="ico" />
          <Foreign as="h2" className="cut grow" text={title} />
          <IconButton icon={X} label="Close" testid="line-close" onClick={() => change({ line: null })} />
        </div>
        <p className={cx(css.lineFacts, "dim sm")}>
          {lineWords[line.kind] ? `${lineWords[line.kind]}, ` : ""}
          {taken === 0 ? "not taken yet" : `taken ${counted(taken, "time")}`}
          {line.max ? `, at most ${line.max} for one item` : ""} · <span className="mono">{line.id}</span>
        </p>
      </div>
      <section className={css.pbody} aria-label="Payloads" tabIndex={0}>
        {read.error ? <ErrorBox error={read.error} /> : null}
        {isEnd(line.to) ? (
          <p className="dim">The cast ends there: this line carries no payloads.</p>
        ) : (
          <>
            <Sub as="h3">Waiting</Sub>
            {waiting.length > 0 ? (
              <ul className={css.payloads} data-testid="line-waits">
                {rows(waiting)}
              </ul>
            ) : (
              <p className="dim">Nothing waits.</p>
            )}
            <Sub as="h3">Sent over this line</Sub>
            {passed.length > 0 ? (
              <ul className={css.payloads} data-testid="line-passed">
                {rows(passed.slice(0, SHOWN))}
              </ul>
            ) : (
              <p className="dim">Nothing yet.</p>
            )}
            {passed.length > SHOWN || (!whole && from > 1) ? (
              <p className="faint sm">
                The newest {SHOWN} are shown{whole ? "" : `, of events from ${from} on`}; the list of events has the
                others.
              </p>
            ) : null}
          </>
        )}
      </section>
    </aside>
  );
}

interface RowProps extends Pick<PanelProps, "store" | "state" | "onEvent"> {
  one: Crossing;
  onTurn: () => void;
}

function Row({ one, store, state, onEvent, onTurn }: RowProps) {
  const [open, setOpen] = useState(false);
  return (
    <li data-testid={`payload-${one.seq}`} data-fate={one.fate}>
      <div className="row sm">
        <span>
          event <EventLink seq={one.seq} onEvent={onEvent} />
        </span>
        {one.item ? <Item itemKey={one.item} title={itemTitle(state, one.item)} /> : null}
        <span className="grow dim">{fateWords(one, state)}</span>
        {one.fate === "consumed" && one.by ? (
          <Button look="small" onClick={onTurn}>
            Its turn
          </Button>
        ) : null}
      </div>
      {open ? (
        <Content one={one} store={store} />
      ) : (
        <Foreign as="p" className="cut" text={oneLine(one.preview, 160) || "empty"} />
      )}
      <Button look="small" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? "Collapse" : "Show all"}
      </Button>
    </li>
  );
}

function fateWords(one: Crossing, state: CastState): string {
  const who = nameOf(state, one.to);
  const words: Record<Crossing["fate"], string> = {
    waits: `waits for ${who}`,
    consumed: `${who} took it`,
    superseded: "replaced by a newer payload",
    deduplicated: "left out: a duplicate of an earlier payload",
    filtered: "left out by the transform",
    skipped: "dropped with its item",
    dropped: one.reason === "busy" ? `dropped: ${who} was busy` : "dropped: the line was full",
  };
  return words[one.fate];
}

/** The payload as a turn gets it. A file has no payloads; there it is the output that the payload carries. */
function Content({ one, store }: { one: Crossing; store: CastStore }) {
  const cast = `/casts/${segment(store.id)}`;
  const read = useQuery({
    queryKey: ["payload", store.id, store.project, one.seq],
    queryFn: async ({ signal }): Promise<Json> => {
      if (!isExported()) return get<Json>(`${cast}/payloads/${one.seq}`, { project: store.project }, signal);
      return one.turn ? ((await get<TurnView>(`${cast}/turns/${one.turn}`, {}, signal)).output ?? "") : one.preview;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (read.error) return <ErrorBox error={read.error} />;
  if (read.data === undefined) return <Reading />;
  return <PayloadText payload={read.data} />;
}

/** Its text as text, its object as JSON, then whatever else it has. */
function PayloadText({ payload }: { payload: Json }) {
  if (typeof payload === "string") return <Whole value={payload} label="the output" testid="payload-text" />;
  const { message, structured, artifacts, status } = payload as unknown as Envelope;
  return (
    <>
      {message ? <Whole value={message} label="the message" testid="payload-text" /> : null}
      {structured !== undefined && structured !== null ? (
        <Whole value={structured} label="the object" testid="payload-object" />
      ) : null}
      {artifacts && artifacts.length > 0 ? <Whole value={artifacts} label="the artifacts" /> : null}
      {status ? <Whole value={status} label="the status" /> : null}
    </>
  );
}
