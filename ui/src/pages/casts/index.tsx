// Casts: who needs me, what runs, what was.
import { Plus, Search } from "lucide-react";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import type { Summary } from "../../api/types";
import { castState } from "../../fold/view";
import { ago, dayOrClock, duration, money } from "../../shared/format";
import { castPath, keyOf, loadCasts, noteRefusal, useLive, useNow } from "../../shared/live";
import { Cli, Foreign, Pick, State, Strip, Tabs } from "../../shared/parts";
import { Link, useSearch } from "../../shared/router";
import { oneLine } from "../../shared/text";
import { typing } from "../../shared/typing";

const STATES = ["needs_you", "stalled", "running", "idle", "done", "failed", "aborted"] as const;
const stateName: Record<string, string> = {
  needs_you: "needs you",
  stalled: "stalled",
  running: "running",
  idle: "paused",
  done: "done",
  failed: "failed",
  aborted: "aborted",
};

/** What the list shows, by what the address says. */
export function chosen(casts: Summary[], search: URLSearchParams, now: number): Summary[] {
  const [view, state, loadout, project, text] = ["view", "state", "loadout", "folder", "text"].map((name) =>
    search.get(name),
  );
  const words = (text ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  return casts.filter((cast) => {
    if (state && castState(cast).state !== state) return false;
    if (loadout && cast.loadout !== loadout) return false;
    if (project && cast.project !== project) return false;
    if (view === "today" && now - Date.parse(cast.updatedAt ?? cast.startedAt ?? "") > 86_400_000) return false;
    if (view === "failed" && cast.status !== "failed") return false;
    const all =
      `${cast.request} ${cast.castId} ${cast.loadout} ${cast.error?.message ?? ""} ${cast.error?.code ?? ""}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

export function Casts() {
  const live = useLive();
  const now = useNow();
  const [search, change] = useSearch();
  const box = useRef<HTMLInputElement>(null);
  const text = search.get("text") ?? "";
  const [found, setFound] = useState<Set<string> | null>(null);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "/" || typing(event)) return;
      event.preventDefault();
      box.current?.focus();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  // The server searches all casts, also those that are not loaded.
  useEffect(() => {
    if (!text) return setFound(null);
    const timer = setTimeout(() => {
      loadCasts({ text }).then((items) => setFound(new Set(items.map(keyOf))), noteRefusal);
    }, 200);
    return () => clearTimeout(timer);
  }, [text]);

  const all = useMemo(
    () => [...live.casts.values()].sort((a, b) => String(b.startedAt ?? "").localeCompare(String(a.startedAt ?? ""))),
    [live.casts],
  );
  const shown = useMemo(() => {
    const local = chosen(all, search, now);
    if (!found) return local;
    const rest = new URLSearchParams(search);
    rest.delete("text");
    return chosen(all, rest, now).filter((cast) => found.has(keyOf(cast)) || local.includes(cast));
  }, [all, search, found, now]);
  const groups = {
    needs: shown.filter(
      (cast) => cast.status === "waiting" && !["interactive", "run_for"].includes(cast.waiting?.reason ?? ""),
    ),
    running: shown.filter(
      (cast) =>
        cast.status === "running" ||
        (cast.status === "waiting" && ["interactive", "run_for"].includes(cast.waiting?.reason ?? "")),
    ),
    recent: shown.filter((cast) => ["completed", "failed", "aborted"].includes(cast.status)),
  };
  const paused = groups.running.filter((cast) => cast.status === "waiting").length;
  const under = groups.running.length - paused;
  const says = [
    groups.needs.length > 0
      ? `${groups.needs.length} ${groups.needs.length === 1 ? "needs" : "need"} you.`
      : "Nobody needs you.",
    under > 0
      ? `${under} ${under === 1 ? "is" : "are"} running${paused ? `, ${paused} paused` : ""}.`
      : paused
        ? `${paused} paused.`
        : "",
  ].join(" ");
  const loadouts = [...new Set(all.map((cast) => cast.loadout))].sort();

  return (
    <div className="casts" data-testid="casts-page">
      <div className="chead">
        <div className="row">
          <h1>Casts</h1>
          {live.loaded && all.length > 0 ? <span className="dim">{says}</span> : null}
          <span className="grow" />
          <Link
            className="btn primary"
            to={`/casts?${new URLSearchParams({ ...Object.fromEntries(search), new: "1" })}`}
            data-testid="new-cast"
          >
            <Plus className="ico" /> New cast <kbd>C</kbd>
          </Link>
        </div>
        <div className="row tools">
          <Tabs
            name="view"
            label="Views"
            now={search.get("view") ?? "all"}
            onPick={(id) => change({ view: id === "all" ? null : id })}
            items={[
              { id: "all", label: "All", count: all.length },
              {
                id: "today",
                label: "Last 24 hours",
                count: chosen(all, new URLSearchParams("view=today"), now).length,
              },
              { id: "failed", label: "Failed", count: all.filter((cast) => cast.status === "failed").length },
            ]}
          />
          <span className="grow" />
          <Pick
            label="State"
            value={search.get("state") ?? ""}
            testid="filter-state"
            onPick={(value) => change({ state: value })}
            options={[
              { value: "", label: "any" },
              ...STATES.map((value) => ({ value, label: stateName[value] ?? value })),
            ]}
          />
          <Pick
            label="Loadout"
            value={search.get("loadout") ?? ""}
            testid="filter-loadout"
            onPick={(value) => change({ loadout: value })}
            options={[{ value: "", label: "any" }, ...loadouts.map((value) => ({ value, label: value }))]}
          />
          {live.projects.length > 1 ? (
            <Pick
              label="Folder"
              value={search.get("folder") ?? ""}
              onPick={(value) => change({ folder: value })}
              options={[
                { value: "", label: "any" },
                ...live.projects.map((one) => ({ value: one.id, label: one.name })),
              ]}
            />
          ) : null}
          <label className="find">
            <Search className="ico s" />
            <input
              ref={box}
              value={text}
              onChange={(event) => change({ text: event.target.value })}
              placeholder="Request, id, error"
              aria-label="Search casts"
              data-testid="search"
            />
            <kbd>/</kbd>
          </label>
        </div>
      </div>
      <div id="view-body" role="tabpanel" aria-label="Casts">
        {live.loaded && all.length === 0 ? <Nothing /> : null}
        {live.loaded && all.length > 0 && shown.length === 0 ? (
          <p className="empty">
            No cast has these.{" "}
            <button
              type="button"
              className="btn"
              onClick={() => change({ view: null, state: null, loadout: null, text: null, folder: null })}
            >
              Show all
            </button>
          </p>
        ) : null}
        {shown.length > 0 ? (
          <>
            <table className="tbl list">
              <colgroup>
                <col className="c-state" />
                <col />
                <col className="c-load" />
                <col className="c-items" />
                <col className="c-num" />
                <col className="c-cost" />
                <col className="c-time" />
                <col className="c-when" />
                <col className="c-act" />
              </colgroup>
              <thead>
                <tr>
                  <th>State</th>
                  <th>Request</th>
                  <th className="wide">Loadout</th>
                  <th className="wide">Items</th>
                  <th className="r wide">Turns</th>
                  <th className="r wide">Cost</th>
                  <th className="r wide">Time</th>
                  <th className="r wide">Started</th>
                  <th className="wide">
                    <span className="sr">Act</span>
                  </th>
                </tr>
              </thead>
              <Group title="Needs you" casts={groups.needs} now={now} tall />
              <Group title="Running" casts={groups.running} now={now} tall />
              <Group title="Recent" casts={groups.recent} now={now} />
            </table>
            {live.next ? (
              <p className="empty">
                <button
                  type="button"
                  className="btn"
                  onClick={() => void loadCasts({ cursor: live.next ?? "" }).catch(noteRefusal)}
                >
                  Show older casts
                </button>
              </p>
            ) : null}
          </>
        ) : null}
      </div>
    </div>
  );
}

function Group({ title, casts, now, tall = false }: { title: string; casts: Summary[]; now: number; tall?: boolean }) {
  if (casts.length === 0) return null;
  return (
    <tbody data-testid={`group-${title}`}>
      <tr className="ghead">
        <th colSpan={9} scope="colgroup">
          {title} <span className="faint">{casts.length}</span>
        </th>
      </tr>
      {casts.map((cast) => (
        <CastRow key={keyOf(cast)} cast={cast} now={now} tall={tall} />
      ))}
    </tbody>
  );
}

const verbs: Record<string, string> = {
  approval: "Review",
  multi_turn: "Answer",
  stall: "See evidence",
  budget: "Raise budget",
  manual: "Start turn",
  trust: "Review",
};

function CastRow({ cast, now, tall }: { cast: Summary; now: number; tall: boolean }) {
  const { projects } = useLive();
  const { state, word } = castState(cast);
  const to = castPath(cast, projects);
  const began = Date.parse(cast.startedAt ?? "");
  const updated = Date.parse(cast.updatedAt ?? cast.startedAt ?? "");
  const waiting = cast.status === "waiting" && state !== "idle";
  const time = waiting
    ? `waits ${ago(now - updated)}`
    : duration((cast.status === "running" && cast.driven !== false ? now : updated) - began);
  const verb = waiting ? verbs[cast.waiting?.reason ?? ""] : undefined;
  const note: ReactNode = cast.waiting
    ? cast.waiting.message
    : cast.error
      ? cast.error.message
      : cast.fromCastId
        ? `from ${cast.fromCastId}`
        : "";
  const name = projects.length > 1 ? projects.find((one) => one.id === cast.project)?.name : undefined;
  return (
    <tr className={tall && note ? "tall" : ""} data-testid={`cast-${cast.castId}`}>
      <td>
        <State state={state} word={word} />
      </td>
      <td>
        <span className="what">
          <Link to={to} className="plain req">
            <span className="cut">
              <Foreign text={oneLine(cast.request) || cast.castId} />
            </span>
          </Link>
          {note ? (
            <span className="note cut">
              <Foreign text={oneLine(String(note).replaceAll("`", ""))} />
            </span>
          ) : null}
          <span className="narrow-only faint xs">
            {cast.loadout} · {time}
          </span>
        </span>
      </td>
      <td className="wide">
        <span className="cut">{oneLine(cast.loadout, 60)}</span>
        {name ? <span className="note mono cut">{name}</span> : null}
      </td>
      <td className="wide">
        {cast.items && cast.items.total > 0 ? <Items cast={cast} /> : <span className="faint">no items</span>}
      </td>
      <td className="r wide">{cast.usage?.turns ?? ""}</td>
      <td className="r wide">
        {cast.usage?.cost === null || cast.usage?.cost === undefined ? (
          <span className="faint">unknown</span>
        ) : (
          money(cast.usage.cost)
        )}
      </td>
      <td className="r wide">{time}</td>
      <td className="r wide faint">{dayOrClock(cast.startedAt, now)}</td>
      <td className="r wide">
        {verb ? (
          <Link className="btn" to={`/inbox?cast=${encodeURIComponent(cast.castId)}`}>
            {verb}
          </Link>
        ) : null}
      </td>
    </tr>
  );
}

function Items({ cast }: { cast: Summary }) {
  const { done, total } = cast.items ?? { done: 0, total: 0 };
  const { state } = castState(cast);
  const now = state === "done" ? "done" : state;
  const cells = Array.from({ length: total }, (_, index) => ({
    key: String(index),
    state: index < done ? ("done" as const) : index === done ? now : ("idle" as const),
  }));
  return (
    <span className="items">
      <Strip cells={cells} label={`${done} of ${total} items done`} />
      <span className="faint nowrap">
        {done} of {total}
      </span>
    </span>
  );
}

function Nothing() {
  return (
    <div className="nothing" data-testid="nothing">
      <h2>No casts yet</h2>
      <p className="dim">
        A cast runs a loadout for one request. You see here what it does, why, and what it needs from you.
      </p>
      <div className="row">
        <Link className="btn primary" to="/casts?new=1">
          Start a cast
        </Link>
        <Link className="btn" to="/loadouts">
          Look at the loadouts
        </Link>
      </div>
      <p className="sub">Or try the shipped workflow: no key, no network</p>
      <Cli words={["materia", "demo"]} />
    </div>
  );
}
