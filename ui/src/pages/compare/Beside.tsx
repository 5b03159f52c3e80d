// One turn of each cast beside the other: what it was given, what it put out, where it led.
import { useQuery } from "@tanstack/react-query";
import { get, segment } from "../../api/client";
import type { CastView, ComparedTurn, Json, TurnView } from "../../api/generated";
import { cx } from "../../shared/cx";
import { WordDiff } from "../../shared/DiffView";
import { bytes } from "../../shared/format";
import { JumpLink } from "../../shared/Linked";
import { castPath } from "../../shared/live";
import { ErrorBox, Tabs } from "../../shared/parts";
import { oneLine } from "../../shared/text";
import { Whole } from "../../shared/Whole";
import css from "./compare.module.css";
import { A, B } from "./Heads";
import { sideText } from "./Turns";

type Tab = "input" | "output" | "route";

/** The projects of both, where the address names them. */
export interface Places {
  project: string | null;
  other: string | null;
}

interface BesideProps {
  row: ComparedTurn;
  views: [CastView, CastView];
  places: Places;
  tab: Tab;
  onTab: (tab: Tab) => void;
}

const size = (text: string | null | undefined) => new TextEncoder().encode(text ?? "").length;

export function Beside({ row, views, places, tab, onTab }: BesideProps) {
  const [a, b] = views;
  const load = (id: string, seq: number | undefined, project: string | null, signal: AbortSignal) =>
    seq ? get<TurnView>(`/casts/${segment(id)}/turns/${seq}`, { project }, signal) : Promise.resolve(null);
  const both = useQuery({
    queryKey: ["beside", a.castId, b.castId, places, row.a?.seq, row.b?.seq],
    queryFn: ({ signal }) =>
      Promise.all([
        load(a.castId, row.a?.seq, places.project, signal),
        load(b.castId, row.b?.seq, places.other, signal),
      ]),
  });
  const [x, y] = both.data ?? [null, null];
  const grown = size(y?.prompt) - size(x?.prompt);
  return (
    <>
      <div className={cx(css.bar2, css.beside)}>
        <h2 className="cut">
          {oneLine(row.materia || row.socket, 40)}
          {row.item ? `, ${oneLine(row.itemLabel ?? row.item, 40)}` : ""}
        </h2>
        <Tabs<Tab>
          name="beside"
          label="What is compared"
          now={tab}
          onPick={onTab}
          items={[
            {
              id: "input",
              label: x && y && grown !== 0 ? `Input ${grown > 0 ? "+" : "−"}${bytes(Math.abs(grown))}` : "Input",
            },
            { id: "output", label: "Output" },
            { id: "route", label: "Route" },
          ]}
        />
      </div>
      {both.error ? <ErrorBox error={both.error} /> : null}
      <div className={css.sides} id="beside-body" role="tabpanel" aria-labelledby={`beside-${tab}`} tabIndex={0}>
        {([0, 1] as const).map((index) => {
          const [turn, side] = index === 0 ? [x, row.a] : [y, row.b];
          return (
            <div key={index}>
              <div className="row">
                {index === 0 ? A : B}
                {side ? (
                  <span className="dim sm grow">
                    {turn ? `visit ${turn.visit}, ` : ""}event{" "}
                    <JumpLink to={castPath(views[index], { at: side.seq, socket: row.socket, turn: side.seq })}>
                      {side.seq}
                    </JumpLink>
                  </span>
                ) : (
                  <span className="dim sm grow">no such turn</span>
                )}
              </div>
              {side && both.data ? <Side tab={tab} row={row} a={x} b={y} index={index} view={views[index]} /> : null}
            </div>
          );
        })}
      </div>
    </>
  );
}

function Side(props: {
  tab: Tab;
  row: ComparedTurn;
  a: TurnView | null;
  b: TurnView | null;
  index: 0 | 1;
  view: CastView;
}) {
  const { tab, row, a, b, index, view } = props;
  const turn = index === 0 ? a : b;
  const side = index === 0 ? row.a : row.b;
  const which = index === 0 ? "before" : "after";
  if (tab === "route") {
    const name = (id: string) => (id === "end" ? "the end" : oneLine(view.plan.nodes[id]?.materia ?? id, 40));
    return (
      <div className="stack">
        <p>{sideText(side)}</p>
        <p className="dim">
          {side?.to && side.to.length > 0 ? `Led to ${side.to.map(name).join(", ")}.` : "It took no edge."}
        </p>
      </div>
    );
  }
  // Ids, folders and times differ in any two casts: the server has left them out of the texts that differ.
  const [aspect, texts] = tab === "input" ? (["prompt", row.prompt] as const) : (["output", row.output] as const);
  const text = (one: TurnView | null) => (tab === "input" ? (one?.prompt ?? one?.input ?? "") : (one?.output ?? ""));
  const mine = text(turn);
  if (a && b && row.differs?.includes(aspect))
    return <WordDiff before={texts?.a ?? shown(text(a))} after={texts?.b ?? shown(text(b))} side={which} />;
  return (
    <>
      {a && b ? <p className={css.sameAs}>{tab === "input" ? "Same input" : "Same output"}</p> : null}
      {mine === "" ? (
        <p className="faint">{tab === "input" ? "No input." : "No output."}</p>
      ) : (
        <Whole value={mine} label={`the ${tab} of ${index === 0 ? "A" : "B"}`} />
      )}
    </>
  );
}

const shown = (value: Json) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
