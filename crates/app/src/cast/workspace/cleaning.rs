//! Removing what casts in workspaces no longer need (W9).

use std::collections::{BTreeMap, BTreeSet};

use materia_contract::body::{Cleaned, CleanedItem};
use materia_contract::time::Micros;
use materia_contract::{BlobHash, CastStatus, RunId};
use materia_engine::{Journal, blocking, named_by};
use materia_journal::FileBlobs;
use materia_safe_fs::Folder;
use materia_workspace::{Listed, Opened, Place};

use super::{failure, result};
use crate::project::Project;
use crate::{Failure, Result};

/// Removes workspaces, branches and refs of completed or aborted casts of a project that nothing needs any more, and
/// temporary folders. A branch that is not merged stays, and so does a cast that can go on.
pub fn clean(project: &Project, ended_before: Micros, dry_run: bool) -> Result<Cleaned> {
    let mut cleaned = Cleaned { dry_run, ..Cleaned::default() };
    if let Some(state_dir) = project.state_dir.clone() {
        let listed = materia_workspace::list(&state_dir).map_err(|fault| failure(&fault))?;
        let mut places: BTreeMap<String, Listed> = listed
            .into_iter()
            .filter(|one| one.place.project_dir == project.dir)
            .map(|one| (one.place.cast_id.clone(), one))
            .collect();
        let repository = materia_workspace::Project::find(&project.dir);
        let repository = repository.map_err(|fault| failure(&fault))?;
        let refs = match &repository {
            Some(repository) => materia_workspace::casts_in(repository),
            None => Ok(Vec::new()),
        };
        let refs: BTreeSet<String> = refs.map_err(|fault| failure(&fault))?.into_iter().collect();
        let ids: BTreeSet<String> = places.keys().cloned().chain(refs.iter().cloned()).collect();
        for name in ids {
            let id = RunId::new(name.as_str());
            let Some(ended) = ended(project, &id, ended_before)? else { continue };
            let one = Leftover {
                project,
                repository: repository.as_ref(),
                workspace: places.remove(&name),
                has_refs: refs.contains(&name),
                id,
            };
            one.clean(ended, &mut cleaned)?;
        }
    }
    old_transcripts(project, ended_before, &mut cleaned)?;
    if !dry_run {
        let count = materia_safe_fs::sweep_now();
        if count > 0 {
            let name = format!("{count} temporary folders of processes that are gone");
            cleaned.items.push(CleanedItem {
                kind: "temporary".into(),
                cast_id: None,
                name,
                bytes: 0,
            });
        }
    }
    cleaned.bytes = cleaned.items.iter().map(|item| item.bytes).sum();
    Ok(cleaned)
}

/// Removes transcripts of agents whose casts ended long enough ago. One that another cast has too, such as a fork,
/// stays as long as that one.
fn old_transcripts(project: &Project, before: Micros, cleaned: &mut Cleaned) -> Result<()> {
    for (root, journal) in project.journals()? {
        // Nothing is removed from servers: they deny it.
        if journal.is_foreign() || journal.is_remote() {
            continue;
        }
        let (mut old, mut kept) = (BTreeMap::new(), BTreeSet::new());
        for line in blocking(&*journal).runs()? {
            let over = matches!(line.status, CastStatus::Completed | CastStatus::Aborted);
            let (last, transcripts) = transcripts(&*journal, &line.cast_id)?;
            for (path, hash) in transcripts {
                if over && last < before {
                    old.entry(hash).or_insert_with(Vec::new).push((line.cast_id.clone(), path));
                } else {
                    kept.insert(hash);
                }
            }
        }
        let blobs = FileBlobs::of(&root);
        for (hash, places) in old.into_iter().filter(|(hash, _)| !kept.contains(hash)) {
            let (Ok(found), Some((id, path))) =
                (blobs.path(hash).symlink_metadata(), places.first().cloned())
            else {
                continue;
            };
            let (kind, name, cast_id) = ("transcript".to_owned(), path, Some(id));
            cleaned.items.push(CleanedItem { kind, cast_id, name, bytes: found.len() });
            if cleaned.dry_run {
                continue;
            }
            blobs.discard(hash).map_err(|error| Failure::storage(error.to_string()))?;
            for (id, path) in places {
                let folder = Folder::at_itself(&root.join(id.as_str()));
                // It may have been removed by hand.
                let _ = folder.and_then(|folder| folder.remove_all(path));
            }
        }
    }
    Ok(())
}

