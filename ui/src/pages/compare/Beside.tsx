// One turn of each cast beside the other: what it was given, what it put out, where it led.
import { get, segment } from "../../api/client";
import type { CastView, ComparedTurn, TurnView } from "../../api/types";
import { WordDiff } from "../../shared/DiffView";
import { bytes } from "../../shared/format";
import { JsonText } from "../../shared/JsonTree";
import { ErrorBox, Foreign, Tabs } from "../../shared/parts";
import { Link } from "../../shared/router";
import { oneLine } from "../../shared/text";
import { useLoad } from "../../shared/useLoad";
import { layerPairs, told } from "./layers";
import { sideText } from "./Turns";

type Tab = "input" | "output" | "route";

interface BesideProps {
  row: ComparedTurn;
  views: [CastView, CastView];
  project: string | null;
  tab: Tab;
  onTab: (tab: Tab) => void;
}

const size = (text: string | null | undefined) => new TextEncoder().encode(text ?? "").length;

export function Beside({ row, views, project, tab, onTab }: BesideProps) {
  const [a, b] = views;
  const load = (id: string, seq: number | undefined) =>
    seq ? get<TurnView>(`/casts/${segment(id)}/turns/${seq}`, { project }) : Promise.resolve(null);
  const both = useLoad(
    () => Promise.all([load(a.castId, row.a?.seq), load(b.castId, row.b?.seq)]),
    `${a.castId}:${b.castId}:${row.a?.seq}:${row.b?.seq}`,
  );
  const [x, y] = both.value ?? [null, null];
  const grown = size(y?.prompt) - size(x?.prompt);
  return (
    <>
      <div className="bar2 beside">
        <h2 className="cut">
          {oneLine(row.materia || row.socket, 40)}
          {row.item ? `, ${row.item}` : ""}
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
      <div className="sides" id="beside-body" role="tabpanel" aria-labelledby={`beside-${tab}`} tabIndex={0}>
        {([0, 1] as const).map((index) => {
          const [turn, side] = index === 0 ? [x, row.a] : [y, row.b];
          const id = views[index].castId;
          return (
            <div key={index}>
              <div className="row">
                <span className={`ab ${index === 0 ? "a" : "b"}`}>{index === 0 ? "A" : "B"}</span>
                {side ? (
                  <span className="dim sm grow">
                    {turn ? `visit ${turn.visit}, ` : ""}event{" "}
                    <Link
                      className="ev"
                      to={`/casts/${encodeURIComponent(id)}?at=${side.seq}&socket=${encodeURIComponent(row.socket)}&turn=${side.seq}`}
                    >
                      {side.seq}
                    </Link>
                  </span>
                ) : (
                  <span className="dim sm grow">no such turn</span>
                )}
                {turn && tab === "input" ? <span className="faint sm">{bytes(size(turn.prompt))}</span> : null}
              </div>
              {side && both.value ? <Side tab={tab} row={row} a={x} b={y} index={index} view={views[index]} /> : null}
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
  if (tab === "output")
    return turn?.output ? (
      <WordDiff before={a?.output ?? ""} after={b?.output ?? ""} side={which} />
    ) : (
      <p className="faint">Nothing was put out.</p>
    );
  if (tab === "route") {
    const name = (id: string) => (id === "end" ? "the end" : oneLine(view.plan.nodes[id]?.materia ?? id, 40));
    return (
      <div className="stack">
        <p>{sideText(side)}</p>
        <p className="dim">
          {side?.to && side.to.length > 0 ? `Led to ${side.to.map(name).join(", ")}.` : "It led nowhere."}
        </p>
        {turn?.reason ? (
          <blockquote className="reason">
            <Foreign text={turn.reason} />
          </blockquote>
        ) : null}
      </div>
    );
  }
  if (turn && typeof turn.prompt !== "string")
    return (
      <>
        <p className="faint sm">A utility: it was given this object.</p>
        <JsonText value={turn.input} />
      </>
    );
  return told(layerPairs(a, b)).map((pair) => {
    const text = index === 0 ? pair.a : pair.b;
    if (text === null) return null;
    const alone = (index === 0 ? pair.b : pair.a) === null && a !== null && b !== null;
    return (
      <section key={pair.key} className={`layer${pair.same ? "" : " key"}`}>
        <header>
          <strong>
            <Foreign text={pair.name} />
          </strong>
          <span className="b">
            {bytes(size(text))}
            {alone ? `, only ${index === 0 ? "A" : "B"}` : ""}
          </span>
        </header>
        {pair.same && a && b ? (
          <p className="faint">the same in both</p>
        ) : alone ? (
          <div className="text">
            <Foreign text={text} />
          </div>
        ) : (
          <WordDiff before={pair.a ?? ""} after={pair.b ?? ""} side={which} />
        )}
      </section>
    );
  });
}
