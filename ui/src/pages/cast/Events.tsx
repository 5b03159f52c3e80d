// The log as a table. Only rows that are seen are in the page; the server filters and finds.
import { useInfiniteQuery, useQueries } from "@tanstack/react-query";
import { Search, X } from "lucide-react";
import { useCallback, useEffect, useMemo, useState } from "react";
import { field } from "../../api/events";
import type { EventLine } from "../../api/generated";
import { readEvents } from "../../api/texts";
import { nameOf, titled } from "../../fold";
import { IconButton } from "../../shared/Button";
import { useCast } from "../../shared/cast-store";
import { Input } from "../../shared/Field";
import { FindBox } from "../../shared/FindField";
import { count } from "../../shared/format";
import { ErrorBox, Pick } from "../../shared/parts";
import { EventRows } from "./EventRows";
import type { DockProps } from "./props";
import css from "./style.module.css";

const CHUNK = 200;
const KINDS = "run turn route handoff payload state loop cursor approval mode budget message follow_up timer".split(
  " ",
);

/** Where the address has each part of the filter. */
const PLACES = { kind: "kind", node: "node", item: "evitem", text: "find", from: "evfrom", to: "evto" } as const;
type Filter = Record<keyof typeof PLACES, string>;
const ALL = Object.fromEntries(Object.values(PLACES).map((place) => [place, null]));

export function EventsTab({ store, state, past, search, change }: DockProps) {
  const parts = Object.entries(PLACES).map(([name, place]) => [name, search.get(place) ?? ""]);
  const filter = Object.fromEntries(parts) as Filter;
  const filtered = Object.values(filter).some(Boolean);
  // What is being typed and not looked for yet. Whatever else changes the address (a link, the palette, the way back) wins.
  const [typed, setTyped] = useState<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address is the reason to forget it
  useEffect(() => setTyped(null), [filter.text]);
  useEffect(() => {
    if (typed === null) return;
    const timer = setTimeout(() => {
      change({ find: typed });
      setTyped(null);
    }, 250);
    return () => clearTimeout(timer);
  }, [typed, change]);
  const sockets = Object.entries(state.plan?.nodes ?? {});
  const items = useMemo(
    () => [...new Set(state.turns.map((turn) => turn.item).filter((item): item is string => item !== null))],
    [state.turns],
  );
  const open = Number(search.get("event") ?? 0);
  const itemOfTurn = useMemo(() => new Map(state.turns.map((turn) => [turn.seq, turn.item ?? ""])), [state.turns]);
  const itemOf = (event: EventLine): string =>
    String(field(event, "item") ?? itemOfTurn.get(field(event, "turn") ?? event.seq) ?? "");
  const found = useFiltered(store.id, store.project, filter, filtered, state.seq);
  return (
    <div className={css.evWrap}>
      <div className={css.evTools}>
        <FindBox>
          <Search className="ico s" />
          <input
            value={typed ?? filter.text}
            onChange={(event) => setTyped(event.target.value)}
            placeholder="Text in events"
            aria-label="Text in events"
            data-testid="events-text"
          />
        </FindBox>
        <Pick
          label="Kind"
          value={filter.kind}
          testid="events-kind"
          onPick={(kind) => change({ kind })}
          any="all"
          options={KINDS.map((value) => ({ value, label: value }))}
        />
        <Pick
          label="Socket"
          value={filter.node}
          testid="events-node"
          onPick={(node) => change({ node })}
          any="all"
          options={sockets.map(([value, node]) => ({
            value,
            label: node.materia === value ? value : `${nameOf(state, value)} ${value}`,
          }))}
        />
        {items.length > 0 ? (
          <Pick
            label="Item"
            value={filter.item}
            testid="events-item"
            onPick={(evitem) => change({ evitem })}
            any="all"
            options={items.map((value) => ({ value, label: () => titled(state, value) }))}
          />
        ) : null}
        {filter.from ? (
          <span className={css.chip} data-testid="events-span">
            <span className="sm">
              {filter.from} to {filter.to}
            </span>
            <IconButton icon={X} label="Show all events" onClick={() => change({ evfrom: null, evto: null })} />
          </span>
        ) : null}
        <GoTo last={state.seq} onGo={(seq) => change({ ...ALL, event: seq, at: seq }, true)} />
        <span className="faint sm grow r" data-testid="events-count">
          {filtered
            ? found.events
              ? `${count(found.events.length)}${found.hasMore ? "+" : ""} of ${count(state.seq)} events`
              : "…"
            : `${count(state.seq)} events`}
        </span>
      </div>
      {found.error ? <ErrorBox error={found.error} /> : null}
      {filtered ? (
        <EventRows
          total={found.events?.length ?? 0}
          rowAt={(index) => found.events?.[index]}
          want={(_, to) => {
            if (to > (found.events?.length ?? 0) - 50) found.more();
          }}
          itemOf={itemOf}
          at={null}
          follow={false}
          open={open}
          project={store.project}
          change={change}
        />
      ) : (
        <WholeLog {...{ store, state, past, open, change, itemOf }} />
      )}
    </div>
  );
}

