// One cast: what is happening, and why. The whole page shows one state: the newest, or that of an event.
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useShallow } from "zustand/react/shallow";
import type { CastView } from "../../api/generated";
import { type CastState, castState, nameOf, sentence, shownState } from "../../fold";
import { elk } from "../../graph/elk";
import { Graph } from "../../graph/Graph";
import { linesOf } from "../../graph/rows";
import { NotOpened } from "../../shared/Boundary";
import { LinkButton } from "../../shared/Button";
import { CastStore, useCast } from "../../shared/cast-store";
import { cx } from "../../shared/cx";
import { isExported } from "../../shared/exported";
import { inboxPath, keyOf, useInbox, useNow, watch } from "../../shared/live";
import { useLive } from "../../shared/live-state";
import { Empty, State } from "../../shared/parts";
import { changedSearch, navigate, searchNow, useSearch } from "../../shared/router";
import { oneLine } from "../../shared/text";
import { resolved, type TurnLink } from "../../shared/turnLink";
import { typing } from "../../shared/typing";
import { useKeydown } from "../../shared/useKeydown";
import { useSettled } from "../../shared/useSettled";
import { useWide } from "../../shared/useWide";
import { DemoEnd } from "./DemoEnd";
import { Dock } from "./Dock";
import { Header, type Work } from "./Header";
import { Outline } from "./Outline";
import { FocusPanel, type PanelTab } from "./panel";
import { LinePanel } from "./panel/LinePanel";
import type { DockProps } from "./props";
import css from "./style.module.css";
import { TimeBar } from "./TimeBar";
import { cardsOf, linesOfState, regionsOf } from "./views";
import { WorkspaceTab } from "./Workspace";

