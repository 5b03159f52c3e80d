// Casts: who needs me, what runs, what was.
import { useQuery } from "@tanstack/react-query";
import { GitCompare, Plus, Search } from "lucide-react";
import { useCallback, useMemo, useRef } from "react";
import { useShallow } from "zustand/react/shallow";
import { pause } from "../../shared/ask";
import { Button, LinkButton } from "../../shared/Button";
import { cx } from "../../shared/cx";
import { FindBox } from "../../shared/FindField";
import { comparePath, keyOf, loadCasts, readCasts, useNow, useProjects } from "../../shared/live";
import { noteRefusal, useLive } from "../../shared/live-state";
import { Empty, Pick } from "../../shared/parts";
import { searchNow, useSearch } from "../../shared/router";
import { type Column, Table } from "../../shared/Table";
import { typing } from "../../shared/typing";
import { useKeydown } from "../../shared/useKeydown";
import css from "./casts.module.css";
import { chosen, filtersOf, needsYou } from "./chosen";
import { Nothing } from "./Nothing";
import { Group } from "./Rows";
import { Views } from "./Views";

const STATES = ["needs_you", "stalled", "running", "idle", "done", "failed", "aborted"] as const;
const stateName = (state: string) => (state === "idle" ? "paused" : state.replace("_", " "));

const CHOOSE = <span className="sr">Choose</span>;
const ACT = <span className="sr">Act</span>;
const COLUMNS: Column[] = [
  [CHOOSE, 40, "wide"],
  ["State", 116],
  ["Request"],
  ["Loadout", 136, "wide"],
  ["Items", 176, "wide"],
  ["Turns", 60, "r wide"],
  ["Cost", 86, "r wide"],
  ["Time", 112, "r wide"],
  ["Started", 76, "r wide"],
  [ACT, 146, "wide"],
];

/** Letters that follow each other are one question. */
const SEARCH_AFTER_MS = 200;

const picks = (search: URLSearchParams) => (search.get("pick") ?? "").split(" ").filter(Boolean);

