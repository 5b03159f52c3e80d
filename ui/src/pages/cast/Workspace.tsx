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
import { CopyButton, ErrorBox, Foreign } from "../../shared/parts";
import { Changes } from "./Changes";

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
  if (!workspace)
    return (
      <p className="dim pad" role="status">
        Reading…
      </p>
    );
  const over = state.status === "completed" || state.status === "failed" || state.status === "aborted";
  const ready = Boolean(workspace.published) && !workspace.merged;
  const commits = workspace.commits ?? [];
  const there = Boolean(workspace.checkout || workspace.published);
  const onDone = (result: Done) => setDone({ count: done.count + 1, message: result.message ?? "" });
  return (
    <div className="workspace" data-testid="workspace">
      <div className="about">
        {past ? <p className="dim sm">The workspace as it is now, not as of event {state.seq}.</p> : null}
        <dl className="facts">
          <div>
            <dt>Folder</dt>
            <dd className="row">
              {workspace.checkout ? (
                <>
                  <span className="mono path" data-testid="workspace-folder">
                    <Foreign text={workspace.checkout} />
                  </span>
                  <CopyButton text={workspace.checkout} label="Copy the folder" />
                </>
              ) : (
                <span data-testid="workspace-folder">removed</span>
              )}
            </dd>
          </div>
          {workspace.base ? (
            <div>
              <dt>Base</dt>
              <dd className="mono">{workspace.base.slice(0, 12)}</dd>
            </div>
          ) : null}
          <div>
            <dt>Branch</dt>
            <dd data-testid="workspace-branch">
              {workspace.branch ? (
                <>
                  <span className="mono path">
                    <Foreign text={workspace.branch} />
                  </span>
                  {workspace.merged ? ", merged" : ", not merged"}
                </>
              ) : over && !there ? (
                "removed"
              ) : (
                "not published"
              )}
            </dd>
          </div>
          {there ? (
            <div>
              <dt>Commits</dt>
              <dd>
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
              </dd>
            </div>
          ) : null}
        </dl>
        {done.message ? (
          <p className="sm done" role="status" data-testid="workspace-done">
            <Foreign text={done.message.replaceAll("`", "")} />
          </p>
        ) : null}
        {past ? null : (
          <div className="buttons">
            {ready ? (
              <ActButton
                className="btn primary"
                target={target}
                act={{ do: "applyWorkspace" }}
                testid="apply-workspace"
                onDone={onDone}
              >
                <GitMerge className="ico" />
                Apply
              </ActButton>
            ) : null}
            {over && there ? (
              <Confirm
                className="btn danger"
                target={target}
                act={{ do: "dropWorkspace" }}
                testid="drop-workspace"
                title="Drop the workspace"
                text={`The folder, the branch and its refs are removed for good. ${lost(workspace)}`}
                verb="Drop"
                danger
                onDone={onDone}
              >
                <Trash2 className="ico" />
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
