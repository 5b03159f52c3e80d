// Compare: what two casts did, turn beside turn.
import { useMemo, useState } from "react";
import { get, segment } from "../../api/client";
import type { CastView, TurnView } from "../../api/types";
import { type CastState, castState, emptyState, fold, nameOf } from "../../fold";
import { KindIcon } from "../../graph/KindIcon";
import { MIDDLE } from "../../graph/layout";
import { MiniGraph } from "../../graph/MiniGraph";
import { CastStore } from "../../shared/cast-store";
import { WordDiff } from "../../shared/DiffView";
import { count, duration, money } from "../../shared/format";
import { Cli, ErrorBox, Foreign, Seg, State } from "../../shared/parts";
import { Link, useSearch } from "../../shared/router";
import { oneLine } from "../../shared/text";
import { useLoad } from "../../shared/useLoad";
import { align, outcome, type Pair, routes, sharedUpTo } from "./align";

interface Whole {
  state: CastState;
  view: CastView;
}

async function whole(id: string, project: string | null): Promise<Whole> {
  const view = await get<CastView>(`/casts/${segment(id)}`, { project });
  const events = await new CastStore(id, project).read(1, view.lastSeq);
  return { view, state: fold(emptyState(id), events) };
}

export function Compare({ a, b }: { a: string; b: string }) {
  const [search] = useSearch();
  const project = search.get("project");
  const both = useLoad(() => Promise.all([whole(a, project), whole(b, project)]), `${a}:${b}:${project}`);
  if (both.error)
    return (
      <div className="empty">
        <ErrorBox error={both.error} />
      </div>
    );
  if (!both.value)
    return (
      <p className="empty" role="status">
        Reading both casts…
      </p>
    );
  return <Both left={both.value[0]} right={both.value[1]} project={project} />;
}

function difference(a: number, b: number, show: (value: number) => string): string {
  const by = b - a;
  return by === 0 ? "the same" : `${by < 0 ? "−" : "+"}${show(Math.abs(by))}`;
}

