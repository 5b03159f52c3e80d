// Turns over time: a lane a socket, a bar a turn. Widths are durations; long stretches in which nothing ran are cut.

import { Hand } from "lucide-react";
import { memo, type ReactNode, useCallback, useMemo, useRef } from "react";
import type { SocketState } from "../../../api/generated";
import { type CastState, nameOf, type Turn } from "../../../fold";
import { KindIcon } from "../../../graph/KindIcon";
import { useCast } from "../../../shared/cast-store";
import { cx } from "../../../shared/cx";
import { isExported } from "../../../shared/exported";
import { duration } from "../../../shared/format";
import { oneLine } from "../../../shared/text";
import type { DockProps } from "../props";
import css from "../style.module.css";
import { LoopLane } from "./LoopLane";
import { type Rest, restsOf } from "./rests";
import {
  axisStep,
  BAR_MIN,
  eventsIn,
  idleStretches,
  type Places,
  type Scale,
  type Span,
  scaleOf,
  shared,
  type Window,
} from "./scale";
import { useAxis } from "./useAxis";

export interface TimelineProps extends DockProps {
  view: Window;
  setView: (view: Window) => void;
}

export function Timeline(props: TimelineProps) {
  const { store, state, past, now, search, change, onSelect, view, setView } = props;
  const only = search.get("attempts") ?? "all";
  const turns = useMemo(() => (only === "last" ? lastAttempts(state.turns) : state.turns), [only, state.turns]);
  const goesOn = (state.status === "running" || state.status === "waiting") && !past && !isExported();
  const runs = goesOn && state.status === "running";
  const span = spanOf(state, turns, only, goesOn ? now : state.ts / 1000);
  const bars = turns.map((turn) => ({
    turn,
    kind: barState(turn),
    from: turn.start / 1000,
    to: turn.end ? turn.end / 1000 : span.to,
  }));
  const { idle, usual } = idleStretches(bars, span);
  const cut = search.get("idle") !== "shown";
  const scale = scaleOf(span, cut ? idle : [], usual);
  const events = useCast(store, (held) => held.events);
  const rested = useRef({});
  const rests = useMemo(() => restsOf(events, state.seq, rested.current), [events, state.seq]);
  const axis = useAxis(scale, view, setView, (brushed) => {
    const found = brushed ? eventsIn(events, brushed) : null;
    change({ evfrom: found?.from ?? null, evto: found?.to ?? null });
  });
  const places: Places = {
    left: (time) => `${axis.at(time) * 100}%`,
    wide: (from, to, least = BAR_MIN) => `max(${least}px, ${Math.max(0, axis.at(to) - axis.at(from)) * 100}%)`,
    room: (from, to) => (axis.at(to) - axis.at(from)) * axis.width,
  };
  const chosen = axis.drag ?? chosenSpan(search, events);
  const barsOf = grouped(bars, ({ turn }) => turn.socket);
  // Rests that are too short to be seen would be most of them.
  const restsAt = grouped(
    rests.filter((rest) => scale.at(rest.to ?? span.to) - scale.at(rest.from) >= 0.002),
    (rest) => rest.socket,
  );
  const pick = useCallback((turn: Turn) => change({ socket: turn.socket, turn: turn.seq, item: null }), [change]);
  const apart = 0.08 * scale.drawn * (view.to - view.from);
  return (
    <div className={css.tlWrap}>
      {state.turnsFrom > 1 ? <p className="faint sm">Turns since event {state.turnsFrom}</p> : null}
      <div
        className={css.tl}
        data-testid="timeline"
        data-drawn={scale.drawn * (view.to - view.from)}
        data-cut={scale.gaps.length}
        {...axis.handlers}
      >
        <div className={css.axis} ref={axis.lane}>
          <Marks state={state} span={span} scale={scale} view={view} places={places} crowded={runs} />
          {scale.gaps.map((gap) => (
            <i
              key={gap.from}
              className="gap"
              style={{ left: places.left(gap.from), width: places.wide(gap.from, gap.to) }}
            >
              <button
                type="button"
                title={`Nothing ran for ${duration(gap.to - gap.from)}; click to show the whole gap`}
                data-testid="gap"
                onClick={() => change({ idle: "shown" })}
              >
                {duration(gap.to - gap.from)}
              </button>
            </i>
          ))}
          {runs ? (
            <i className={css.nowline} style={{ left: places.left(span.to) }}>
              <span>{duration(span.to - state.startTs / 1000)}</span>
            </i>
          ) : null}
          {chosen ? (
            <i
              className={css.brush}
              data-testid="brush"
              style={{ left: places.left(chosen.from), width: places.wide(chosen.from, chosen.to, 2) }}
            />
          ) : null}
        </div>
        {lanesOf(state).map((lane) =>
          lane.kind === "loop" ? (
            <LoopLane
              key={`loop-${lane.id}`}
              state={state}
              id={lane.id}
              depth={lane.depth}
              places={places}
              end={span.to}
            />
          ) : (
            <div className={css.laneRow} key={lane.id}>
              <button
                type="button"
                className={css.laneL}
                style={{ paddingLeft: lane.depth * 16 }}
                onClick={() => onSelect(lane.id)}
              >
                <KindIcon kind={lane.type} color={state.plan?.nodes[lane.id]?.color} />
                <span className="cut">{oneLine(nameOf(state, lane.id), 40)}</span>
              </button>
              <div className={css.lane}>
                {restsAt.get(lane.id)?.map((rest) => (
                  <RestBar key={`${rest.kind}${rest.from}`} rest={rest} end={span.to} places={places} />
                ))}
                {shared(barsOf.get(lane.id) ?? [], places.room).map(({ turn, from, to, last }, index, own) => (
                  <TurnBar
                    key={turn.seq}
                    turn={turn}
                    last={last.turn}
                    name={nameOf(state, lane.id)}
                    left={places.left(from)}
                    right={places.left(to)}
                    width={places.wide(from, to)}
                    room={places.room(from, to)}
                    ms={to - from}
                    alone={turn.end !== undefined && (own[index + 1]?.from ?? span.to) - to > apart}
                    onPick={pick}
                  />
                ))}
              </div>
            </div>
          ),
        )}
      </div>
    </div>
  );
}