export function Cast({ id, link = null }: { id: string; link?: TurnLink | null }) {
  const [search, change] = useSearch();
  const store = useStore(id, search.get("project"));
  const { project } = store;
  const tip = useCast(store, (held) => held.state);
  const { error } = useQuery({
    queryKey: ["cast", store.number],
    queryFn: ({ signal }) => store.load(signal),
    gcTime: 0,
    meta: { once: true },
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: told after each state that was drawn
  useEffect(() => store.drawn(), [store, tip]);
  const ready = tip !== null;
  useEffect(() => void elk(), []);
  // The address names the project, so that every link from here leads to it.
  useEffect(() => {
    if (ready && project && !isExported()) change({ project });
  }, [ready, project, change]);
  useEffect(() => (ready && !isExported() ? watch(store) : undefined), [store, ready]);
  useEffect(() => () => store.leave(), [store]);

  // A link to a turn becomes the page with that turn in focus.
  const linked = tip && link ? resolved(tip, link) : null;
  const wish = linked ? JSON.stringify(linked) : null;
  useEffect(() => {
    if (!wish) return;
    const focus = JSON.parse(wish) as Record<string, string | number | null>;
    navigate(`/casts/${encodeURIComponent(id)}${changedSearch(searchNow(), focus)}`, true);
  }, [wish, id]);
  const wanted = Number(search.get("at") ?? 0);
  const past = tip !== null && wanted > 0 && wanted < tip.seq;
  const shown = useStateAt(store, past ? wanted : null, tip);
  const offline = useLive((live) => live.connection.kind !== "connected") && !isExported();
  const waits = useInbox().length;
  useEffect(() => {
    if (!tip) return;
    const { word } = castState(tip);
    document.title = `${waits > 0 ? `(${waits}) ` : ""}${word}: ${oneLine(tip.request, 60) || id} · Materia`;
  }, [tip, id, waits]);

  if (error && !tip) return <NotOpened error={error} to="/casts" all="All casts" />;
  if (!tip || !shown) return <Empty role="status">Reading the cast…</Empty>;
  return <CastPage {...{ store, tip, past, project, offline, search, change }} state={shown} />;
}

/** The store of a cast. An address that names no project gets the store's, which is the same one. */
function useStore(id: string, project: string | null): CastStore {
  const held = useRef<CastStore | null>(null);
  const known = held.current?.project ?? project;
  if (held.current?.id !== id || (project && known !== project))
    held.current = new CastStore(id, project, isExported());
  return held.current;
}

/** The state as of an event; until it is read, the one that was shown before. */
function useStateAt(store: CastStore, at: number | null, tip: CastState | null): CastState | null {
  const before = useRef({ store, state: tip });
  const asks = at !== null && tip !== null && !store.get().whole;
  const { data } = useQuery({ ...store.stretch(at ?? 0), enabled: asks });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the answer is where the store looks for it.
  const held = useMemo(() => (at === null || !tip ? tip : store.heldAt(at)), [store, at, tip, data]);
  const state = held ?? (before.current.store === store ? before.current.state : null) ?? tip;
  before.current = { store, state };
  return state;
}

interface CastPageProps extends Pick<DockProps, "store" | "state" | "past" | "search" | "change"> {
  tip: CastState;
  project: string | null;
  offline: boolean;
}

/** The socket to look at where none was chosen: what runs, what asks, what ran last. */
function interesting(state: CastState): string {
  const ids = Object.keys(state.plan?.nodes ?? {});
  for (const wanted of ["needs_you", "stalled", "failed", "running"] as const) {
    const found = ids.find((socket) => shownState(state, socket) === wanted);
    if (found) return found;
  }
  return state.turns.at(-1)?.socket ?? state.plan?.entry ?? ids[0] ?? "";
}

/** Which worker runs the cast: as the list of casts has it, which is live, else as the cast was read. */
function useWork(castId: string, project: string | null, view: CastView | null): Work {
  const key = keyOf({ castId, project: view?.project ?? project ?? undefined });
  // The list changes with each event of a cast; the page is drawn again only if this part of it does.
  return useLive(
    useShallow((live) => {
      const { worker, waitsForWorker } = live.casts.get(key) ?? view ?? {};
      return { worker, waitsForWorker };
    }),
  );
}

function CastPage(props: CastPageProps) {
  const { store, state, tip, past, project, offline, search, change } = props;
  const view = useCast(store, (held) => held.view);
  const live = useCast(store, (held) => held.live);
  const clock = useNow(!past && (state.status === "running" || state.status === "waiting") && !isExported());
  // In a file nothing goes on: its time is that of its last event.
  const now = isExported() ? tip.ts / 1000 : clock;
  const grid = view?.graph;
  const work = useWork(state.castId, project, view);
  const socket = search.get("socket") ?? interesting(state);
  const item = search.get("item");
  const flashed = useFlash(state, past);
  const select = useCallback((id: string) => change({ socket: id, turn: null, line: null }), [change]);
  const pickLine = useCallback((id: string | null) => change({ line: id }), [change]);
  const pickItem = useCallback((key: string | null) => change({ item: key, turn: null }), [change]);
  const goTo = useCallback((seq: number) => change({ at: seq, dock: "events" }, true), [change]);
  const setAt = useCallback((seq: number | null) => change({ at: seq }), [change]);
  const setTab = useCallback((tab: PanelTab) => change({ tab, line: null }), [change]);
  useCastKeys(state, tip, setAt, setTab, pickLine, past);

  const cards = useSettled(
    useMemo(() => (grid ? cardsOf(state, grid, live, now, past) : {}), [grid, state, live, now, past]),
  );
  const lines = useSettled(useMemo(() => (grid ? linesOfState(state, grid, flashed) : {}), [grid, state, flashed]));
  const regions = useSettled(useMemo(() => (grid ? regionsOf(state, grid, item) : {}), [grid, state, item]));
  const line = useMemo(
    () => (grid ? linesOf(grid).find((one) => one.id === search.get("line")) : undefined),
    [grid, search],
  );
  // There an outline stands for the graph, the dock has no room, and what the cast changed stands under the outline.
  const narrow = !useWide(768);
  const target = useMemo(() => ({ castId: state.castId, project }), [state.castId, project]);
  if (!grid) return null;
  const graph = { grid, cards, lines, regions, onSelect: select, onLine: pickLine };
  const shown = { store, state, past, now, search, change, target };
  return (
    <div
      className={cx(
        css.cast,
        past && css.past,
        search.get("beside") && css.beside,
        (search.get("socket") || line) && css.focused,
      )}
      data-testid="cast-page"
      data-cast={state.castId}
      data-seq={state.seq}
    >
      <Banner {...{ state, tip, past, offline, project }} />
      {past || offline || isExported() ? null : <DemoEnd state={state} target={target} />}
      <Header {...{ state, tip, past, work, now, target, socket, change }} driven={view?.driven} />
      <TimeBar state={state} tip={tip} past={past} onAt={setAt} offline={offline} />
      <div className={css.left}>
        <Graph {...graph} selected={line ? null : socket} line={line?.id ?? null} item={item} onItem={pickItem} />
        {narrow ? <Outline {...graph} selected={socket} /> : null}
        {narrow && state.own && !isExported() ? (
          <section className={css.narrowFiles} aria-label="Files">
            <h2>Files</h2>
            <WorkspaceTab state={state} target={target} past={past} />
          </section>
        ) : null}
        <Dock {...shown} onSelect={select} />
      </div>
      {line ? (
        <LinePanel
          key={line.id}
          store={store}
          state={state}
          line={line}
          taken={lines[line.id]?.taken ?? 0}
          change={change}
          onEvent={goTo}
        />
      ) : (
        <FocusPanel {...shown} socket={socket} live={live[socket]} item={item} onEvent={goTo} />
      )}
    </div>
  );
}

/** The edge that was just taken, for as long as it is lit. */
function useFlash(state: CastState, past: boolean): string | null {
  const { seq, lastEdge: edge } = state;
  // Found out while drawing: to note it afterwards would draw the page twice at each event.
  const lit = useRef<{ seq: number; edge: string | null }>({ seq, edge: null });
  const fresh = seq > lit.current.seq && !past;
  if (fresh && edge && (state.edges[edge]?.lastSeq ?? 0) >= seq - 6) lit.current = { seq, edge };
  else lit.current.seq = seq;
  const [, drawAgain] = useState(0);
  const flashed = lit.current.edge;
  useEffect(() => {
    if (!flashed) return;
    const timer = setTimeout(() => {
      lit.current.edge = null;
      drawAgain(seq);
    }, 600);
    return () => clearTimeout(timer);
  }, [flashed, seq]);
  return flashed;
}

function Banner({ state, tip, past, offline, project }: Omit<CastPageProps, "store" | "search" | "change">) {
  const waits =
    state.status === "waiting" && !past && !["interactive", "run_for"].includes(state.waiting?.reason ?? "");
  if (waits) {
    const { state: look, word } = castState(state);
    const refused = state.questions[state.waiting?.node ?? ""]?.denied;
    const asked = Object.values(state.questions).filter((one) => !one.denied && one.socket !== state.waiting?.node);
    const more = [...asked.map((one) => `${nameOf(state, one.socket)} asks`), ...(offline ? ["not connected"] : [])];
    return (
      <div className={cx(css.banner, "st", look)} role="status" data-testid="banner">
        <State state={look} word={word} />
        <span className="grow">{sentence(state)}</span>
        {more.length > 0 ? (
          <span className="faint" data-testid="banner-more">
            {more.length} more: {more.join(", ")}
          </span>
        ) : null}
        {isExported() ? null : (
          <LinkButton to={inboxPath({ castId: state.castId, project }, true)} data-testid="banner-act">
            {(
              {
                approval: refused ? "See what was refused" : "Review and approve",
                multi_turn: "Answer",
                stall: "See the evidence",
                budget: "Raise the budget",
                trust: "Review what changed",
                workspace: "Choose the files",
              } as Record<string, string>
            )[state.waiting?.reason ?? ""] ?? "See what to do"}
          </LinkButton>
        )}
      </div>
    );
  }
  if (!offline) return null;
  return (
    <div className={cx(css.banner, "st queued")} role="status" data-testid="banner-offline">
      <State state="queued" word="Not connected" />
      <span className="grow">You see event {tip.seq}. The page goes on from there when the server answers again.</span>
    </div>
  );
}

function useCastKeys(
  state: CastState,
  tip: CastState,
  setAt: (seq: number | null) => void,
  setTab: (tab: PanelTab) => void,
  setLine: (line: string | null) => void,
  past: boolean,
): void {
  useKeydown((event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event)) return;
    if (event.key === "[") setAt(Math.max(1, state.seq - 1));
    else if (event.key === "]") setAt(state.seq + 1 >= tip.seq ? null : state.seq + 1);
    else if (event.key === "l" && past) setAt(null);
    else if (event.key === "w") setTab("why");
    else if (event.key === "o") setTab("output");
    else if (event.key === "Escape" && searchNow().get("line")) setLine(null);
    else if (event.key === "Escape" && !past && !isExported()) navigate("/casts");
    else return;
    event.preventDefault();
  });
}