/** Straight to an event by its number. */
function GoTo({ last, onGo }: { last: number; onGo: (seq: number) => void }) {
  const [text, setText] = useState("");
  const wanted = Number(text);
  const there = Number.isInteger(wanted) && wanted >= 1 && wanted <= last;
  return (
    <span className={css.goto}>
      <Input
        inputMode="numeric"
        value={text}
        placeholder="Go to event"
        aria-label={`Go to event, 1 to ${last}`}
        aria-invalid={text !== "" && !there}
        data-testid="goto"
        onChange={(event) => setText(event.target.value.replace(/\D/g, ""))}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !there) return;
          onGo(wanted);
          setText("");
        }}
      />
    </span>
  );
}

interface WholeProps extends globalThis.Pick<DockProps, "store" | "state" | "past" | "change"> {
  open: number;
  itemOf: (event: EventLine) => string;
}

/** All events by their number; what the page does not hold is read where it is looked at. */
function WholeLog({ store, state, past, open, change, itemOf }: WholeProps) {
  const events = useCast(store, (held) => held.events);
  const first = events[0]?.seq ?? state.seq + 1;
  const [range, setRange] = useState<[number, number]>([0, -1]);
  const wanted = Array.from({ length: range[1] - range[0] + 1 }, (_, place) => range[0] + place);
  const missing = wanted.filter((chunk) => chunk * CHUNK + 1 < first);
  const read = useQueries({
    queries: missing.map((chunk) => ({
      queryKey: ["log", store.id, store.project, chunk],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        store.read(chunk * CHUNK + 1, (chunk + 1) * CHUNK, null, signal),
      staleTime: Number.POSITIVE_INFINITY,
      // A reader who scrolls through everything does not keep everything.
      gcTime: 10_000,
      structuralSharing: false,
    })),
  });
  const want = useCallback((from: number, to: number) => {
    const next: [number, number] = [Math.floor(from / CHUNK), Math.floor(to / CHUNK)];
    setRange((before) => (before[0] === next[0] && before[1] === next[1] ? before : next));
  }, []);
  const rowAt = (index: number) => {
    const seq = index + 1;
    if (seq >= first) return events[seq - first];
    return read[missing.indexOf(Math.floor(index / CHUNK))]?.data?.[index % CHUNK];
  };
  return (
    <EventRows
      total={state.seq}
      rowAt={rowAt}
      want={want}
      itemOf={itemOf}
      at={past ? state.seq : null}
      follow={!past}
      open={open}
      project={store.project}
      change={change}
    />
  );
}

/** What the server finds, a page at a time: the next one when the reader comes near the end of what is there. */
function useFiltered(id: string, project: string | null, filter: Filter, on: boolean, seq: number) {
  const { kind, node, item, text, from, to } = filter;
  const last = to ? Math.min(Number(to), seq) : seq;
  const { data, error, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery({
    queryKey: ["events", id, project, filter, last],
    queryFn: ({ pageParam, signal }) => {
      const wanted = { project, type: kind, node, item, text, from: pageParam, to: last, order: "asc", limit: 1000 };
      return readEvents(id, wanted, signal);
    },
    initialPageParam: from as string | number,
    getNextPageParam: ({ items, next }) => (typeof next === "number" ? (items.at(-1)?.seq ?? last) + 1 : undefined),
    enabled: on,
    structuralSharing: false,
  });
  const events = useMemo(() => data?.pages.flatMap((page) => page.items) ?? (error ? [] : null), [data, error]);
  return {
    events,
    error,
    hasMore: hasNextPage,
    more: () => (hasNextPage && !isFetching ? void fetchNextPage() : null),
  };
}
