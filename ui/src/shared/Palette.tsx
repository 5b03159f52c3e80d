// Ctrl K: pages, casts, and of the cast that is open its sockets and events.
import { useMemo, useState } from "react";
import type { CastSummary } from "../api/generated";
import { type CastState, nameOf } from "../fold";
import { castState } from "../fold/view";
import { Dialog } from "./Dialog";
import { FindField } from "./FindField";
import { castPath, watchedCast } from "./live";
import { useLive } from "./live-state";
import css from "./palette.module.css";
import { State } from "./parts";
import { changedSearch, navigate, searchNow } from "./router";
import { oneLine } from "./text";

interface Hit {
  key: string;
  to: string;
  label: string;
  note?: string;
  cast?: CastSummary;
}

const pages: Hit[] = [
  { key: "new", to: "/casts?new=1", label: "New cast" },
  { key: "casts", to: "/casts", label: "Casts" },
  { key: "inbox", to: "/inbox", label: "Inbox" },
  { key: "loadouts", to: "/loadouts", label: "Loadouts" },
  { key: "materia", to: "/materia", label: "Materia" },
  { key: "settings", to: "/settings", label: "Settings" },
];

/** What is in the cast that is open: an event by its number, sockets by name, events by their words. */
export function inCast(state: CastState, words: string, path: string, search: URLSearchParams): Hit[] {
  const wanted = words.trim().toLowerCase();
  if (!wanted) return [];
  const at = (changes: Record<string, string | number | null>) => path + changedSearch(search, changes);
  const hits: Hit[] = [];
  const seq = Number(/^(?:event\s+)?(\d+)$/.exec(wanted)?.[1] ?? 0);
  if (seq >= 1 && seq <= state.seq)
    hits.push({ key: `event-${seq}`, to: at({ at: seq, dock: "events", event: seq }), label: `Event ${seq}` });
  for (const id of Object.keys(state.plan?.nodes ?? {})) {
    const name = nameOf(state, id);
    if (`${name} ${id}`.toLowerCase().includes(wanted))
      hits.push({ key: `socket-${id}`, to: at({ socket: id, turn: null, item: null }), label: name, note: id });
  }
  hits.push({
    key: "find-events",
    to: at({ dock: "events", find: words.trim(), kind: null, node: null, evitem: null }),
    label: `Events with “${oneLine(words, 40)}”`,
    note: "in this cast",
  });
  return hits;
}

export function Palette({ onClose }: { onClose: () => void }) {
  const known = useLive((live) => live.casts);
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const found = useMemo(() => {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const casts: Hit[] = [...known.values()].map((cast) => ({
      key: cast.castId,
      to: castPath(cast),
      label: `${oneLine(cast.request, 120) || cast.castId}`,
      note: cast.castId,
      cast,
    }));
    const text = (one: Hit) => `${one.label} ${one.key} ${one.cast?.loadout ?? ""}`.toLowerCase();
    const state = watchedCast()?.get().state;
    const here = state ? inCast(state, words, location.pathname, searchNow()) : [];
    const named = [...pages, ...casts].filter((one) => wanted.every((word) => text(one).includes(word)));
    return [...here.slice(0, -1), ...named.slice(0, 11), ...here.slice(-1)].slice(0, 14);
  }, [known, words]);
  const go = (to: string | undefined) => {
    if (!to) return;
    onClose();
    navigate(to);
  };
  return (
    <Dialog label="Find" onClose={onClose} className={css.palette}>
      <FindField
        data-testid="palette-input"
        aria-label="Find casts, sockets, events, pages"
        placeholder="Search requests, ids and pages; in a cast also sockets and events"
        value={words}
        count={found.length}
        at={at}
        setAt={setAt}
        onWords={setWords}
        onTake={() => go(found[at]?.to)}
      />
      <ul>
        {found.map((one, index) => {
          const cast = one.cast ? castState(one.cast) : null;
          return (
            <li key={one.key}>
              <button type="button" aria-current={index === at} onClick={() => go(one.to)}>
                <span className="cut grow">{one.label}</span>
                {one.note ? <span className="mono faint nowrap">{one.note}</span> : null}
                {cast ? <State state={cast.state} word={cast.word} /> : null}
              </button>
            </li>
          );
        })}
      </ul>
      {found.length === 0 ? <p className="faint">No results.</p> : null}
    </Dialog>
  );
}
