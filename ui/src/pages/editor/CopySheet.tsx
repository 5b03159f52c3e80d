// A shipped loadout stays as it is: a copy of it, under a name of its own, is written into the project's file.

import { type FormEvent, useState } from "react";
import { Writer } from "../../document";
import { Button } from "../../shared/Button";
import { Dialog } from "../../shared/Dialog";
import { navigate } from "../../shared/router";
import { startNew } from "./begin";
import { loadoutNames } from "./names";
import type { EditorState } from "./state";

export function CopySheet({ state, onClose }: { state: EditorState; onClose: () => void }) {
  const taken = loadoutNames(state.files);
  const [name, setName] = useState(() => freeName(taken, state.subject.name));
  const fault =
    name.trim() === "" ? "Give it a name." : taken.includes(name) ? `There is a loadout ${name} already.` : null;
  const make = (event: FormEvent) => {
    event.preventDefault();
    if (fault) return;
    startNew(name, new Writer(state.text).raw(["loadouts", state.subject.name]) ?? "{}");
    onClose();
    navigate(`/loadouts/${encodeURIComponent(name)}?begin=1`);
  };
  return (
    <Dialog label="Copy" onClose={onClose} className="ask-sheet">
      <form onSubmit={make}>
        <h2>Copy {state.subject.name}</h2>
        <p className="dim">The copy is a draft of your project's file until you save it.</p>
        <input
          className="field"
          data-autofocus
          data-testid="copy-name"
          aria-label="Name of the copy"
          value={name}
          onFocus={(event) => event.target.select()}
          onChange={(event) => setName(event.target.value)}
        />
        {fault ? <p className="err">{fault}</p> : null}
        <div className="foot">
          <Button onClick={onClose}>Cancel</Button>
          <button type="submit" className="btn primary" data-testid="make-copy" disabled={fault !== null}>
            Make the copy
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export function freeName(taken: string[], from: string): string {
  let name = `My-${from}`;
  for (let number = 2; taken.includes(name); number += 1) name = `My-${from}-${number}`;
  return name;
}
