// What a terminal does with this cast and the page has no button for: its commands, to copy.

import { SquareTerminal } from "lucide-react";
import { useState } from "react";
import { Cli } from "../../shared/Cli";
import { Pop } from "../../shared/Pop";

const lines: [string, (id: string) => string[]][] = [
  ["Export as one file that opens without a server", (id) => ["materia", "export", id, "-o", `${id}.html`]],
  ["Verify every event", (id) => ["materia", "replay", id]],
  ["Follow it in a terminal", (id) => ["materia", "attach", id]],
  ["Show the result", (id) => ["materia", "show", id]],
];

export function Lines({ castId }: { castId: string }) {
  const [open, setOpen] = useState(false);
  return (
    <Pop
      left
      open={open}
      onOpen={setOpen}
      opener={{
        look: "quiet small icon",
        "aria-label": "In a terminal",
        title: "In a terminal",
        testid: "lines",
        icon: SquareTerminal,
      }}
    >
      <h2>In a terminal</h2>
      <div className="stack">
        {lines.map(([what, words]) => (
          <div key={what}>
            <div className="dim sm">{what}</div>
            <Cli words={words(castId)} />
          </div>
        ))}
      </div>
    </Pop>
  );
}