function Both({ left, right, project }: { left: Whole; right: Whole; project: string | null }) {
  const [a, b] = [left.state, right.state];
  const [search, change] = useSearch();
  const [only, setOnly] = useState<"all" | "different">("all");
  const pairs = useMemo(() => align(a, b), [a, b]);
  const different = pairs.filter((pair) => pair.differs.length > 0);
  const shared = sharedUpTo(a, b);
  const shown = only === "all" ? pairs : different;
  const picked = pairs.find((pair) => pair.key === search.get("turn")) ?? different[0] ?? pairs[0];
  const time = (state: CastState) => state.turns.reduce((sum, turn) => sum + (turn.durationMs ?? 0), 0);
  const variables = [...new Set([...Object.keys(a.variables), ...Object.keys(b.variables)])];
  const routed = routes(a, b).filter((route) => route.a !== route.b);
  const counts = Object.fromEntries(
    routes(a, b).map((route) => [route.id, { text: `${route.a} : ${route.b}`, differs: route.a !== route.b }]),
  );
  const notes = Object.fromEntries(
    Object.keys(a.plan?.nodes ?? {}).map((id) => [id, `A ${a.visits[id] ?? 0}, B ${b.visits[id] ?? 0}`]),
  );
  const rows = [
    { mark: "A", state: a, whole: left },
    { mark: "B", state: b, whole: right },
  ];
  return (
    <div className="compare" data-testid="compare-page">
      <header className="chead2">
        <div className="row">
          <h1 className="grow cut">
            <Foreign text={oneLine(a.request)} />
          </h1>
          <Link className="btn" to={`/casts/${encodeURIComponent(b.castId)}/compare/${encodeURIComponent(a.castId)}`}>
            Swap
          </Link>
        </div>
        <p className="dim" data-testid="compare-sentence">
          {different.length === 0
            ? "Their turns are the same."
            : `${different.length} of ${pairs.length} turns differ.`}{" "}
          B took {difference(a.usage.turns, b.usage.turns, (n) => `${n} turns`)},{" "}
          {difference(a.usage.cost ?? 0, b.usage.cost ?? 0, money)}, {difference(time(a), time(b), duration)} against A.
        </p>
        <table className="tbl heads">
          <colgroup>
            <col className="w-cast" />
            <col />
            <col className="w-state" />
            <col className="w-num" />
            <col className="w-num" />
            <col className="w-num" />
            <col className="w-num" />
            <col className="w-num" />
          </colgroup>
          <thead>
            <tr>
              <th>Cast</th>
              <th>Where it comes from</th>
              <th>State</th>
              <th className="r">Turns</th>
              <th className="r">Tokens</th>
              <th className="r">Cost</th>
              <th className="r">Time in turns</th>
              <th className="r">Events</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ mark, state }) => {
              const look = castState(state);
              return (
                <tr key={mark}>
                  <td>
                    <span className={`ab ${mark.toLowerCase()}`}>{mark}</span>{" "}
                    <Link className="mono" to={`/casts/${encodeURIComponent(state.castId)}`}>
                      {state.castId}
                    </Link>
                  </td>
                  <td>{state.fork ? `fork of ${state.fork.castId} at event ${state.fork.seq}` : "begun by itself"}</td>
                  <td>
                    <State state={look.state} word={look.word} />
                  </td>
                  <td className="r">{count(state.usage.turns)}</td>
                  <td className="r">{count(state.usage.tokens)}</td>
                  <td className="r">{money(state.usage.cost)}</td>
                  <td className="r">{duration(time(state))}</td>
                  <td className="r">{count(state.seq)}</td>
                </tr>
              );
            })}
            <tr className="strong">
              <td>B against A</td>
              <td />
              <td />
              <td className="r">{difference(a.usage.turns, b.usage.turns, count)}</td>
              <td className="r">{difference(a.usage.tokens, b.usage.tokens, count)}</td>
              <td className="r">{difference(a.usage.cost ?? 0, b.usage.cost ?? 0, money)}</td>
              <td className="r">{difference(time(a), time(b), duration)}</td>
              <td className="r">{difference(a.seq, b.seq, count)}</td>
            </tr>
          </tbody>
        </table>
      </header>
      <div className="halves">
        <section aria-label="Turns, aligned">
          <div className="bar2">
            <h2>Turns, aligned</h2>
            <span className="faint sm grow">by socket, item and visit</span>
            <Seg
              small
              label="Which"
              now={only}
              onPick={setOnly}
              items={[
                { id: "all", label: `All ${pairs.length}` },
                { id: "different", label: `Different ${different.length}` },
              ]}
            />
          </div>
          <table className="tbl">
            <colgroup>
              <col />
              <col className="h-i" />
              <col />
              <col />
              <col />
            </colgroup>
            <thead>
              <tr>
                <th>Socket</th>
                <th>Item</th>
                <th>
                  <span className="ab">A</span>
                </th>
                <th>
                  <span className="ab b">B</span>
                </th>
                <th>Difference</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((pair, index) => (
                <Row
                  key={pair.key}
                  pair={pair}
                  state={a}
                  first={
                    pair.shared === false && (index === 0 || shown[index - 1]?.shared === true) && shared > 0
                      ? shared
                      : null
                  }
                  picked={pair === picked}
                  onPick={() => change({ turn: pair.key })}
                />
              ))}
            </tbody>
          </table>
          <div className="bar2">
            <h2>State at the end</h2>
          </div>
          <table className="tbl">
            <tbody>
              {variables.map((name) => {
                const same = JSON.stringify(a.variables[name]) === JSON.stringify(b.variables[name]);
                return (
                  <tr key={name} className={same ? "shared" : ""}>
                    <td className="mono">
                      <Foreign text={name} />
                    </td>
                    <td>{same ? "= the same" : <strong>≠ differs</strong>}</td>
                  </tr>
                );
              })}
              {variables.length === 0 ? (
                <tr>
                  <td className="faint">No variable is set.</td>
                </tr>
              ) : null}
            </tbody>
          </table>
        </section>
        <section aria-label="The graph and the turn">
          <div className="picture">
            <MiniGraph
              grid={left.view.graph}
              sizes={MIDDLE}
              label="The graph, with the turns and traversals of both"
              counts={counts}
              notes={notes}
            />
            <p className="faint sm">
              Turns and traversals as A : B.{" "}
              {routed.length === 0 ? "Both took every way equally often." : "Thick where they differ."}
            </p>
          </div>
          {picked ? <Turns pair={picked} a={a} b={b} project={project} /> : null}
          <div className="sides">
            <div>
              <Cli words={["materia", "show", a.castId]} />
            </div>
            <div>
              <Cli words={["materia", "show", b.castId]} />
            </div>
          </div>
        </section>
      </div>
    </div>
  );
}

