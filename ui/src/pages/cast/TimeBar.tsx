// The bar of time: events from left to right, chapters by item, marks where something happened to the work.
import { ChevronLeft, ChevronRight, Pause, Play } from "lucide-react";
import { memo, useEffect, useRef, useState } from "react";
import type { CastState, Chapter, Mark, MarkKind } from "../../fold";
import { Button, IconButton } from "../../shared/Button";
import { cx } from "../../shared/cx";
import { count } from "../../shared/format";
import { oneLine } from "../../shared/text";
import { typing } from "../../shared/typing";
import { useKeydown } from "../../shared/useKeydown";
import { usePaced } from "../../shared/usePaced";
import css from "./style.module.css";

const SPEEDS = [1, 5, 25] as const;
const MARKS_MAX = 60;
const CHAPTERS_MAX = 120;
/** A chapter with less of the track than this has no room for its name. */
const NAMED_SHARE = 0.04;
/** Each event moves all that stands on the track, so a flood of them moves it at this pace. */
const TRACK_MS = 500;
const signs: Record<MarkKind, string> = {
  back: "↺",
  failed: "×",
  asked: "?",
  paused: "‖",
  said: "“",
  resumed: "▸",
  published: "⎇",
};

/** What is marked: a question and the wait for its answer are one thing. */
export function shownMarks(marks: Mark[]): Mark[] {
  const asked = new Set(marks.filter((mark) => mark.kind === "asked").map((mark) => mark.seq));
  const isWait = (mark: Mark) => mark.kind === "paused" && (asked.has(mark.seq - 1) || asked.has(mark.seq - 2));
  return marks.filter((mark) => mark.kind !== "resumed" && !isWait(mark)).slice(-MARKS_MAX);
}

/** Chapters that have room: where they are many, neighbours share one. */
export function shownChapters(chapters: Chapter[]): Chapter[] {
  const size = Math.ceil(chapters.length / CHAPTERS_MAX);
  return size > 1 ? chapters.filter((_, index) => index % size === 0) : chapters;
}

interface TimeBarProps {
  state: CastState;
  tip: CastState;
  past: boolean;
  offline: boolean;
  onAt: (seq: number | null) => void;
}

export const TimeBar = memo(function TimeBar({ state, tip, past, offline, onAt }: TimeBarProps) {
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState<(typeof SPEEDS)[number]>(5);
  const seq = useRef(state.seq);
  seq.current = state.seq;
  const end = tip.seq;
  useEffect(() => {
    if (!playing) return;
    const timer = setInterval(() => {
      const next = seq.current + 1;
      if (next >= end) setPlaying(false);
      onAt(next >= end ? null : next);
    }, 1000 / speed);
    return () => clearInterval(timer);
  }, [playing, speed, end, onAt]);
  const toggle = () => {
    if (!playing && !past) onAt(1);
    setPlaying(!playing);
  };
  // The space bar stops following what goes on; pressed again it plays on from there.
  useKeydown((event) => {
    const target = event.target as HTMLElement | null;
    if (event.key !== " " || typing(event) || target?.closest("button, a, [role=tab], summary")) return;
    event.preventDefault();
    if (!playing && !past && tip.status === "running") onAt(state.seq);
    else toggle();
  });
  const track = usePaced(tip, TRACK_MS);
  return (
    <div className={css.time} data-testid="time-bar">
      <span className={css.timeSteps}>
        <IconButton
          icon={ChevronLeft}
          label="Previous event"
          onClick={() => onAt(Math.max(1, state.seq - 1))}
          testid="step-back"
          disabled={state.seq <= 1}
        />
        <IconButton
          icon={ChevronRight}
          label="Next event"
          onClick={() => onAt(state.seq + 1 >= end ? null : state.seq + 1)}
          testid="step-on"
          disabled={!past}
        />
        <Button
          className="wide-only"
          look="quiet small icon"
          aria-label={playing ? "Hold" : "Play from here"}
          data-testid="play"
          onClick={toggle}
        >
          {playing ? <Pause className="ico" /> : <Play className="ico" />}
        </Button>
        <Button
          className="wide-only"
          look="quiet small"
          aria-label={`Speed ${speed}×`}
          onClick={() => setSpeed(SPEEDS[(SPEEDS.indexOf(speed) + 1) % SPEEDS.length] ?? 5)}
        >
          {speed}×
        </Button>
      </span>
      <div className={css.track}>
        <Track tip={track} seq={Math.min(state.seq, track.seq)} />
        <input
          type="range"
          min={1}
          max={Math.max(1, end)}
          value={Math.min(state.seq, end)}
          aria-label="Event"
          aria-valuetext={`Event ${state.seq} of ${end}`}
          data-testid="scrub"
          onChange={(event) => {
            setPlaying(false);
            const wanted = Number(event.target.value);
            onAt(wanted >= end ? null : wanted);
          }}
        />
      </div>
      <span className="nowrap" data-testid="where">
        {past ? "Viewing event" : "Event"} <strong>{count(state.seq)}</strong>{" "}
        <span className="faint">of {count(end)}</span>
      </span>
      <button
        type="button"
        className={cx(css.livePill, (past || offline) && "off")}
        aria-pressed={!past}
        data-testid="live"
        onClick={() => {
          setPlaying(false);
          onAt(null);
        }}
      >
        {past ? null : <i />}
        {past ? "Go to the end" : offline ? "Not live" : tip.status === "running" ? "Live" : "At the end"}
        {past ? <kbd>L</kbd> : null}
      </button>
    </div>
  );
});

