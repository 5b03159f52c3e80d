// How a cast runs: whether turns start by themselves, and what they may write.

import { useState } from "react";
import { ActButton } from "../../shared/ActButton";
import { type Act, commandLine } from "../../shared/acts";
import { Button } from "../../shared/Button";
import { Cli } from "../../shared/Cli";
import { Pop } from "../../shared/Pop";
import { Seg } from "../../shared/parts";
import type { ActProps } from "./Acts";

const words: Record<string, string> = {
  AUTO: "Auto",
  INTERACTIVE: "Interactive",
  PLANNING: "Planning",
  IMPLEMENTATION: "Implementation",
};

export function Modes({ state, target, onDone }: ActProps) {
  const [act, setAct] = useState<Act | null>(null);
  // Where there is little room, one picker has what the two switches have.
  const others: { value: string; act: Act }[] = [];
  const pace = state.pace === "AUTO" ? "INTERACTIVE" : "AUTO";
  const mode = state.globalMode === "PLANNING" ? "IMPLEMENTATION" : "PLANNING";
  others.push({ value: pace, act: { do: "mode", value: pace } });
  others.push({ value: mode, act: { do: "globalMode", value: mode } });
  return (
    <>
      <span className="modes">
        <Seg
          label="Pace"
          now={state.pace}
          onPick={(value) => setAct({ do: "mode", value })}
          items={[
            { id: "AUTO", label: "Auto" },
            { id: "INTERACTIVE", label: "Interactive" },
          ]}
        />
        <Seg
          label="What turns may write"
          now={state.globalMode}
          onPick={(value) => setAct({ do: "globalMode", value })}
          items={[
            { id: "PLANNING", label: "Planning" },
            { id: "IMPLEMENTATION", label: "Implementation" },
          ]}
        />
      </span>
      <label className="pick mode-pick">
        <span className="faint">Mode</span>
        <select
          value="now"
          aria-label="Mode"
          data-testid="mode-pick"
          onChange={(event) => {
            const found = others.find((one) => one.value === event.target.value);
            if (found) setAct(found.act);
          }}
        >
          <option value="now">
            {words[state.pace]}, {words[state.globalMode]}
          </option>
          {others.map((one) => (
            <option key={one.value} value={one.value}>
              {words[one.value]}
            </option>
          ))}
        </select>
      </label>
      {act ? (
        <Pop open onOpen={(open) => !open && setAct(null)} label="Change the mode">
          <h3>
            {act.do === "mode"
              ? act.value === "AUTO"
                ? "Start turns automatically"
                : "Start turns only by hand"
              : act.do === "globalMode" && act.value === "PLANNING"
                ? "Let turns write documents only"
                : "Let turns write what their socket allows"}
          </h3>
          <div className="stack">
            <div className="dim">Nothing is interrupted and nothing is lost.</div>
            <Cli words={commandLine(target.castId, act)} />
            <div className="foot">
              <Button onClick={() => setAct(null)}>Cancel</Button>
              <ActButton
                className="btn primary"
                target={target}
                act={act}
                testid="mode-confirm"
                onDone={(result, what) => {
                  setAct(null);
                  onDone(result, what);
                }}
              >
                Change it
              </ActButton>
            </div>
          </div>
        </Pop>
      ) : null}
    </>
  );
}
