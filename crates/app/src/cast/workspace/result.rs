//! Shows, merges and drops the result of a cast in a workspace (W8).

use materia_contract::body::{WorkspaceBody, WorkspaceCommit, WorkspaceDiff, WorkspaceFile};
use materia_contract::{CastStatus, RunCreated, RunId, WorkspaceKind};
use materia_workspace::{Applied, DiffOptions, FileChange, Look, Opened, Place};

use super::failure;
use super::fetched::{bring_home, dropped};
use crate::project::Project;
use crate::{Failure, Result};

/// The most bytes of a difference.
const DIFF_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Where the files of a cast are and what it changed.
pub fn report(project: &Project, id: &RunId, created: &RunCreated) -> Result<WorkspaceBody> {
    let Some(place) = project.own_workspace(id, created)? else {
        let kind = WorkspaceKind::Project.word().to_owned();
        return Ok(WorkspaceBody {
            cast_id: id.clone(),
            kind,
            checkout: None,
            base: None,
            branch: None,
            published: None,
            merged: false,
            commits: Vec::new(),
            files: Vec::new(),
        });
    };
    bring_home(project, id, created)?;
    let status = materia_workspace::status(&place).map_err(|fault| failure(&fault))?;
    let merged = status.published.is_some() && is_merged(project, id)?;
    let commit = |(id, subject)| WorkspaceCommit { id, subject };
    Ok(WorkspaceBody {
        cast_id: id.clone(),
        kind: WorkspaceKind::Own.word().to_owned(),
        checkout: status.checkout.map(|path| path.to_string_lossy().into_owned()),
        base: status.base,
        branch: status.published.is_some().then(|| format!("materia/{id}")),
        published: status.published,
        merged,
        commits: status.commits.into_iter().map(commit).collect(),
        files: files(status.files),
    })
}

pub(super) fn is_merged(project: &Project, id: &RunId) -> Result<bool> {
    let repository = repository(project)?;
    materia_workspace::merged(&repository, id.as_str()).map_err(|fault| failure(&fault))
}

fn repository(project: &Project) -> Result<materia_workspace::Project> {
    materia_workspace::Project::open(&project.dir).map_err(|fault| failure(&fault))
}

fn files(changes: Vec<FileChange>) -> Vec<WorkspaceFile> {
    let file = |FileChange { path, added, removed }| WorkspaceFile { path, added, removed };
    changes.into_iter().map(file).collect()
}

/// The difference between two trees of a cast, or, without them, between its base and its present files.
pub fn diff(
    project: &Project,
    id: &RunId,
    created: &RunCreated,
    between: Option<(&str, &str)>,
) -> Result<WorkspaceDiff> {
    let place = needed(project, id, created)?;
    bring_home(project, id, created)?;
    let options = DiffOptions { text_bytes_max: DIFF_BYTES_MAX, ..DiffOptions::default() };
    let base = created.workspace.as_ref().map(|own| own.base.clone()).unwrap_or_default();
    let opened = materia_workspace::open(&place).map_err(|fault| failure(&fault))?;
    let made = match opened {
        Opened::Here(workspace) | Opened::CheckoutGone(workspace) => {
            let now = || match materia_workspace::open(&place) {
                Ok(Opened::Here(here)) => here.look().map(|Look { tree, .. }| tree),
                Ok(Opened::CheckoutGone(_) | Opened::Gone) | Err(_) => Ok(base.clone()),
            };
            let (from, to) = match between {
                Some((from, to)) => (from.to_owned(), to.to_owned()),
                None => (base.clone(), now().map_err(|fault| failure(&fault))?),
            };
            workspace.diff(&from, &to, options)
        }
        Opened::Gone => {
            let repository = repository(project)?;
            let published = materia_workspace::published(&repository, id.as_str());
            let published = published.map_err(|fault| failure(&fault))?;
            let (from, to) = match (between, published) {
                (Some((from, to)), _) => (from.to_owned(), to.to_owned()),
                (None, Some(published)) => (base, published.commit),
                (None, None) => {
                    return Err(Failure::resolution(format!(
                        "neither the workspace nor the branch of cast `{id}` is there any more"
                    )));
                }
            };
            repository.diff(&from, &to, options)
        }
    };
    let made = made.map_err(|fault| failure(&fault))?;
    Ok(WorkspaceDiff { files: files(made.files), text: made.text, cut: made.cut })
}

/// Merges the branch of a cast into the checkout of the project. Says what was done.
pub fn apply(project: &Project, id: &RunId, created: &RunCreated) -> Result<String> {
    needed(project, id, created)?;
    bring_home(project, id, created)?;
    let repository = repository(project)?;
    let applied = materia_workspace::apply(&repository, id.as_str());
    let applied =
        applied.map_err(|refusal| Failure::resolution(format!("nothing was merged: {refusal}")))?;
    let short = |commit: &str| commit.chars().take(12).collect::<String>();
    Ok(match applied {
        Applied::Already => format!("`materia/{id}` is merged already"),
        Applied::Forward(commit) => {
            format!("the checkout moved forward to `materia/{id}` ({})", short(&commit))
        }
        Applied::Merged(commit) => format!("merged `materia/{id}` as {}", short(&commit)),
    })
}

/// Removes workspace, branch and refs of a cast that has ended.
pub fn discard(
    project: &Project,
    id: &RunId,
    created: &RunCreated,
    status: CastStatus,
) -> Result<()> {
    let place = needed(project, id, created)?;
    match status {
        CastStatus::Completed | CastStatus::Failed | CastStatus::Aborted => {}
        CastStatus::Running | CastStatus::Waiting => {
            return Err(Failure::resolution(format!(
                "cast `{id}` is {} and can go on; abort it first",
                status.word()
            )));
        }
    }
    let repository = repository(project)?;
    materia_workspace::drop_cast(&repository, &place).map_err(|fault| failure(&fault))?;
    dropped(project, id)
}

fn needed(project: &Project, id: &RunId, created: &RunCreated) -> Result<Place> {
    let place = project.own_workspace(id, created)?;
    place.ok_or_else(|| {
        Failure::resolution(format!(
            "cast `{id}` works in the project folder; it has no workspace of its own"
        ))
    })
}
