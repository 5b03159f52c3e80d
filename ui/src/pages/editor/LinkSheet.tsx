// A loadout dropped behind this one: what would be stitched is shown, or why it cannot be, and it can be saved.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { link } from "../../api/editor";
import type { Json } from "../../api/generated";
import { MIDDLE } from "../../graph/layout";
import { MiniGraph } from "../../graph/MiniGraph";
import { Button } from "../../shared/Button";
import { Cli } from "../../shared/Cli";
import { cx } from "../../shared/cx";
import { Dialog } from "../../shared/Dialog";
import { Input } from "../../shared/Field";
import { Foot } from "../../shared/Pop";
import { ErrorBox } from "../../shared/parts";
import { navigate } from "../../shared/router";
import { startNew } from "./begin";
import css from "./editor.module.css";
import { Said } from "./fields";
import { loadoutNames } from "./names";
import { type EditorStore, useEditor } from "./store";

export function LinkSheet({ store, behind, onClose }: { store: EditorStore; behind: string; onClose: () => void }) {
  const parts = ["project", "file", "files", "text", "subject"] as const;
  const { project, file, files, text, subject } = useEditor(store, ...parts);
  const { data: found, error } = useQuery({
    queryKey: ["link", project, file, text, subject.name, behind],
    queryFn: ({ signal }) => link(project, { [file]: text }, [`loadout:${subject.name}`, `loadout:${behind}`], signal),
  });
  const [name, setName] = useState(`${subject.name}-then-${behind}`.replace(/[^A-Za-z0-9._-]/g, "-").slice(0, 64));
  const taken = loadoutNames(files).includes(name);
  const save = () => {
    if (!found?.loadout) return;
    startNew(name, found.loadout as { [key: string]: Json });
    onClose();
    navigate(`/loadouts/${encodeURIComponent(name)}?begin=1`);
  };
  return (
    <Dialog label="Link" onClose={onClose} className={css.linksheet}>
      <h2>
        {subject.name}, then {behind}
      </h2>
      {error ? <ErrorBox error={error} /> : null}
      {found?.graph ? (
        <div data-testid="link-graph">
          <MiniGraph grid={found.graph} sizes={MIDDLE} label="Preview of the linked graph" />
        </div>
      ) : null}
      {(found?.findings ?? []).map((finding) => (
        <p
          key={`${finding.code}${finding.message}`}
          className={cx(css.err, "st", finding.severity === "error" ? "failed" : "needs_you")}
          data-testid="link-finding"
        >
          <span>
            <Said text={finding.message} />
            {finding.help ? (
              <span className="faint">
                {" "}
                <Said text={finding.help} />
              </span>
            ) : null}{" "}
            <code>{finding.code}</code>
          </span>
        </p>
      ))}
      <Cli words={["materia", "link", `loadout:${subject.name}`, `loadout:${behind}`, "--", "…"]} />
      <Foot>
        <label className="grow row">
          <span className="nowrap">Save it as</span>
          <Input data-testid="link-name" value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <Button onClick={onClose}>Close</Button>
        <Button
          look="primary"
          data-testid="link-save"
          disabled={!found?.loadout || taken || name.trim() === ""}
          onClick={save}
        >
          {taken ? "The name is taken" : "Open as a new loadout"}
        </Button>
      </Foot>
    </Dialog>
  );
}
