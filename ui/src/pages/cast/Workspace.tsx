// The workspace of a cast: where its files are, what it changed, and how to get or drop that.
import { GitMerge, Trash2 } from "lucide-react";
import { useState } from "react";
import { segment } from "../../api/client";
import type { WorkspaceBody } from "../../api/generated";
import type { CastState } from "../../fold";
import { counted } from "../../fold/view";
import { ActButton, Confirm, type Target } from "../../shared/ActButton";
import { commandLine, type Done } from "../../shared/acts";
import { useGet } from "../../shared/ask";
import { Cli } from "../../shared/Cli";
import { cx } from "../../shared/cx";
import { CopyButton, ErrorBox, Foreign, Reading } from "../../shared/parts";
import { Fact, Facts } from "../../shared/Table";
import { Changes } from "./Changes";
import css from "./style.module.css";

/** How many commits are listed. */
const COMMITS_MAX = 50;

export function WorkspaceTab({ state, target, past }: { state: CastState; target: Target; past: boolean }) {
  const [done, setDone] = useState<{ count: number; message: string }>({ count: 0, message: "" });
  const ended = state.turns.filter((turn) => turn.endSeq).length;
  const depends = `${state.status}:${ended}:${done.count}`;
  const { castId, project } = target;
  const found = useGet<WorkspaceBody>(`/casts/${segment(castId)}/workspace`, { project }, { since: depends });
  const workspace = found.data;
  if (found.error) return <ErrorBox error={found.error} />;
  if (!workspace) return <Reading className={cx(css.pad, "dim")} />;
  const over = state.status === "completed" || state.status === "failed" || state.status === "aborted";
  const ready = Boolean(workspace.published) && !workspace.merged;
  const commits = workspace.commits ?? [];
  const there = Boolean(workspace.checkout || workspace.published);
  const onDone = (result: Done) => setDone({ count: done.count + 1, message: result.message ?? "" });
  return (
    <div className={css.workspace} data-testid="workspace">
      <div>
        {past ? <p className="dim sm">The workspace as it is now, not as of event {state.seq}.</p> : null}
        <Facts>
          <Fact name="Folder" className="row">
            <Foreign
              as="span"
              className={workspace.checkout ? cx(css.path, "mono") : ""}
              data-testid="workspace-folder"
              text={workspace.checkout ?? "removed"}
            />
            {workspace.checkout ? <CopyButton text={workspace.checkout} label="Copy the folder" /> : null}
          </Fact>
          <Fact name="Base" className="mono">
            {workspace.base?.slice(0, 12)}
          </Fact>
          <Fact name="Branch" data-testid="workspace-branch">
            {workspace.branch ? (
              <>
                <Foreign as="span" className={cx(css.path, "mono")} text={workspace.branch} />
                {workspace.merged ? ", merged" : ", not merged"}
              </>
            ) : over && !there ? (
              "removed"
            ) : (
              "not published"
            )}
          </Fact>
          {there ? (
            <Fact name="Commits">
              {commits.length === 0 ? "none" : null}
              <ul>
                {commits.slice(0, COMMITS_MAX).map((commit) => (
                  <li key={commit.id} className="cut">
                    <span className="mono faint">{commit.id.slice(0, 8)}</span> <Foreign text={commit.subject} />
                  </li>
                ))}
              </ul>
              {commits.length > COMMITS_MAX ? (
                <span className="dim">and {counted(commits.length - COMMITS_MAX, "commit")} before</span>
              ) : null}
            </Fact>
          ) : null}
        </Facts>
        {done.message ? (
          <Foreign
            as="p"
            className="sm done"
            role="status"
            data-testid="workspace-done"
            text={done.message.replaceAll("`", "")}
          />
        ) : null}
        {past ? null : (
          <div className={css.buttons}>
            {ready ? (
              <ActButton
                icon={GitMerge}
                look="primary"
                target={target}
                act={{ do: "applyWorkspace" }}
                testid="apply-workspace"
                onDone={onDone}
              >
                Apply
              </ActButton>
            ) : null}
            {over && there ? (
              <Confirm
                look="danger"
                target={target}
                act={{ do: "dropWorkspace" }}
                testid="drop-workspace"
                title="Drop the workspace"
                text={`The folder, the branch and its refs are removed for good. ${lost(workspace)}`}
                verb="Drop"
                danger
                onDone={onDone}
                icon={Trash2}
              >
                Drop
              </Confirm>
            ) : null}
          </div>
        )}
        {ready && !past ? <Cli words={commandLine(castId, { do: "applyWorkspace" })} project={project} /> : null}
      </div>
      {there ? <Changes castId={castId} project={project} depends={depends} /> : null}
    </div>
  );
}

/** What goes with it, in a sentence. */
function lost({ merged, files = [], commits = [] }: WorkspaceBody): string {
  if (merged) return "Its branch is merged.";
  if (files.length === 0) return "It changed nothing.";
  return `Its branch is not merged: ${counted(commits.length, "commit")}, ${counted(files.length, "file")}.`;
}
