// What a terminal does with this cast and the page has no button for: its commands, to copy.
import { SquareTerminal } from "lucide-react";
import { useRef, useState } from "react";
import { Cli } from "../../shared/Cli";

const lines: [string, (id: string) => string[]][] = [
  ["Export as one file that opens without a server", (id) => ["materia", "export", id, "-o", `${id}.html`]],
  ["Verify every event", (id) => ["materia", "replay", id]],
  ["Follow it in a terminal", (id) => ["materia", "attach", id]],
  ["Show the result", (id) => ["materia", "show", id]],
];

export function Lines({ castId }: { castId: string }) {
  const [open, setOpen] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  return (
    <span className="pop-host">
      <button
        type="button"
        className="btn quiet small icon"
        aria-label="In a terminal"
        title="In a terminal"
        aria-expanded={open}
        ref={opener}
        data-testid="lines"
        onClick={() => setOpen(!open)}
      >
        <SquareTerminal className="ico s" />
      </button>
      {open ? (
        // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes it from wherever the focus is inside
        <div
          className="pop left"
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            event.stopPropagation();
            close();
          }}
        >
          <h3>In a terminal</h3>
          <div className="stack">
            {lines.map(([what, words]) => (
              <div key={what}>
                <div className="dim sm">{what}</div>
                <Cli words={words(castId)} />
              </div>
            ))}
          </div>
        </div>
      ) : null}
    </span>
  );
}
