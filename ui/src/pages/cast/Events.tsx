// The log as a table. Only rows that are seen are in the page; the server filters and finds.
import { useVirtualizer } from "@tanstack/react-virtual";
import { Search } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { get, segment } from "../../api/client";
import type { JournalEvent, Page } from "../../api/types";
import { nameOf } from "../../fold";
import { eventWords } from "../../shared/eventWords";
import { clock, count } from "../../shared/format";
import { JsonText } from "../../shared/JsonTree";
import { CopyButton, ErrorBox, Foreign, Pick } from "../../shared/parts";
import { searchNow } from "../../shared/router";
import type { DockProps } from "./Dock";

const ROW = 22;
const CHUNK = 200;
const KINDS = [
  "run",
  "turn",
  "route",
  "handoff",
  "payload",
  "state",
  "loop",
  "cursor",
  "approval",
  "mode",
  "budget",
  "message",
  "follow_up",
  "timer",
];

interface Filter {
  kind: string;
  node: string;
  item: string;
  text: string;
}

export function EventsTab({ store, state, past, search, change }: DockProps) {
  const filter: Filter = {
    kind: search.get("kind") ?? "",
    node: search.get("node") ?? "",
    item: search.get("evitem") ?? "",
    text: search.get("find") ?? "",
  };
  const filtered = Object.values(filter).some(Boolean);
  const [words, setWords] = useState(filter.text);
  useEffect(() => {
    const timer = setTimeout(() => words !== (searchNow().get("find") ?? "") && change({ find: words }), 250);
    return () => clearTimeout(timer);
  }, [words, change]);
  const sockets = Object.entries(state.plan?.nodes ?? {});
  const items = [...new Set(state.turns.map((turn) => turn.item).filter((item): item is string => item !== null))];
  const open = Number(search.get("event") ?? 0);
  const found = useFiltered(store.id, store.project, filter, filtered, state.seq);
  return (
    <div className="ev-wrap">
      <div className="ev-tools">
        <label className="find">
          <Search className="ico s" />
          <input
            value={words}
            onChange={(event) => setWords(event.target.value)}
            placeholder="Text in events"
            aria-label="Text in events"
            data-testid="events-text"
          />
        </label>
        <Pick
          label="Kind"
          value={filter.kind}
          testid="events-kind"
          onPick={(kind) => change({ kind })}
          options={[{ value: "", label: "all" }, ...KINDS.map((value) => ({ value, label: value }))]}
        />
        <Pick
          label="Socket"
          value={filter.node}
          testid="events-node"
          onPick={(node) => change({ node })}
          options={[
            { value: "", label: "all" },
            ...sockets.map(([value, node]) => ({
              value,
              label: node.materia === value ? value : `${nameOf(state, value)} ${value}`,
            })),
          ]}
        />
        {items.length > 0 ? (
          <Pick
            label="Item"
            value={filter.item}
            testid="events-item"
            onPick={(evitem) => change({ evitem })}
            options={[{ value: "", label: "all" }, ...items.map((value) => ({ value, label: value }))]}
          />
        ) : null}
        <span className="faint sm grow r" data-testid="events-count">
          {filtered
            ? found.events
              ? `${count(found.events.length)}${found.more ? "+" : ""} of ${count(state.seq)} events`
              : "…"
            : `${count(state.seq)} events`}
        </span>
      </div>
      {found.error ? <ErrorBox error={found.error} /> : null}
      {filtered ? (
        <Rows
          total={found.events?.length ?? 0}
          rowAt={(index) => found.events?.[index]}
          want={() => {}}
          at={past ? state.seq : null}
          follow={false}
          open={open}
          change={change}
        />
      ) : (
        <WholeLog {...{ store, state, past, open, change }} />
      )}
    </div>
  );
}

/** All events by their number; what the page does not hold is read where it is looked at. */
function WholeLog({ store, state, past, open, change }: Pick_) {
  const { events } = store.get();
  const first = events[0]?.seq ?? state.seq + 1;
  const [chunks, setChunks] = useState<Map<number, JournalEvent[]>>(new Map());
  const asked = useRef(new Set<number>());
  const want = (from: number, to: number) => {
    for (let chunk = Math.floor(from / CHUNK); chunk <= Math.floor(to / CHUNK); chunk += 1) {
      const low = chunk * CHUNK + 1;
      if (low >= first || asked.current.has(chunk)) continue;
      asked.current.add(chunk);
      void store.read(low, Math.min(low + CHUNK - 1, first - 1)).then(
        (read) =>
          setChunks((before) => {
            const next = new Map(before).set(chunk, read);
            // A reader who scrolls through everything does not keep everything.
            for (const key of [...next.keys()].slice(0, Math.max(0, next.size - 20))) {
              next.delete(key);
              asked.current.delete(key);
            }
            return next;
          }),
        () => asked.current.delete(chunk),
      );
    }
  };
  const rowAt = (index: number) => {
    const seq = index + 1;
    if (seq >= first) return events[seq - first];
    return chunks.get(Math.floor(index / CHUNK))?.[index % CHUNK];
  };
  return (
    <Rows
      total={state.seq}
      rowAt={rowAt}
      want={want}
      at={past ? state.seq : null}
      follow={!past}
      open={open}
      change={change}
    />
  );
}
type Pick_ = globalThis.Pick<DockProps, "store" | "state" | "past" | "change"> & { open: number };

