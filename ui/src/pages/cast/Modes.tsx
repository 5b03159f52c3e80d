// How a cast runs: whether turns start by themselves, and what they may write.
import { useState } from "react";
import { ActButton } from "../../shared/ActButton";
import { type Act, commandLine, MODES, PACES } from "../../shared/acts";
import { Button } from "../../shared/Button";
import { Cli } from "../../shared/Cli";
import { Foot, Pop } from "../../shared/Pop";
import { Pick, Seg } from "../../shared/parts";
import type { ActProps } from "./props";
import css from "./style.module.css";

const words: Record<string, string> = { ...PACES, ...MODES };

export function Modes({ state, target, onDone }: ActProps) {
  const [act, setAct] = useState<Act | null>(null);
  // Where there is little room, one picker has what the two switches have.
  const others: Extract<Act, { do: "mode" | "globalMode" }>[] = [
    { do: "mode", value: state.pace === "AUTO" ? "INTERACTIVE" : "AUTO" },
    { do: "globalMode", value: state.globalMode === "PLANNING" ? "IMPLEMENTATION" : "PLANNING" },
  ];
  return (
    <>
      <span className={css.modes}>
        <Seg label="Pace" now={state.pace} onPick={(value) => setAct({ do: "mode", value })} items={PACES} />
        <Seg
          label="What turns may write"
          now={state.globalMode}
          onPick={(value) => setAct({ do: "globalMode", value })}
          items={MODES}
        />
      </span>
      <Pick
        className={css.modePick}
        label="Mode"
        value="now"
        testid="mode-pick"
        onPick={(value) => setAct(others.find((one) => one.value === value) ?? null)}
        options={[
          { value: "now", label: `${words[state.pace]}, ${words[state.globalMode]}` },
          ...others.map(({ value }) => ({ value, label: words[value] ?? value })),
        ]}
      />
      {act ? (
        <Pop open onOpen={(open) => !open && setAct(null)} label="Change the mode">
          <h2>
            {act.do === "mode"
              ? act.value === "AUTO"
                ? "Start turns automatically"
                : "Start turns only by hand"
              : act.do === "globalMode" && act.value === "PLANNING"
                ? "Let turns write documents only"
                : "Let turns write what their socket allows"}
          </h2>
          <div className="stack">
            <div className="dim">Nothing is interrupted and nothing is lost.</div>
            <Cli words={commandLine(target.castId, act)} />
            <Foot>
              <Button onClick={() => setAct(null)}>Cancel</Button>
              <ActButton
                look="primary"
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
            </Foot>
          </div>
        </Pop>
      ) : null}
    </>
  );
}