export function Casts() {
  const { casts, loaded, next } = useLive(useShallow(({ casts, loaded, next }) => ({ casts, loaded, next })));
  const projects = useProjects();
  const now = useNow();
  const [search, change] = useSearch();
  const box = useRef<HTMLInputElement>(null);
  const text = search.get("text") ?? "";

  useKeydown((event) => {
    if (event.key !== "/" || typing(event)) return;
    event.preventDefault();
    box.current?.focus();
  });
  // The server searches all casts, also those that are not loaded.
  const asked = useQuery({
    queryKey: ["/casts", { text }],
    queryFn: async ({ signal }) => {
      await pause(SEARCH_AFTER_MS, signal);
      return readCasts({ text }, signal);
    },
    enabled: text !== "",
  });
  const found = useMemo(() => (text && asked.data ? new Set(asked.data.map(keyOf)) : null), [text, asked.data]);

  const all = useMemo(
    () => [...casts.values()].sort((a, b) => String(b.startedAt ?? "").localeCompare(String(a.startedAt ?? ""))),
    [casts],
  );
  const shown = useMemo(() => {
    const local = chosen(all, search, now);
    if (!found) return local;
    const rest = new URLSearchParams(search);
    rest.delete("text");
    return chosen(all, rest, now).filter((cast) => found.has(keyOf(cast)) || local.includes(cast));
  }, [all, search, found, now]);
  const groups = {
    needs: shown.filter(needsYou),
    running: shown.filter((cast) => cast.status === "running" || (cast.status === "waiting" && !needsYou(cast))),
    recent: shown.filter((cast) => ["completed", "failed", "aborted"].includes(cast.status)),
  };
  // The sentence is about all of them, whatever the list is narrowed to.
  const needs = all.filter(needsYou).length;
  const paused = all.filter((cast) => cast.status === "waiting" && !needsYou(cast)).length;
  const under = all.filter((cast) => cast.status === "running").length;
  const says = [
    needs > 0 ? `${needs} ${needs === 1 ? "needs" : "need"} you.` : "No cast needs you.",
    under > 0
      ? `${under} ${under === 1 ? "is" : "are"} running${paused ? `, ${paused} paused` : ""}.`
      : paused
        ? `${paused} paused.`
        : "",
  ].join(" ");
  const filters = filtersOf(search);
  const loadouts = [...new Set(all.map((cast) => cast.loadout))].sort();

  const keys = picks(search);
  const toggle = useCallback(
    (key: string) => {
      const before = picks(searchNow());
      const after = before.includes(key) ? before.filter((one) => one !== key) : [...before.slice(-1), key];
      change({ pick: after.join(" ") });
    },
    [change],
  );
  const picked = { keys, toggle };
  const [first, second] = keys.map((key) => casts.get(key));

  if (loaded && all.length === 0)
    return (
      <div className={css.casts} data-testid="casts-page">
        <Nothing />
      </div>
    );
  return (
    <div className={css.casts} data-testid="casts-page">
      <div className={css.chead}>
        <div className="row">
          <h1>Casts</h1>
          {loaded && all.length > 0 ? <span className="dim">{says}</span> : null}
          <span className="grow" />
          {keys.length > 0 ? (
            <span className={css.comparing} data-testid="comparing">
              {first && second ? (
                <LinkButton to={comparePath(first, second)} data-testid="compare-chosen">
                  <GitCompare className="ico" /> Compare the two
                </LinkButton>
              ) : (
                <span className="dim">Choose a second one to compare.</span>
              )}
              <Button look="quiet" onClick={() => change({ pick: null })}>
                Cancel
              </Button>
            </span>
          ) : null}
          <LinkButton
            look="primary"
            to={`/casts?${new URLSearchParams({ ...Object.fromEntries(search), new: "1" })}`}
            data-testid="new-cast"
          >
            <Plus className="ico" /> New cast <kbd>C</kbd>
          </LinkButton>
        </div>
        <div className={cx(css.tools, "row")}>
          <Views
            filters={filters}
            counts={{
              all: all.length,
              today: chosen(all, new URLSearchParams("view=today"), now).length,
              failed: all.filter((cast) => cast.status === "failed").length,
            }}
            countOf={(wanted) => chosen(all, new URLSearchParams(wanted as Record<string, string>), now).length}
            change={change}
          />
          <span className="grow" />
          <Pick
            label="State"
            value={search.get("state") ?? ""}
            testid="filter-state"
            onPick={(value) => change({ state: value })}
            any="any"
            options={STATES.map((value) => ({ value, label: stateName(value) }))}
          />
          <Pick
            label="Loadout"
            value={search.get("loadout") ?? ""}
            testid="filter-loadout"
            onPick={(value) => change({ loadout: value })}
            any="any"
            options={loadouts.map((value) => ({ value, label: value }))}
          />
          {projects.length > 1 ? (
            <Pick
              label="Project"
              value={search.get("project") ?? ""}
              testid="filter-project"
              onPick={(value) => change({ project: value })}
              any="any"
              options={projects.map((one) => ({ value: one.id, label: one.name }))}
            />
          ) : null}
          <FindBox>
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
          </FindBox>
        </div>
      </div>
      <div id="view-body" role="tabpanel" aria-label="Casts">
        {loaded && all.length > 0 && shown.length === 0 ? (
          <Empty>
            No cast matches.{" "}
            <Button onClick={() => change({ view: null, state: null, loadout: null, text: null, project: null })}>
              Show all
            </Button>
          </Empty>
        ) : null}
        {shown.length > 0 ? (
          <>
            <Table className={css.list} columns={COLUMNS}>
              <Group title="Needs you" casts={groups.needs} now={now} picked={picked} tall />
              <Group title="Running" casts={groups.running} now={now} picked={picked} tall />
              <Group title="Recent" casts={groups.recent} now={now} picked={picked} />
            </Table>
            {next ? (
              <Empty>
                <Button onClick={() => void loadCasts({ cursor: next ?? "" }).catch(noteRefusal)}>
                  Show older casts
                </Button>
              </Empty>
            ) : null}
          </>
        ) : null}
      </div>
    </div>
  );
}
