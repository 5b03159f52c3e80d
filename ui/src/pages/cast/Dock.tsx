// The dock under the graph: timeline, events, output, state, cost, files.

import { ChevronDown, ChevronUp, Maximize, X, ZoomIn } from "lucide-react";
import { memo, type PointerEvent, useDeferredValue, useRef, useState } from "react";
import { Button, IconButton } from "../../shared/Button";
import { cx } from "../../shared/cx";
import { isExported } from "../../shared/exported";
import { keep, kept } from "../../shared/kept";
import { Seg, Tabs } from "../../shared/parts";
import { useWide } from "../../shared/useWide";
import { CostTab } from "./Cost";
import { EventsTab } from "./Events";
import { OutputLog } from "./OutputLog";
import type { DockProps } from "./props";
import { StateTab } from "./StateTab";
import css from "./style.module.css";
import { Timeline, type TimelineProps } from "./timeline";
import { ALL, type Window, zoomed } from "./timeline/scale";
import { WorkspaceTab } from "./Workspace";

export type DockTab = "timeline" | "events" | "output" | "state" | "cost" | "files";
const HEIGHT = "materia.dock";

/** It does not change with every word that a turn puts out. */
export const Dock = memo(function Dock(props: DockProps) {
  const { state, search, change } = props;
  const wide = useWide(768);
  const hasFiles = state.own && wide && !isExported();
  const wanted = (search.get("dock") as DockTab | null) ?? "timeline";
  const tab = wanted === "files" && !hasFiles ? "timeline" : wanted;
  const [height, setHeight] = useState(() => Number(kept(HEIGHT)) || 252);
  const [open, setOpen] = useState(true);
  const [view, setView] = useState<Window>(ALL);
  // The tab that was pressed is marked at once; what it shows may take longer to draw.
  const shown = useDeferredValue(tab);
  const settled = useDeferredValue(props);
  const from = useRef<{ y: number; height: number } | null>(null);
  const size = (value: number) => {
    const next = Math.max(120, Math.min(innerHeight - 320, value));
    setHeight(next);
    keep(HEIGHT, String(next));
  };
  const move = (event: PointerEvent) => {
    if (from.current) size(from.current.height + from.current.y - event.clientY);
  };
  return (
    <section className={css.dock} aria-label="Dock" data-testid="dock" style={{ height: open ? height : 36 }}>
      <div
        className={css.grip}
        role="separator"
        aria-orientation="horizontal"
        aria-label="Height of the dock"
        aria-valuenow={height}
        aria-valuemin={120}
        aria-valuemax={900}
        tabIndex={0}
        onPointerDown={(event) => {
          from.current = { y: event.clientY, height };
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={move}
        onPointerUp={() => {
          from.current = null;
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowUp") size(height + 24);
          if (event.key === "ArrowDown") size(height - 24);
        }}
      />
      <div className={css.dhead}>
        <Tabs<DockTab>
          name="dock"
          label="Dock"
          now={tab}
          onPick={(id) => {
            setOpen(true);
            change({ dock: id });
          }}
          items={[
            { id: "timeline", label: "Timeline" },
            { id: "events", label: "Events", count: state.seq },
            { id: "output", label: "Output" },
            { id: "state", label: "State", count: Object.keys(state.variables).length },
            { id: "cost", label: "Cost" },
            ...(hasFiles ? [{ id: "files" as const, label: "Files" }] : []),
          ]}
        />
        <span className="grow" />
        {tab === "timeline" && open ? (
          <TimelineTools search={search} change={change} view={view} setView={setView} />
        ) : null}
        <Button
          look="quiet small icon"
          aria-label={open ? "Close the dock" : "Open the dock"}
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {open ? <ChevronDown className="ico" /> : <ChevronUp className="ico" />}
        </Button>
      </div>
      <div
        className={css.dbody}
        id="dock-body"
        role="tabpanel"
        aria-labelledby={`dock-${tab}`}
        hidden={!open}
        tabIndex={0}
      >
        <Body {...settled} tab={shown} view={view} setView={setView} />
      </div>
    </section>
  );
});

const Body = memo(function Body({ tab, view, setView, ...props }: TimelineProps & { tab: DockTab }) {
  if (tab === "timeline") return <Timeline {...props} view={view} setView={setView} />;
  if (tab === "events") return <EventsTab {...props} />;
  if (tab === "output") return <OutputLog {...props} />;
  if (tab === "state") return <StateTab {...props} />;
  if (tab === "cost") return <CostTab state={props.state} />;
  return <WorkspaceTab state={props.state} target={props.target} past={props.past} />;
});

/** What the timeline shows of time, beside its tabs. */
function TimelineTools(
  props: Pick<DockProps, "search" | "change"> & { view: Window; setView: (view: Window) => void },
) {
  const { search, change, view, setView } = props;
  const middle = (view.from + view.to) / 2;
  const whole = view.from === 0 && view.to === 1;
  const brushed = search.get("evfrom");
  return (
    <>
      {brushed ? (
        <span className={css.chip} data-testid="brushed">
          <Button look="quiet small" onClick={() => change({ dock: "events" })}>
            Events {brushed} to {search.get("evto")}
          </Button>
          <IconButton
            icon={X}
            label="Clear the event filter"
            testid="clear-brush"
            onClick={() => change({ evfrom: null, evto: null })}
          />
        </span>
      ) : (
        <span className={cx(css.brushHint, "faint sm wide-only nowrap cut")}>
          Drag over a span to filter the events
        </span>
      )}
      <Seg
        small
        label="Attempts"
        now={search.get("attempts") ?? "all"}
        onPick={(id) => change({ attempts: id === "all" ? null : id })}
        items={{ all: "All turns", last: "Last of each item" }}
      />
      {search.get("idle") === "shown" ? (
        <Button look="small" testid="cut-idle" onClick={() => change({ idle: null })}>
          Cut idle time
        </Button>
      ) : null}
      <IconButton
        icon={ZoomIn}
        label="Zoom in on the timeline"
        data-testid="tl-in"
        onClick={() => setView(zoomed(view, middle, 0.5))}
      />
      <Button look="quiet small" disabled={whole} aria-label="Fit" data-testid="tl-fit" onClick={() => setView(ALL)}>
        <Maximize className="ico s" />
        <span className={css.fitWord}>Fit</span>
      </Button>
    </>
  );
}