/// When the last event of a cast came, and the transcripts that its turns left.
fn transcripts(journal: &dyn Journal, id: &RunId) -> Result<(Micros, Vec<(String, BlobHash)>)> {
    let (mut last, mut found) = (0, Vec::new());
    for record in blocking(journal).behind(id, 0) {
        let record = record?;
        last = record.ts;
        if !matches!(record.kind.as_str(), "turn.completed" | "turn.failed") {
            continue;
        }
        let Ok(event) = record.event() else { continue };
        let left = named_by(&event).into_iter().filter(|left| left.is_transcript);
        found.extend(left.filter_map(|left| Some((left.path, BlobHash::parse(&left.hash)?))));
    }
    Ok((last, found))
}

/// How a cast ended, where it ended long enough ago. One of a foreign journal is left alone.
fn ended(project: &Project, id: &RunId, before: Micros) -> Result<Option<CastStatus>> {
    let Ok(found) = project.find(id) else { return Ok(None) };
    if found.is_foreign() {
        return Ok(None);
    }
    let (run, _) = materia_engine::load(found.journal(), id)?;
    let own = run.created().is_some_and(|created| created.workspace.is_some());
    let status = run.phase().status();
    let over = matches!(status, CastStatus::Completed | CastStatus::Aborted);
    Ok((own && over && run.ts() < before).then_some(status))
}

/// Workspace, branch and refs of a cast that has ended.
struct Leftover<'a> {
    project: &'a Project,
    repository: Option<&'a materia_workspace::Project>,
    workspace: Option<Listed>,
    has_refs: bool,
    id: RunId,
}

impl Leftover<'_> {
    fn clean(self, status: CastStatus, cleaned: &mut Cleaned) -> Result<()> {
        let Some(repository) = self.repository else { return Ok(()) };
        let branch = materia_workspace::published(repository, self.id.as_str());
        let branch = branch.map_err(|fault| failure(&fault))?;
        let merged = branch.is_some() && result::is_merged(self.project, &self.id)?;
        let unmerged = branch.is_some() && !merged;
        let needed = self.workspace_is_needed(status, branch.is_some());
        if let Some(listed) = self.workspace.as_ref().filter(|_| !needed) {
            let name = listed.place.root().to_string_lossy().into_owned();
            self.note("workspace", name, listed.bytes, cleaned);
            if !cleaned.dry_run {
                remove(&listed.place)?;
            }
        }
        // The refs keep the files of its events, so that it can be forked as long as its branch counts.
        if unmerged || needed || !self.has_refs {
            return Ok(());
        }
        if let Some(branch) = &branch {
            self.note("branch", branch.branch.clone(), 0, cleaned);
        }
        self.note("refs", format!("refs/materia/{}", self.id), 0, cleaned);
        if !cleaned.dry_run
            && let Some(place) = self.project.workspace(&self.id)
        {
            materia_workspace::drop_cast(repository, &place).map_err(|fault| failure(&fault))?;
        }
        Ok(())
    }

    /// Whether the workspace holds something that is nowhere else.
    fn workspace_is_needed(&self, status: CastStatus, published: bool) -> bool {
        let Some(listed) = &self.workspace else { return false };
        let workspace = match materia_workspace::open(&listed.place) {
            Ok(Opened::Here(workspace) | Opened::CheckoutGone(workspace)) => workspace,
            Ok(Opened::Gone) => return false,
            // What cannot be read may hold work.
            Err(_) => return true,
        };
        if !matches!(workspace.must_stay(), Ok(None)) {
            return true;
        }
        // A completed cast has published all of it, unless the user removed the branch, which drops it.
        if published || status == CastStatus::Completed {
            return false;
        }
        !is_unchanged(&workspace)
    }

    fn note(&self, kind: &str, name: String, bytes: u64, cleaned: &mut Cleaned) {
        let (kind, cast_id) = (kind.to_owned(), Some(self.id.clone()));
        cleaned.items.push(CleanedItem { kind, cast_id, name, bytes });
    }
}

/// Whether a workspace holds the files of its base and no commit of its own.
fn is_unchanged(workspace: &materia_workspace::Workspace) -> bool {
    let Ok(look) = workspace.look() else { return false };
    let none = materia_workspace::DiffOptions { text_bytes_max: 0, context: 0 };
    let base = workspace.base();
    look.head == base
        && workspace.diff(base, &look.tree, none).is_ok_and(|diff| diff.files.is_empty())
}

fn remove(place: &Place) -> Result<()> {
    match materia_workspace::open(place).map_err(|fault| failure(&fault))? {
        Opened::Here(workspace) | Opened::CheckoutGone(workspace) => {
            workspace.remove().map_err(|fault| failure(&fault))
        }
        Opened::Gone => Ok(()),
    }
}