function useFiltered(id: string, project: string | null, filter: Filter, on: boolean, seq: number) {
  const [held, setHeld] = useState<{ key: string; events: JournalEvent[] | null; more: boolean; error: Error | null }>({
    key: "",
    events: null,
    more: false,
    error: null,
  });
  const { kind, node, item, text } = filter;
  useEffect(() => {
    if (!on) return;
    const controller = new AbortController();
    get<Page<JournalEvent>>(
      `/casts/${segment(id)}/events`,
      { project, type: kind, node, item, text, to: seq, order: "asc", limit: 1000 },
      controller.signal,
    ).then(
      (page) => setHeld({ key: id, events: page.items, more: Boolean(page.next), error: null }),
      (error: Error) => error.name !== "AbortError" && setHeld({ key: id, events: [], more: false, error }),
    );
    return () => controller.abort();
  }, [id, project, kind, node, item, text, on, seq]);
  return held;
}

interface RowsProps {
  total: number;
  rowAt: (index: number) => JournalEvent | undefined;
  want: (from: number, to: number) => void;
  /** The event that the page is at, if it is in the past. */
  at: number | null;
  follow: boolean;
  open: number;
  change: DockProps["change"];
}

function Rows({ total, rowAt, want, at, follow, open, change }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  const list = useVirtualizer({
    count: total,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  const shown = list.getVirtualItems();
  const [from, to] = [shown[0]?.index ?? 0, shown.at(-1)?.index ?? 0];
  useEffect(() => want(from, to));
  useEffect(() => {
    if (follow && stuck.current && total > 0) list.scrollToIndex(total - 1, { align: "end" });
  }, [follow, total, list]);
  useEffect(() => {
    if (at !== null && total >= at) list.scrollToIndex(at - 1, { align: "center" });
  }, [at, total, list]);
  const detail = useMemo(
    () =>
      open ? Array.from({ length: total }, (_, index) => index).find((index) => rowAt(index)?.seq === open) : undefined,
    [open, total, rowAt],
  );
  const event = detail === undefined ? undefined : rowAt(detail);
  return (
    <div className="ev-split">
      <div
        className="evlist"
        ref={box}
        role="table"
        aria-label="Events"
        aria-rowcount={total}
        onScroll={() => {
          const element = box.current;
          if (element) stuck.current = element.scrollHeight - element.scrollTop - element.clientHeight < ROW * 2;
        }}
      >
        <div className="evrow evhead" role="row">
          <span role="columnheader" className="r">
            Seq
          </span>
          <span role="columnheader">Time</span>
          <span role="columnheader">Kind</span>
          <span role="columnheader">Socket</span>
          <span role="columnheader">What happened</span>
        </div>
        <div role="rowgroup" style={{ height: list.getTotalSize(), position: "relative" }}>
          {shown.map((row) => {
            const one = rowAt(row.index);
            return (
              <div
                key={row.key}
                className="evrow"
                role="row"
                data-testid={one ? `row-${one.seq}` : "row-empty"}
                aria-rowindex={row.index + 1}
                aria-selected={one !== undefined && (one.seq === at || one.seq === open)}
                style={{ transform: `translateY(${row.start}px)` }}
              >
                {one ? (
                  <>
                    <span role="cell" className="r">
                      <button
                        type="button"
                        className="ev"
                        onClick={() => change({ at: one.seq }, true)}
                        title="Show the page as of this event"
                      >
                        {one.seq}
                      </button>
                    </span>
                    <span role="cell" className="faint">
                      {clock(one.wallTime, true)}
                    </span>
                    <span role="cell" className="mono">
                      {one.type}
                    </span>
                    <span role="cell" className="mono cut">
                      {one.nodeId ?? ""}
                    </span>
                    <span role="cell" className="cut">
                      <button
                        type="button"
                        className="what cut"
                        onClick={() => change({ event: open === one.seq ? null : one.seq })}
                      >
                        <Foreign text={eventWords(one)} />
                      </button>
                    </span>
                  </>
                ) : (
                  <span role="cell" className="faint">
                    …
                  </span>
                )}
              </div>
            );
          })}
        </div>
      </div>
      {event ? (
        <div className="evraw" data-testid="event-raw">
          <div className="row">
            <strong className="grow">Event {event.seq}</strong>
            <CopyButton text={JSON.stringify(event, null, 2)} label="Copy the event" />
            <button type="button" className="btn quiet small" onClick={() => change({ event: null })}>
              Close
            </button>
          </div>
          <JsonText value={event as never} />
        </div>
      ) : null}
    </div>
  );
}
