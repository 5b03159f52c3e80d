// The rows of the log: only those that are seen are in the page. One of them can be opened as it is written.
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useEffect, useLayoutEffect, useMemo, useRef } from "react";
import type { EventLine } from "../../api/generated";
import { Button } from "../../shared/Button";
import { cx } from "../../shared/cx";
import { eventWords } from "../../shared/eventWords";
import { clock } from "../../shared/format";
import { JsonText } from "../../shared/JsonTree";
import { Jump } from "../../shared/Linked";
import { LongTexts } from "../../shared/LongTexts";
import { CopyButton, Foreign } from "../../shared/parts";
import type { DockProps } from "./props";
import css from "./style.module.css";

const ROW = 22;
const HEADS = ["Seq", "Time", "Kind", "Socket", "Item", "What happened"];

interface RowsProps {
  total: number;
  rowAt: (index: number) => EventLine | undefined;
  want: (from: number, to: number) => void;
  /** The item that an event is about. */
  itemOf: (event: EventLine) => string;
  /** The event that the page is at, if it is in the past. */
  at: number | null;
  follow: boolean;
  open: number;
  project: string | null;
  change: DockProps["change"];
}

export function EventRows({ total, rowAt, want, itemOf, at, follow, open, project, change }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  const list = useVirtualizer({
    count: total,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  const following = follow && stuck.current;
  // The rows at the new end are drawn at once, and not first those at the old one.
  if (following && list.scrollElement) list.scrollOffset = list.getTotalSize();
  const shown = list.getVirtualItems();
  const [from, to] = [shown[0]?.index ?? 0, shown.at(-1)?.index ?? 0];
  useEffect(() => want(from, to));
  // biome-ignore lint/correctness/useExhaustiveDependencies: more events are the reason to scroll
  useLayoutEffect(() => {
    if (following) box.current?.scrollTo(0, Number.MAX_SAFE_INTEGER);
  }, [following, total]);
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
    <div className={css.evSplit}>
      <div
        className={css.evlist}
        ref={box}
        role="table"
        aria-label="Events"
        aria-rowcount={total}
        onScroll={() => {
          const element = box.current;
          if (element) stuck.current = element.scrollHeight - element.scrollTop - element.clientHeight < ROW * 2;
        }}
      >
        <div className={cx(css.evrow, css.evhead)} role="row">
          {HEADS.map((head) => (
            <span key={head} role="columnheader" className={head === "Seq" ? "r" : ""}>
              {head}
            </span>
          ))}
        </div>
        <div role="rowgroup" style={{ height: list.getTotalSize(), position: "relative" }}>
          {shown.map((row) => {
            const one = rowAt(row.index);
            return (
              <Row
                key={row.key}
                index={row.index}
                top={row.start}
                event={one}
                item={one ? itemOf(one) : ""}
                selected={one !== undefined && (one.seq === at || one.seq === open)}
                opened={one !== undefined && one.seq === open}
                change={change}
              />
            );
          })}
        </div>
      </div>
      {event ? (
        <div className={css.evraw} data-testid="event-raw">
          <div className="row">
            <strong className="grow">Event {event.seq}</strong>
            <CopyButton text={JSON.stringify(event, null, 2)} label="Copy the event" />
            <Button look="quiet small" onClick={() => change({ event: null })}>
              Close
            </Button>
          </div>
          <JsonText value={event as never} />
          <LongTexts value={event.data} project={project} />
        </div>
      ) : null}
    </div>
  );
}

interface RowProps {
  index: number;
  top: number;
  event: EventLine | undefined;
  item: string;
  selected: boolean;
  opened: boolean;
  change: DockProps["change"];
}

const Row = memo(function Row({ index, top, event, item, selected, opened, change }: RowProps) {
  return (
    <div
      className={css.evrow}
      role="row"
      data-testid={event ? `row-${event.seq}` : "row-empty"}
      aria-rowindex={index + 1}
      aria-selected={selected}
      style={{ transform: `translateY(${top}px)` }}
    >
      {event ? (
        <Cells event={event} item={item} opened={opened} change={change} />
      ) : (
        <span role="cell" className="faint">
          …
        </span>
      )}
    </div>
  );
});

function Cells(props: { event: EventLine; item: string; opened: boolean; change: DockProps["change"] }) {
  const { event, item, opened, change } = props;
  return (
    <>
      <span role="cell" className="r">
        <Jump onClick={() => change({ at: event.seq }, true)} title="Show the page as of this event">
          {event.seq}
        </Jump>
      </span>
      <span role="cell" className="faint">
        {clock(event.wallTime, true)}
      </span>
      <span role="cell" className="mono cut">
        {event.type}
      </span>
      <span role="cell" className="mono cut">
        {event.nodeId ?? ""}
      </span>
      <span role="cell" className="faint cut">
        {item}
      </span>
      <span role="cell" className="cut">
        <button
          type="button"
          className={cx(css.what, "cut")}
          onClick={() => change({ event: opened ? null : event.seq })}
        >
          <Foreign text={eventWords(event)} />
        </button>
      </span>
    </>
  );
}
