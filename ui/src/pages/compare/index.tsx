// Compare: what two casts did, turn beside turn. What differs, the server says; `materia compare` prints the same.
import { useQuery } from "@tanstack/react-query";
import { get, segment } from "../../api/client";
import type { CastView, ComparedTurn, Comparison } from "../../api/generated";
import { emptyState, fold, type Turn } from "../../fold";
import { MIDDLE } from "../../graph/layout";
import { MiniGraph } from "../../graph/MiniGraph";
import { NotOpened } from "../../shared/Boundary";
import { LinkButton } from "../../shared/Button";
import { Cli } from "../../shared/Cli";
import { CastStore, WHOLE_MAX } from "../../shared/cast-store";
import { count, duration, money } from "../../shared/format";
import { comparePath, keyOf } from "../../shared/live";
import { useLive } from "../../shared/live-state";
import { Empty, Foreign, Pick } from "../../shared/parts";
import { navigate, useSearch } from "../../shared/router";
import { Table } from "../../shared/Table";
import { oneLine } from "../../shared/text";
import { Beside, type Places } from "./Beside";
import css from "./compare.module.css";
import { Heads, timeIn } from "./Heads";
import { rowKey, Turns } from "./Turns";

interface Both {
  compared: Comparison;
  views: [CastView, CastView];
  shared: Turn[];
}

async function both(a: string, b: string, places: Places, signal: AbortSignal): Promise<Both> {
  const { project, other: otherProject } = places;
  const [compared, one, other] = await Promise.all([
    get<Comparison>(`/casts/${segment(a)}/compare/${segment(b)}`, { project, otherProject }, signal),
    get<CastView>(`/casts/${segment(a)}`, { project }, signal),
    get<CastView>(`/casts/${segment(b)}`, { project: otherProject }, signal),
  ]);
  const upTo = compared.forkedAt ?? 0;
  // What they share is shown turn by turn, unless it is very long.
  const events = upTo > 0 && upTo <= WHOLE_MAX ? await new CastStore(a, project).read(1, upTo, null, signal) : [];
  const shared = fold(emptyState(a), events).turns.filter((turn) => turn.endSeq !== undefined);
  return { compared, views: [one, other], shared };
}

export function Compare({ a, b }: { a: string; b: string }) {
  const [search] = useSearch();
  const project = search.get("project");
  const places = { project, other: search.get("otherProject") ?? project };
  const loaded = useQuery({
    queryKey: ["compare", a, b, places],
    queryFn: ({ signal }) => both(a, b, places, signal),
  });
  if (loaded.error) return <NotOpened error={loaded.error} to="/casts" all="All casts" />;
  if (!loaded.data) return <Empty role="status">Reading both casts…</Empty>;
  return <Page {...loaded.data} places={places} />;
}

/** Fewer or more, said in words. */
function against(a: number, b: number, show: (value: number) => string, less: string, more: string): string {
  return show(a) === show(b) ? "" : `${show(Math.abs(b - a))} ${b < a ? less : more}`;
}

const turnsOf = (value: number) => `${count(value)} ${value === 1 ? "turn" : "turns"}`;

function saying({ compared, views: [a, b] }: Both): string {
  const different = compared.rows.filter((row) => row.verdict !== "same").length;
  const parts = [
    against(a.usage.turns, b.usage.turns, turnsOf, "fewer", "more"),
    against(a.usage.cost ?? 0, b.usage.cost ?? 0, money, "less", "more"),
    against(timeIn(a), timeIn(b), duration, "shorter", "longer"),
  ].filter(Boolean);
  const first =
    different === 0
      ? "Their turns are the same."
      : `${different} of ${compared.rows.length} turns ${compared.forkedAt ? "since the fork " : ""}differ.`;
  return `${first} ${parts.length > 0 ? `B took ${parts.join(", ")} than A.` : "B took the same as A."}`;
}

