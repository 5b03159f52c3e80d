// Before saving: what changes, as things and as lines; whom it concerns; and what the next cast will ask about.
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Refusal } from "../../api/client";
import { check, diff, saveConfig } from "../../api/editor";
import type { Change, ConfigFile, Plan } from "../../api/generated";
import { object, Writer } from "../../document";
import { useOnce } from "../../shared/ask";
import { Button } from "../../shared/Button";
import { Compare } from "../../shared/code";
import { Dialog } from "../../shared/Dialog";
import { Input } from "../../shared/Field";
import { useLive } from "../../shared/live-state";
import { Foot } from "../../shared/Pop";
import { ErrorBox, Foreign } from "../../shared/parts";
import { Runs } from "../../shared/Runs";
import { navigate } from "../../shared/router";
import { oneLine } from "../../shared/text";
import { Del, Ins } from "../../shared/WordDiff";
import css from "./editor.module.css";
import { isCleared } from "./SaveBar";
import { type EditorStore, useEditor } from "./store";

export function Review({ store, onClose }: { store: EditorStore; onClose: () => void }) {
  const parts = ["base", "project", "file", "layer", "subject", "hash", "loadout", "text", "value"] as const;
  const { base, project, file, layer, subject, hash, loadout, text: shown, value } = useEditor(store, ...parts);
  const cleared = isCleared({ subject, loadout, base });
  // A loadout without sockets is none: what is saved has it no more.
  const text = useMemo(() => (cleared ? without(shown, subject.name) : shown), [cleared, shown, subject.name]);
  const { data: found, error: unread } = useQuery({
    queryKey: ["diff", base, text],
    queryFn: ({ signal }) => diff(base, text, signal),
  });
  const [typed, setTyped] = useState("");
  const runs = useNewRuns(store);
  const known = useLive((live) => live.casts);
  const active = object(value).activeLoadout === subject.name;
  const running = [...known.values()].filter(
    (cast) => cast.loadout === subject.name && (cast.status === "running" || cast.status === "waiting"),
  ).length;
  const save = useOnce(
    async () => {
      // What was typed a moment ago may not have been looked at yet.
      const { findings } = await check(project, { [file]: text }, null);
      const errors = findings.filter((one) => one.severity === "error" && (!one.file || one.file === file));
      if (errors.length > 0) throw new Error(`Not saved: ${errors.map((one) => one.message).join("; ")}.`);
      try {
        const answer = await saveConfig(project, layer, file, text, hash);
        await store.saved(text, answer.hash);
        store.say(`Saved in ${file}.`);
        return cleared ? "/loadouts" : null;
      } catch (reason) {
        if (!(reason instanceof Refusal && reason.problem.status === 412)) throw reason;
        const theirs = (reason.problem as unknown as { theirs: ConfigFile | null }).theirs;
        store.patch({
          conflict: { of: "file", base, yours: text, theirs: theirs?.text ?? "", mark: theirs?.hash ?? hash },
        });
        return null;
      }
    },
    (next) => {
      onClose();
      if (next) navigate(next);
    },
  );
  const error = save.error ?? unread;
  return (
    <Dialog label="Review and save" onClose={onClose} className={css.review}>
      <header>
        <h2>Review and save</h2>
        <span className="dim sm">
          {layer}, <span className="mono">{file}</span>
        </span>
      </header>
      <div className={css.cols}>
        <section aria-label="What changes" className={css.things}>
          <p className={css.counts} data-testid="counts">
            {found
              ? `${found.added.length} added, ${found.removed.length} removed, ${found.changed.length} changed`
              : "Comparing."}
          </p>
          {found ? (
            <>
              <Changes title="Added" list={found.added} />
              <Changes title="Removed" list={found.removed} />
              <Changes title="Changed" list={found.changed} />
            </>
          ) : null}
          <h3>Affected casts</h3>
          <p className="dim sm" data-testid="concerns">
            {active ? "It is the active loadout: casts use it unless they name another. " : ""}
            {running === 0
              ? "No cast of it is running."
              : `${running} ${running === 1 ? "cast of it is" : "casts of it are"} running and ${running === 1 ? "keeps" : "keep"} the old version.`}
          </p>
          <h3>What the next cast will ask</h3>
          {runs === null ? (
            <p className="dim sm">Checking.</p>
          ) : runs.length === 0 ? (
            <p className="dim sm" data-testid="trust">
              It would run no new programs.
            </p>
          ) : (
            <>
              <p className="dim sm" data-testid="trust">
                Saving approves nothing. Before its first cast you will be asked whether this may run:
              </p>
              <Runs items={runs.map((one) => oneLine(one, 300))} />
            </>
          )}
        </section>
        <section aria-label="Lines" className={css.lines}>
          {base === text ? (
            <p className="dim">The text is the same.</p>
          ) : (
            <Compare before={base} after={text} label={`Changes of ${file}`} testid="line-diff" />
          )}
        </section>
      </div>
      {cleared ? (
        <label className={css.cleared}>
          <span>
            {subject.name} has no sockets left. Type its name to remove the loadout from {file}.
          </span>
          <Input data-testid="type-name" value={typed} onChange={(event) => setTyped(event.target.value)} />
        </label>
      ) : null}
      {error ? <ErrorBox error={error} /> : null}
      <Foot>
        <Button
          look="quiet"
          data-testid="discard"
          onClick={() => {
            store.replace("reset to the saved text", base);
            store.say("The draft is reset to the saved text.", true);
            onClose();
          }}
        >
          Discard changes
        </Button>
        <span className="grow" />
        <Button onClick={onClose}>Go on editing</Button>
        <Button
          look={cleared ? "danger" : "primary"}
          data-autofocus={!cleared || undefined}
          data-testid="save"
          disabled={save.busy || (cleared && typed !== subject.name)}
          onClick={() => save.run(undefined)}
        >
          {cleared ? `Remove ${subject.name} and save` : `Save ${file}`}
        </Button>
      </Foot>
    </Dialog>
  );
}