function spanOf(state: CastState, turns: Turn[], only: string, end: number): Span {
  const held = turns[0] ? turns[0].start / 1000 : state.startTs / 1000;
  const from = only === "last" || state.turnsFrom > 1 ? held : state.startTs / 1000;
  return { from, to: Math.max(from + 1, end) };
}

function chosenSpan(search: URLSearchParams, events: readonly { seq: number; ts: number }[]): Span | null {
  const [from, to] = [Number(search.get("evfrom") ?? 0), Number(search.get("evto") ?? 0)];
  if (!from) return null;
  const [first, last] = [events.find((one) => one.seq === from), events.find((one) => one.seq === to)];
  return first && last ? { from: first.ts / 1000, to: last.ts / 1000 } : null;
}

function Marks(props: {
  state: CastState;
  span: Span;
  scale: Scale;
  view: Window;
  places: Places;
  /** Whether the end has a mark of its own. */
  crowded: boolean;
}): ReactNode {
  const { state, span, scale, view, places, crowded } = props;
  const base = state.startTs / 1000;
  const step = axisStep(scale.drawn * (view.to - view.from));
  const first = Math.ceil((span.from - base) / step) * step;
  const marks: number[] = [];
  // Marks within a stretch that is cut would lie on top of each other.
  for (let ms = first; base + ms <= span.to && marks.length < 400; ms += step) {
    const gap = scale.gaps.find((one) => base + ms > one.from && base + ms < one.to);
    if (gap) ms += Math.floor((gap.to - base - ms) / step) * step;
    else if (!crowded || scale.at(base + ms) < view.to - 0.05 * (view.to - view.from)) marks.push(ms);
  }
  return marks.map((ms) => (
    <span key={ms} className={css.markT} style={{ left: places.left(base + ms) }}>
      <b>{step < 1000 ? `${(ms / 1000).toFixed(1)} s` : duration(ms)}</b>
      <i className={css.gridline} />
    </span>
  ));
}