function Row({
  pair,
  state,
  first,
  picked,
  onPick,
}: {
  pair: Pair;
  state: CastState;
  first: number | null;
  picked: boolean;
  onPick: () => void;
}) {
  const node = state.plan?.nodes[pair.socket];
  const text = (turn: Pair["a"]) =>
    turn
      ? `${turn.satisfied === null ? "" : `${turn.satisfied ? "satisfied" : "not satisfied"}, `}${turn.outcome === "completed" ? "" : `${turn.outcome}, `}${duration(turn.durationMs ?? 0, true)}`
      : "";
  return (
    <>
      {first ? (
        <tr className="part">
          <td colSpan={5}>Shared up to event {first}. From here on they part.</td>
        </tr>
      ) : null}
      <tr className={pair.shared ? "shared" : ""} aria-selected={picked}>
        <td>
          <span className="row">
            <KindIcon kind={node?.generator ? "generator" : (node?.behavior.type ?? "agent")} />
            <button type="button" className="rowpick cut" onClick={onPick}>
              {oneLine(nameOf(state, pair.socket), 40)}
            </button>
          </span>
        </td>
        <td className="faint">{pair.item ?? ""}</td>
        <td className={pair.a ? "" : "none"}>{text(pair.a)}</td>
        <td className={pair.b ? "" : "none"}>{pair.shared ? "the same" : text(pair.b)}</td>
        <td>
          {pair.shared ? (
            "= shared"
          ) : pair.differs.length === 0 ? (
            "= the same"
          ) : (
            <strong>≠ {pair.differs.join(", ")}</strong>
          )}
        </td>
      </tr>
    </>
  );
}

function Turns({ pair, a, b, project }: { pair: Pair; a: CastState; b: CastState; project: string | null }) {
  const load = (id: string, seq: number | undefined) =>
    seq ? get<TurnView>(`/casts/${segment(id)}/turns/${seq}`, { project }) : Promise.resolve(null);
  const both = useLoad(
    () => Promise.all([load(a.castId, pair.a?.seq), load(b.castId, pair.b?.seq)]),
    `${a.castId}:${b.castId}:${pair.key}`,
  );
  const [x, y] = both.value ?? [null, null];
  const side = (mark: "A" | "B", turn: TurnView | null, other: TurnView | null) => (
    <div>
      <div className="row">
        <span className={`ab ${mark.toLowerCase()}`}>{mark}</span>
        {turn ? (
          <span className="dim sm">
            visit {turn.visit}, event {turn.seq}
          </span>
        ) : (
          <span className="dim sm">no such turn</span>
        )}
      </div>
      {turn ? (
        <>
          <p className="sub">Input</p>
          <WordDiff
            before={(mark === "A" ? turn : other)?.prompt ?? ""}
            after={(mark === "A" ? other : turn)?.prompt ?? ""}
            side={mark === "A" ? "before" : "after"}
          />
          <p className="sub">Output</p>
          <WordDiff
            before={(mark === "A" ? turn : other)?.output ?? ""}
            after={(mark === "A" ? other : turn)?.output ?? ""}
            side={mark === "A" ? "before" : "after"}
          />
        </>
      ) : null}
    </div>
  );
  return (
    <>
      <div className="bar2">
        <h2>
          {oneLine(nameOf(a, pair.socket), 40)}
          {pair.item ? `, ${pair.item}` : ""}
        </h2>
        <span className="dim sm">
          {pair.a && pair.b
            ? outcome(pair.a) === outcome(pair.b)
              ? outcome(pair.a)
              : `${outcome(pair.a)} : ${outcome(pair.b)}`
            : ""}
        </span>
      </div>
      {both.error ? <ErrorBox error={both.error} /> : null}
      <div className="sides">
        {side("A", x, y)}
        {side("B", y, x)}
      </div>
    </>
  );
}