function Page(props: Both & { places: Places }) {
  const { compared, views, shared, places } = props;
  const [a, b] = views;
  const [search, change] = useSearch();
  const casts = useLive((live) => live.casts);
  const { rows, routes } = compared;
  const picked =
    rows.find((row) => rowKey(row) === search.get("turn")) ?? rows.find((row) => row.verdict !== "same") ?? rows[0];
  const others = [...casts.values()].filter((cast) => ![keyOf(a), keyOf(b)].includes(keyOf(cast)));
  return (
    <div className={css.compare} data-testid="compare-page">
      <header className={css.chead2}>
        <div className="row">
          <Foreign as="h1" className="grow cut" text={oneLine(a.request ?? "") || a.castId} />
          <LinkButton to={comparePath(b, a)}>Swap</LinkButton>
          <Pick
            label="Compare A with"
            value={keyOf(b)}
            testid="compare-with"
            onPick={(key) => {
              const cast = others.find((one) => keyOf(one) === key);
              if (cast) navigate(comparePath(a, cast));
            }}
            options={[
              { value: keyOf(b), label: b.castId },
              ...others.map((cast) => ({ value: keyOf(cast), label: oneLine(cast.request, 40) || cast.castId })),
            ]}
          />
        </div>
        <p className="dim" data-testid="compare-sentence">
          {saying(props)}
        </p>
        <Heads compared={compared} views={views} />
      </header>
      <div className={css.halves}>
        <section aria-label="Turns, aligned">
          <Turns compared={compared} view={a} shared={shared} picked={picked} onPick={(turn) => change({ turn })} />
          <Variables compared={compared} views={views} />
          <div className={css.endCli}>
            {places.project === places.other ? <Cli words={["materia", "compare", a.castId, b.castId]} /> : null}
          </div>
        </section>
        <section aria-label="The graph and the turn">
          <div className={css.picture}>
            <p className="faint sm">
              Turns and traversals as A : B.{" "}
              {routes.length === 0 ? "Both took every edge equally often." : "Thick lines show the differences."}
            </p>
            <MiniGraph
              grid={a.graph}
              sizes={MIDDLE}
              label="The graph, with the turns and traversals of both"
              counts={countsOf(compared, views)}
              notes={notesOf(views)}
              picked={picked?.socket}
              detail
            />
          </div>
          {picked ? (
            <Beside
              row={picked}
              views={views}
              places={places}
              tab={(search.get("show") as "input" | "output" | "route" | null) ?? telling(picked)}
              onTab={(show) => change({ show })}
            />
          ) : null}
        </section>
      </div>
    </div>
  );
}

/** Where the difference of a turn is seen first. */
function telling(row: ComparedTurn): "input" | "output" | "route" {
  const differs = row.differs ?? [];
  return differs.includes("prompt") || differs.length === 0 ? "input" : differs.includes("output") ? "output" : "route";
}

function countsOf(
  compared: Comparison,
  [a, b]: [CastView, CastView],
): Record<string, { text: string; differs: boolean }> {
  const taken = (view: CastView) => new Map((view.edges ?? []).map((edge) => [edge.id, edge.taken]));
  const [left, right] = [taken(a), taken(b)];
  const differ = new Set(compared.routes.map((route) => route.edge));
  return Object.fromEntries(
    [...new Set([...left.keys(), ...right.keys()])].map((id) => [
      id,
      { text: `${left.get(id) ?? 0} : ${right.get(id) ?? 0}`, differs: differ.has(id) },
    ]),
  );
}

function notesOf([a, b]: [CastView, CastView]): Record<string, string> {
  const visits = (view: CastView, id: string) => view.sockets?.find((one) => one.socket === id)?.visits ?? 0;
  return Object.fromEntries(a.graph.sockets.map(({ id }) => [id, `A ${visits(a, id)}, B ${visits(b, id)}`]));
}

function Variables({ compared, views: [a, b] }: { compared: Comparison; views: [CastView, CastView] }) {
  const differ = new Set(compared.variables.map((one) => one.path.split(".")[0]));
  const same = [...new Set([...Object.keys(a.state), ...Object.keys(b.state)])].filter((name) => !differ.has(name));
  const short = (value: unknown) =>
    value === undefined
      ? ""
      : Array.isArray(value)
        ? `${value.length} ${value.length === 1 ? "entry" : "entries"}`
        : oneLine(JSON.stringify(value), 90);
  return (
    <>
      <div className={css.bar2}>
        <h2>State at the end</h2>
      </div>
      <Table data-testid="variables">
        <tbody>
          {compared.variables.map((one) => (
            <tr key={one.path}>
              <Foreign as="td" className="mono" text={one.path} />
              <Foreign as="td" className="mono cut" text={short(one.a)} />
              <Foreign as="td" className="mono cut" text={short(one.b)} />
              <td>
                <strong>≠ differs</strong>
              </td>
            </tr>
          ))}
          {same.map((name) => (
            <tr key={name} className={css.shared}>
              <Foreign as="td" className="mono" text={name} />
              <td colSpan={2} className="mono cut">
                <Foreign text={short(a.state[name])} />
              </td>
              <td>= the same</td>
            </tr>
          ))}
          {same.length + differ.size === 0 ? (
            <tr>
              <td className="faint">No variable is set.</td>
            </tr>
          ) : null}
        </tbody>
      </Table>
    </>
  );
}
