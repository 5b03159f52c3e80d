// A shipped loadout stays as it is: a copy of it, under a name of its own, is written into the project's file.

import { freeName, Writer } from "../../document";
import { navigate } from "../../shared/router";
import { startNew } from "./begin";
import { loadoutNames } from "./names";
import { NameSheet } from "./Sheets";
import { type EditorStore, useEditor } from "./store";

export function CopySheet({ store, onClose }: { store: EditorStore; onClose: () => void }) {
  const { files, subject, text } = useEditor(store, "files", "subject", "text");
  const taken = loadoutNames(files);
  const { name: from } = subject;
  const fault = (name: string) =>
    name.trim() === "" ? "Give it a name." : taken.includes(name) ? `There is a loadout ${name} already.` : null;
  return (
    <NameSheet
      title={`Copy ${from}`}
      text="The copy is a draft of your project's file until you save it."
      label="Name of the copy"
      testid="copy-name"
      verb="Make the copy"
      from={freeName(`My-${from}`, taken)}
      fault={fault}
      onClose={onClose}
      onName={(name) => {
        startNew(name, new Writer(text).raw(["loadouts", from]) ?? "{}");
        navigate(`/loadouts/${encodeURIComponent(name)}?begin=1`);
      }}
    />
  );
}
