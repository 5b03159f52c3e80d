// Ctrl K: casts and pages by name.
import { useMemo, useState } from "react";
import { castState } from "../fold/view";
import { Dialog } from "./Dialog";
import { castPath, useLive } from "./live";
import { State } from "./parts";
import { navigate } from "./router";
import { oneLine } from "./text";

export function Palette({ onClose }: { onClose: () => void }) {
  const live = useLive();
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const found = useMemo(() => {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const pages = [
      { key: "new", to: "/casts?new=1", label: "New cast", cast: null },
      { key: "casts", to: "/casts", label: "Casts", cast: null },
      { key: "inbox", to: "/inbox", label: "Inbox", cast: null },
      { key: "loadouts", to: "/loadouts", label: "Loadouts", cast: null },
      { key: "materia", to: "/materia", label: "Materia", cast: null },
      { key: "settings", to: "/settings", label: "Settings", cast: null },
    ];
    const casts = [...live.casts.values()].map((cast) => ({
      key: cast.castId,
      to: castPath(cast, live.projects),
      label: `${oneLine(cast.request, 120) || cast.castId}`,
      cast,
    }));
    const text = (one: (typeof casts)[number] | (typeof pages)[number]) =>
      `${one.label} ${one.key} ${one.cast?.loadout ?? ""}`.toLowerCase();
    return [...pages, ...casts].filter((one) => wanted.every((word) => text(one).includes(word))).slice(0, 12);
  }, [live.casts, live.projects, words]);
  const go = (to: string | undefined) => {
    if (!to) return;
    onClose();
    navigate(to);
  };
  return (
    <Dialog label="Find" onClose={onClose} className="palette">
      <input
        className="field"
        data-autofocus
        data-testid="palette-input"
        aria-label="Find a cast or a page"
        placeholder="A page, a request, an id"
        value={words}
        onChange={(event) => {
          setWords(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setAt(Math.min(at + 1, found.length - 1));
          else if (event.key === "ArrowUp") setAt(Math.max(at - 1, 0));
          else if (event.key === "Enter") go(found[at]?.to);
          else return;
          event.preventDefault();
        }}
      />
      <ul>
        {found.map((one, index) => {
          const cast = one.cast ? castState(one.cast) : null;
          return (
            <li key={one.key}>
              <button type="button" aria-current={index === at} onClick={() => go(one.to)}>
                <span className="cut grow">{one.label}</span>
                {one.cast ? <span className="mono faint">{one.cast.castId}</span> : null}
                {cast ? <State state={cast.state} word={cast.word} /> : null}
              </button>
            </li>
          );
        })}
      </ul>
      {found.length === 0 ? <p className="faint">Nothing has these words.</p> : null}
    </Dialog>
  );
}