interface TurnBarProps {
  turn: Turn;
  /** The last turn that shares it. */
  last: Turn;
  name: string;
  left: string;
  right: string;
  width: string;
  /** How many pixels it has. */
  room: number;
  ms: number;
  /** Whether nothing follows soon. */
  alone: boolean;
  onPick: (turn: Turn) => void;
}

const TurnBar = memo(function TurnBar({ turn, last, name, left, right, width, room, ms, alone, onPick }: TurnBarProps) {
  const one = last === turn;
  const took = duration((one ? turn.durationMs : null) ?? ms, true);
  const visit = one ? `visit ${turn.visit}` : `visits ${turn.visit} to ${last.visit}`;
  const verdict = !one ? took : turn.satisfied === false ? "not satisfied" : turn.satisfied ? "satisfied" : took;
  const fits = (text: string) => room > text.length * 6 + 14;
  const words = fits(verdict) ? verdict : turn.satisfied === false && fits("↺") ? "↺" : fits(took) ? took : "";
  // A bar that is too short for words has them behind it.
  const behind = !words && alone ? took : "";
  return (
    <>
      <button
        type="button"
        className={cx(css.bar, "st", barState(turn))}
        style={{ left, width }}
        data-testid={`bar-${turn.seq}`}
        data-ms={ms}
        aria-label={`${name} ${visit}: ${one ? `${turn.satisfied === null ? turn.outcome : verdict}, ` : ""}${took}`}
        title={`${visit}${one && turn.item ? `, ${turn.itemLabel ?? turn.item}` : ""}: ${turn.outcome}, ${took}`}
        onClick={() => onPick(turn)}
      >
        {words}
      </button>
      {behind ? (
        <span className={css.barWords} aria-hidden="true" style={{ left: `calc(${right} + 7px)` }}>
          {behind}
        </span>
      ) : null}
    </>
  );
});

function grouped<T>(list: T[], key: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of list) {
    const group = groups.get(key(one));
    if (group) group.push(one);
    else groups.set(key(one), [one]);
  }
  return groups;
}

function RestBar({ rest, end, places }: { rest: Rest; end: number; places: Places }) {
  const to = rest.to ?? end;
  const asks = rest.kind === "needs_you";
  return (
    <span
      className={cx(css.bar, css.rest, "st", rest.kind)}
      role="img"
      aria-label={`${asks ? "waited for you" : "its input waited"} for ${duration(to - rest.from)}`}
      title={`${asks ? "Waited for you" : "Its input waited"} for ${duration(to - rest.from)}`}
      data-testid={`rest-${rest.kind}-${rest.socket}`}
      style={{ left: places.left(rest.from), width: places.wide(rest.from, to) }}
    >
      {asks ? <Hand className="ico s" aria-hidden="true" /> : null}
    </span>
  );
}

function lastAttempts(turns: Turn[]): Turn[] {
  const last = new Map<string, Turn>();
  for (const turn of turns) last.set(`${turn.socket}#${turn.item ?? turn.visit}`, turn);
  return turns.filter((turn) => last.get(`${turn.socket}#${turn.item ?? turn.visit}`) === turn);
}

function barState(turn: Turn): SocketState {
  if (turn.outcome === "running") return "running";
  if (turn.outcome === "completed") return "done";
  return turn.outcome === "interrupted" ? "aborted" : "failed";
}

type Lane = { kind: "socket"; id: string; depth: number; type: string } | { kind: "loop"; id: string; depth: number };

function lanesOf(state: CastState): Lane[] {
  const lanes: Lane[] = [];
  const seen = new Set<string>();
  for (const [id, node] of Object.entries(state.plan?.nodes ?? {})) {
    const around = node.loops ?? [];
    around.forEach((loop, depth) => {
      if (!seen.has(loop)) lanes.push({ kind: "loop", id: loop, depth });
      seen.add(loop);
    });
    lanes.push({ kind: "socket", id, depth: around.length, type: node.generator ? "generator" : node.behavior.type });
  }
  return lanes;
}