function without(text: string, name: string): string {
  const writer = new Writer(text);
  writer.remove(["loadouts", name]);
  if (writer.value(["activeLoadout"]) === name) writer.remove(["activeLoadout"]);
  return writer.text;
}

function Changes({ title, list }: { title: string; list: Change[] }) {
  if (list.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul className={css.changes}>
        {list.map((one) => (
          <li key={`${one.path} ${one.kind}`} data-testid="change" data-kind={one.kind}>
            <Foreign text={oneLine(one.name, 160)} />
            {title === "Changed" && one.kind !== "layout" ? (
              <span className="faint">
                {" "}
                <Del text={short(one.from)} /> <Ins text={short(one.to)} />
              </span>
            ) : null}
          </li>
        ))}
      </ul>
    </>
  );
}
const short = (value: unknown) => (value === undefined ? "" : oneLine(JSON.stringify(value), 60));

/** What would run that the saved loadout does not run. */
function useNewRuns(store: EditorStore): string[] | null {
  const { project, file, text, base, subject } = useEditor(store, "project", "file", "text", "base", "subject");
  const { data } = useQuery({
    queryKey: ["runs", project, file, text, base, subject],
    queryFn: async ({ signal }) => {
      const planOf = (one: string) =>
        check(project, { [file]: one }, subject.kind === "loadout" ? subject.name : null, signal).then(
          (answer) => answer.plan ?? null,
          () => null,
        );
      const [before, after] = await Promise.all([planOf(base), planOf(text)]);
      const known = new Set(before ? runsOf(before) : []);
      return after ? [...new Set(runsOf(after))].filter((one) => !known.has(one)) : [];
    },
  });
  return data ?? null;
}
function runsOf(plan: Plan): string[] {
  return Object.entries(plan.nodes).flatMap(([id, node]) =>
    node.behavior.type === "utility" ? [`${node.behavior.command.join(" ")}   (${node.materia}, ${id})`] : [],
  );
}
