// The axis as it is looked at: zoomed by the wheel, moved sideways, and brushed.
import { type PointerEvent, useEffect, useRef, useState } from "react";
import css from "../style.module.css";
import { moved, type Scale, type Span, type Window, zoomed } from "./scale";

const STEP = 1.15;
const BRUSH_MIN_PX = 5;

export function useAxis(
  scale: Scale,
  view: Window,
  setView: (view: Window) => void,
  onBrush: (span: Span | null) => void,
) {
  const lane = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<Span | null>(null);
  const [width, setWidth] = useState(780);
  const began = useRef<{ x: number; time: number } | null>(null);
  const shareAt = (x: number): number => {
    const box = lane.current?.getBoundingClientRect();
    if (!box || box.width === 0) return 0;
    const share = Math.min(1, Math.max(0, (x - box.left) / box.width));
    return view.from + share * (view.to - view.from);
  };
  const held = useRef({ view, setView, shareAt });
  held.current = { view, setView, shareAt };
  useEffect(() => {
    const element = lane.current?.closest<HTMLElement>(`.${css.tl}`);
    if (!element) return;
    const onWheel = (event: WheelEvent) => {
      const now = held.current;
      const body = element.closest<HTMLElement>(`.${css.dbody}`);
      const scrolls = body !== null && body.scrollHeight > body.clientHeight + 1;
      const onAxis = (event.target as HTMLElement).closest(`.${css.axis}`) !== null;
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
        const by =
          ((event.deltaX || event.deltaY) / Math.max(1, lane.current?.clientWidth ?? 1)) *
          (now.view.to - now.view.from);
        now.setView(moved(now.view, by));
      } else if (!scrolls || onAxis || event.ctrlKey || event.metaKey || event.altKey) {
        now.setView(zoomed(now.view, now.shareAt(event.clientX), event.deltaY > 0 ? STEP : 1 / STEP));
      } else return;
      event.preventDefault();
    };
    // The page must not scroll while the wheel zooms, so the listener may not be a passive one.
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, []);
  // Told when it changes: to ask while drawing would lay out the page at each event.
  useEffect(() => {
    const watched = new ResizeObserver(() => setWidth(lane.current?.clientWidth ?? 780));
    if (lane.current) watched.observe(lane.current);
    return () => watched.disconnect();
  }, []);
  const spanTo = (x: number): Span | null => {
    if (!began.current || Math.abs(x - began.current.x) < BRUSH_MIN_PX) return null;
    const time = scale.time(shareAt(x));
    return { from: Math.min(began.current.time, time), to: Math.max(began.current.time, time) };
  };
  return {
    lane,
    /** How wide a lane is, in pixels. */
    width,
    /** The times between which the reader drags, while they do. */
    drag,
    /** The place of a time in what is looked at, as a share of its width. */
    at: (time: number) => (scale.at(time) - view.from) / (view.to - view.from),
    handlers: {
      onPointerDown: (event: PointerEvent) => {
        const target = event.target as HTMLElement;
        if (event.button !== 0 || target.closest(`button, .${css.laneL}`)) return;
        began.current = { x: event.clientX, time: scale.time(shareAt(event.clientX)) };
        event.currentTarget.setPointerCapture(event.pointerId);
      },
      onPointerMove: (event: PointerEvent) => {
        if (began.current) setDrag(spanTo(event.clientX));
      },
      onPointerUp: (event: PointerEvent) => {
        if (!began.current) return;
        const span = spanTo(event.clientX);
        began.current = null;
        setDrag(null);
        onBrush(span);
      },
    },
  };
}
