// The rows of the log: only those that are seen are in the page. One of them can be opened as it is written.

import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef } from "react";
import type { EventLine } from "../../api/generated";
import { Button } from "../../shared/Button";
import { eventWords } from "../../shared/eventWords";
import { clock } from "../../shared/format";
import { JsonText } from "../../shared/JsonTree";
import { LongTexts } from "../../shared/LongTexts";
import { CopyButton, Foreign } from "../../shared/parts";
import type { DockProps } from "./Dock";

const ROW = 22;

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
          <span role="columnheader">Item</span>
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
                  <Cells event={one} item={itemOf(one)} opened={open === one.seq} change={change} />
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

function Cells(props: { event: EventLine; item: string; opened: boolean; change: DockProps["change"] }) {
  const { event, item, opened, change } = props;
  return (
    <>
      <span role="cell" className="r">
        <button
          type="button"
          className="ev"
          onClick={() => change({ at: event.seq }, true)}
          title="Show the page as of this event"
        >
          {event.seq}
        </button>
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
        <button type="button" className="what cut" onClick={() => change({ event: opened ? null : event.seq })}>
          <Foreign text={eventWords(event)} />
        </button>
      </span>
    </>
  );
}
