// Turns over time: a lane a socket, a bar a turn. Widths are durations.
import type { SocketState } from "../../api/types";
import { type CastState, loopItems, nameOf, type Turn } from "../../fold";
import { KindIcon } from "../../graph/Graph";
import { duration } from "../../shared/format";
import { oneLine } from "../../shared/text";
import type { DockProps } from "./Dock";

interface Span {
  from: number;
  to: number;
}

/** A step of the axis that gives four to eight lines. */
export function axisStep(ms: number): number {
  const steps = [
    100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000,
    7_200_000, 21_600_000, 86_400_000,
  ];
  return steps.find((step) => ms / step <= 7) ?? Math.ceil(ms / 6 / 86_400_000) * 86_400_000;
}

export function Timeline({ state, past, now, search, change, onSelect }: DockProps) {
  const only = search.get("attempts") ?? "all";
  const turns = only === "last" ? lastAttempts(state.turns) : state.turns;
  const running = state.status === "running" && !past;
  const end = running ? now : state.ts / 1000;
  const base = state.startTs / 1000;
  const first =
    only === "last" && turns[0]
      ? turns[0].start / 1000
      : state.turnsFrom > 1 && state.turns[0]
        ? state.turns[0].start / 1000
        : base;
  const span: Span = { from: first, to: Math.max(first + 1, end) };
  const total = span.to - span.from;
  const step = axisStep(total);
  const at = (time: number) => `${((time - span.from) / total) * 100}%`;
  const wide = (ms: number) => `max(3px, ${(Math.max(0, ms) / total) * 100}%)`;
  const lanes = lanesOf(state);
  const marks = Array.from({ length: Math.floor(total / step) + 1 }, (_, n) => n * step);
  return (
    <div className="tl-wrap">
      {state.turnsFrom > 1 ? <p className="faint sm">Turns since event {state.turnsFrom}</p> : null}
      <div className="tl" data-testid="timeline" data-from={span.from} data-to={span.to}>
        <div className="lane-l axis-l" />
        <div className="axis">
          {marks.map((ms) => (
            <span key={ms} style={{ left: at(span.from + ms) }}>
              {step < 1000 ? `${((ms + span.from - base) / 1000).toFixed(1)} s` : duration(ms + (span.from - base))}
            </span>
          ))}
          {marks.map((ms) => (
            <i key={ms} className="gridline" style={{ left: at(span.from + ms) }} />
          ))}
          {running ? <i className="nowline" style={{ left: "100%" }} /> : null}
        </div>
        {lanes.map((lane) =>
          lane.kind === "loop" ? (
            <LoopLane
              key={`loop-${lane.id}`}
              state={state}
              id={lane.id}
              depth={lane.depth}
              at={at}
              wide={wide}
              end={span.to}
            />
          ) : (
            <div className="lane-row" key={lane.id}>
              <button
                type="button"
                className="lane-l"
                style={{ paddingLeft: lane.depth * 16 }}
                onClick={() => onSelect(lane.id)}
              >
                <KindIcon kind={lane.type} />
                <span className="cut">{oneLine(nameOf(state, lane.id), 40)}</span>
              </button>
              <div className="lane">
                {turns
                  .filter((turn) => turn.socket === lane.id)
                  .map((turn) => {
                    const ms = (turn.end ?? span.to * 1000) / 1000 - turn.start / 1000;
                    const took = duration(turn.durationMs ?? ms, true);
                    const words =
                      ms / total < 0.04
                        ? ""
                        : turn.satisfied === false
                          ? "not satisfied"
                          : turn.satisfied
                            ? "satisfied"
                            : took;
                    return (
                      <span key={turn.seq}>
                        <button
                          type="button"
                          className={`bar st ${barState(turn)}`}
                          style={{ left: at(turn.start / 1000), width: wide(ms) }}
                          data-testid={`bar-${turn.seq}`}
                          data-ms={ms}
                          aria-label={`${nameOf(state, turn.socket)} visit ${turn.visit}: ${words || turn.outcome}, ${took}`}
                          title={`visit ${turn.visit}${turn.item ? `, ${turn.item}` : ""}: ${turn.outcome}, ${took}`}
                          onClick={() => change({ socket: turn.socket, turn: turn.seq, item: null })}
                        >
                          {words}
                        </button>
                      </span>
                    );
                  })}
              </div>
            </div>
          ),
        )}
      </div>
    </div>
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

function LoopLane(props: {
  state: CastState;
  id: string;
  depth: number;
  at: (time: number) => string;
  wide: (ms: number) => string;
  end: number;
}) {
  const { state, id, depth, at, wide, end } = props;
  const loop = state.loops[id];
  const members = new Set(state.plan?.loops?.[id]?.members ?? []);
  const items = loop ? loopItems(state, loop) : [];
  return (
    <div className="lane-row">
      <span className="lane-l" style={{ paddingLeft: depth * 16 }}>
        <span className="faint" aria-hidden="true">
          ↺
        </span>
        <span className="cut">{id}</span>
      </span>
      <div className="lane">
        {items.map((item) => {
          const turns = state.turns.filter((turn) => turn.item === item.key && members.has(turn.socket));
          const first = turns[0];
          if (!first) return null;
          const from = first.start / 1000;
          const to = item.state === "done" ? Math.max(...turns.map((turn) => (turn.end ?? turn.start) / 1000)) : end;
          return (
            <span key={item.key}>
              <span className={`bar item st ${item.state}`} style={{ left: at(from), width: wide(to - from) }} />
              <span className="itlab cut" style={{ left: at(from), maxWidth: wide(to - from) }}>
                {item.key} {oneLine(item.label ?? "", 60)}
              </span>
            </span>
          );
        })}
      </div>
    </div>
  );
}
