// The two casts: who they are, where they stand, what they took.
import type { CastView, Comparison } from "../../api/generated";
import { castState } from "../../fold";
import { cx } from "../../shared/cx";
import { count, duration, money } from "../../shared/format";
import { castPath, useProjects } from "../../shared/live";
import { State } from "../../shared/parts";
import { Link } from "../../shared/router";
import { type Column, Table } from "../../shared/Table";
import css from "./compare.module.css";

export const A = <span className={css.ab}>A</span>;
export const B = <span className={cx(css.ab, css.b)}>B</span>;
const NUMBERS = ["Turns", "Tokens", "Cost", "Time in turns", "Events"];

interface HeadsProps {
  compared: Comparison;
  views: [CastView, CastView];
}

function by(a: number, b: number, show: (value: number) => string): string {
  return show(a) === show(b) ? "the same" : `${b < a ? "−" : "+"}${show(Math.abs(b - a))}`;
}

/** Time in turns over all of a cast. */
export function timeIn(view: CastView): number {
  return view.visits.reduce((sum, visit) => sum + (visit.durationMs ?? 0), 0);
}

export function Heads({ compared, views }: HeadsProps) {
  const projects = useProjects();
  const [a, b] = views;
  return (
    <Table
      className={css.heads}
      columns={[["Cast", 270], ["Origin"], ["State", 110], ...NUMBERS.map((name): Column => [name, 100, "r"])]}
    >
      <tbody>
        {views.map((view, index) => {
          const look = castState(view);
          const mark = index === 0 ? "A" : "B";
          const from = (index === 0 ? compared.a : compared.b).forkedFrom;
          return (
            <tr key={mark}>
              <td>
                {index === 0 ? A : B}{" "}
                <Link className="mono" to={castPath(view)}>
                  {view.castId}
                </Link>{" "}
                {projects.length > 1 ? (
                  <span className="faint">{projects.find((one) => one.id === view.project)?.name}</span>
                ) : null}
              </td>
              <td>
                {from ? (
                  <>
                    fork of {from === (index === 0 ? b : a).castId ? (index === 0 ? "B" : "A") : from}
                    {compared.forkedAt ? ` at event ${compared.forkedAt}` : ""}
                  </>
                ) : (
                  "not a fork"
                )}
              </td>
              <td>
                <State state={look.state} word={look.word} />
              </td>
              <td className="r">{count(view.usage.turns)}</td>
              <td className="r">{count(view.usage.tokens)}</td>
              <td className="r">{money(view.usage.cost)}</td>
              <td className="r">{duration(timeIn(view))}</td>
              <td className="r">{count(view.lastSeq)}</td>
            </tr>
          );
        })}
        <tr className="strong">
          <td>B compared with A</td>
          <td />
          <td />
          <td className="r">{by(a.usage.turns, b.usage.turns, count)}</td>
          <td className="r">{by(a.usage.tokens, b.usage.tokens, count)}</td>
          <td className="r">{by(a.usage.cost ?? 0, b.usage.cost ?? 0, money)}</td>
          <td className="r">{by(timeIn(a), timeIn(b), duration)}</td>
          <td className="r">{by(a.lastSeq, b.lastSeq, count)}</td>
        </tr>
      </tbody>
    </Table>
  );
}