/** All that stands on the track, with the events up to one behind it. */
const Track = memo(function Track({ tip, seq }: { tip: CastState; seq: number }) {
  const end = tip.seq;
  const place = (at: number) => `${end > 1 ? ((at - 1) / (end - 1)) * 100 : 100}%`;
  const wide = (events: number) => `calc(${(events / Math.max(1, end - 1)) * 100}% - 2px)`;
  const chapters = tip.chapters.length > 0 ? shownChapters(tip.chapters) : [{ from: 1, label: "" }];
  const ticks = tip.turns.length <= 200 ? tip.turns : [];
  return (
    <>
      {chapters.map(({ from, label }, index) => {
        const to = chapters[index + 1]?.from ?? end;
        return (
          <ChapterBar
            key={from}
            label={label}
            left={place(from)}
            width={wide(Math.max(to - from, 0) || 1)}
            named={to - from >= NAMED_SHARE * (end - 1)}
            reached={from <= seq ? wide(Math.max(Math.min(to, seq) - from, 0)) : null}
            now={seq >= from && (seq < to || index === chapters.length - 1)}
          />
        );
      })}
      {ticks.map((turn) => (
        <span key={turn.seq} className={css.tick} style={{ left: place(turn.seq) }} />
      ))}
      {shownMarks(tip.marks).map((mark) => (
        <span
          key={`${mark.seq}${mark.kind}`}
          className={cx(css.mk, mark.kind)}
          style={{ left: place(mark.seq) }}
          title={`Event ${mark.seq}: ${oneLine(mark.text, 200)}`}
        >
          {signs[mark.kind]}
        </span>
      ))}
      <span className={css.thumb} style={{ left: place(seq) }} />
    </>
  );
});

interface ChapterProps {
  label: string;
  left: string;
  width: string;
  /** How much of it lies behind the event that is looked at. */
  reached: string | null;
  /** Whether there is room for its name; the present one always has it. */
  named: boolean;
  now: boolean;
}

const ChapterBar = memo(function ChapterBar({ label, left, width, reached, named, now }: ChapterProps) {
  return (
    <>
      {named || now ? (
        <span
          className={cx(css.ch, now && css.now)}
          style={named ? { left, maxWidth: width } : { left: `min(${left}, 100% - 9em)`, maxWidth: "9em" }}
        >
          {oneLine(label, 60)}
        </span>
      ) : null}
      <span className={cx(css.bar, css.ahead)} style={{ left, width }} />
      {reached === null ? null : <span className={css.bar} style={{ left, width: reached }} />}
    </>
  );
});
