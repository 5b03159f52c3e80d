//! Fetches the files of a cast on NATS that another machine stored (M10).

use std::collections::BTreeSet;
use std::sync::Arc;

use materia_contract::{BlobHash, EventBody, OwnWorkspace, RunCreated, RunId};
use materia_engine::{Journal, PAGE_BYTES, blocking, wait};
use materia_kernel::Run;
use materia_nats::{NatsJournal, StoredPack};
use materia_runners::StoresFiles;
use materia_workspace::{
    Bases, Look, Opened, Place, Project as Repository, Source, Workspace, make_stand_in,
    set_up_stand_in,
};

use super::stored::Stored;
use super::{base_of, failure};
use crate::project::{Project, StandIn};
use crate::{Failure, Result};

/// The mark of a cast whose result a person has dropped.
const DROPPED: &str = "dropped";

impl Project {
    /// The same project for a cast whose repository is elsewhere. `below` is the path of the cast's project below the
    /// top of that repository.
    pub(crate) fn with_stand_in(&self, id: &RunId, below: &str) -> Result<Self> {
        let (Some(state), Some(journal)) = (&self.state_dir, self.remote()?) else {
            return Err(Failure::resolution("a workspace of its own needs a state folder"));
        };
        let plain = |part: &str| !matches!(part, "" | "." | ".." | ".git");
        if !below.is_empty() && !below.split('/').all(plain) {
            let shown = crate::text::sanitize::one_line(below, 200);
            return Err(Failure::storage(format!("`{shown}` is no folder of a repository")));
        }
        let space = journal.options().space.as_str();
        let top = materia_workspace::stand_in(state, space, id.as_str());
        let top = top.map_err(|fault| failure(&fault))?;
        let stand_in = StandIn { dir: top.join(below), top };
        Ok(Self { stand_in: Some(Box::new(stand_in)), ..self.clone() })
    }
}

/// The parts of fetching that do not change.
struct From<'a> {
    project: &'a Project,
    journal: &'a Arc<NatsJournal>,
}

/// Stores the files of a cast that begins here.
pub(crate) fn begun(
    project: &Project,
    journal: &Arc<NatsJournal>,
    id: &RunId,
    place: &Place,
) -> Result<Arc<dyn StoresFiles>> {
    let from = From { project, journal };
    let workspace = match materia_workspace::open(place).map_err(|fault| failure(&fault))? {
        Opened::Here(workspace) => workspace,
        Opened::CheckoutGone(_) | Opened::Gone => {
            return Err(Failure::storage("the workspace was deleted before the cast began"));
        }
    };
    from.hold(id, &workspace)
}

/// Makes sure that the workspace of a run is here, with the files of its last event, and that they are stored. The
/// caller holds the lease.
pub(crate) fn arrive(
    project: &Project,
    journal: &Arc<NatsJournal>,
    run: &Run,
    place: &Place,
) -> Result<Option<Arc<dyn StoresFiles>>> {
    let from = From { project, journal };
    let (Some(created), Some(files)) = (run.created(), run.files()) else { return Ok(None) };
    let Some(own) = &created.workspace else { return Ok(None) };
    let at = wait(journal.files_at(run.id()))?;
    let found = present(place)?;
    let mine = found.as_ref().and_then(Workspace::mark);
    let current = match (&found, at.mark.as_str()) {
        (None, _) => false,
        (Some(_), "") => true,
        (Some(_), mark) => mine.as_deref() == Some(mark),
    };
    if !current {
        let (source, packs) = from.packs(run.id(), created)?;
        if packs.is_empty() {
            // Nothing was ever stored: what is here decides, as it does without servers.
            return Ok(None);
        }
        if let Some(stale) = found {
            stale.remove().map_err(|fault| failure(&fault))?;
        }
        let repository = from.repository(own)?;
        from.fetch(&repository, &packs)?;
        if let Some(stand_in) = &project.stand_in
            && let Some(tree) = packs.iter().rev().find_map(|pack| pack.set_up.as_deref())
        {
            set_up_stand_in(&stand_in.top, tree).map_err(|fault| failure(&fault))?;
        }
        let look =
            Look { tree: files.tree.clone(), head: files.head.clone(), refs: files.refs.clone() };
        let base = base_of(project, own)?;
        let source = Source::Published(source.to_string());
        let made = materia_workspace::fork(&source, &look, place, &base);
        made.map_err(|refusal| Failure::storage(format!("the workspace: {refusal}")))?;
    }
    match present(place)? {
        Some(workspace) => from.hold(run.id(), &workspace).map(Some),
        None => Ok(None),
    }
}

/// The workspace at a place, if it is there.
fn present(place: &Place) -> Result<Option<Workspace>> {
    Ok(match materia_workspace::open(place).map_err(|fault| failure(&fault))? {
        Opened::Here(workspace) | Opened::CheckoutGone(workspace) => Some(workspace),
        Opened::Gone => None,
    })
}

impl From<'_> {
    /// Notes that the files are worked on here, and stores them if that was not done yet.
    fn hold(&self, id: &RunId, workspace: &Workspace) -> Result<Arc<dyn StoresFiles>> {
        let at = wait(self.journal.files_at(id))?;
        if at.mark.is_empty() || workspace.mark().as_deref() != Some(&at.mark) {
            let mark = self.journal.nonce();
            workspace.set_mark(&mark).map_err(|fault| failure(&fault))?;
            if !wait(self.journal.set_files_at(id, &mark, &at))? {
                let message = format!("another process has taken the files of cast `{id}`");
                return Err(Failure::storage(message));
            }
        }
        let packs = wait(self.journal.packs(id))?;
        let stored = Stored::of(self.journal, id, &packs);
        if packs.iter().all(|pack| pack.set_up.is_none()) {
            let begun = stored.begin(self.project.repository_dir(), workspace);
            begun.map_err(Failure::storage)?;
        }
        Ok(Arc::new(stored))
    }

    /// The packs of a cast. A fork that nobody has worked on yet has those of its original.
    fn packs(&self, id: &RunId, created: &RunCreated) -> Result<(RunId, Vec<StoredPack>)> {
        let (mut id, mut fork) = (id.clone(), created.fork.clone());
        loop {
            let packs = wait(self.journal.packs(&id))?;
            let Some(from) = fork.filter(|_| packs.is_empty()) else { return Ok((id, packs)) };
            id = from.cast_id;
            let first = blocking(&**self.journal).read(&id, 0, PAGE_BYTES)?;
            let event = first.records.first().and_then(|record| record.event().ok());
            fork = match event.map(|event| event.body) {
                Some(EventBody::RunCreated(created)) => created.fork.clone(),
                Some(_) | None => None,
            };
        }
    }

    /// The repository that takes the packs, with the base of the cast.
    fn repository(&self, own: &OwnWorkspace) -> Result<Repository> {
        let Project { dir, state_dir, stand_in, .. } = self.project;
        let (Some(stand_in), Some(state)) = (stand_in, state_dir) else {
            return Repository::open(dir).map_err(|fault| failure(&fault));
        };
        let space = self.journal.options().space.as_str();
        let bases = Bases::open(state, space, &own.base).map_err(|fault| failure(&fault))?;
        self.fetch_base(&bases, &own.base)?;
        make_stand_in(&stand_in.top, &bases, &own.base).map_err(|fault| failure(&fault))
    }

    /// Fetches the history of a base, and before it that of the bases that it needs.
    fn fetch_base(&self, bases: &Bases, commit: &str) -> Result<()> {
        let has = |commit: &str| bases.has(commit).map_err(|fault| failure(&fault));
        let (mut open, mut opened) = (vec![commit.to_owned()], Vec::new());
        while let Some(commit) = open.last().cloned() {
            if has(&commit)? {
                open.pop();
                continue;
            }
            let unstored = || {
                let message = format!("the history of the commit {commit} is not on the servers");
                Failure::storage(message)
            };
            let stored = wait(self.journal.base(&commit))?.ok_or_else(unstored)?;
            if !opened.contains(&commit) {
                opened.push(commit);
                for need in stored.needs {
                    if !has(&need)? {
                        open.push(need);
                    }
                }
                continue;
            }
            let pack = stored.pack.as_deref().ok_or_else(unstored)?;
            let taken = bases.take(self.blob(pack)?, &stored.shallow);
            taken.map_err(|fault| failure(&fault))?;
            if !has(&commit)? {
                return Err(unstored());
            }
        }
        Ok(())
    }

    /// Fetches the packs that a repository does not have.
    fn fetch(&self, repository: &Repository, packs: &[StoredPack]) -> Result<()> {
        for stored in packs {
            let ids: Vec<String> = stored.ids.iter().chain(&stored.set_up).cloned().collect();
            if !repository.has(&ids).map_err(|fault| failure(&fault))? {
                let taken = repository.take_pack(self.blob(&stored.pack)?);
                taken.map_err(|fault| failure(&fault))?;
            }
        }
        Ok(())
    }

    /// A blob; its hash is checked.
    fn blob(&self, hash: &str) -> Result<Vec<u8>> {
        let unknown = || Failure::storage("a pack of files: its hash cannot be read");
        let hash = BlobHash::parse(hash).ok_or_else(unknown)?;
        let bytes = wait(self.journal.blobs().get(hash));
        bytes.map_err(|error| Failure::storage(format!("a pack of files: {error}")))
    }
}

/// Brings the files of a cast that was worked on elsewhere into the user's repository: its trees, and its branch if
/// it is published.
pub(super) fn bring_home(project: &Project, id: &RunId, created: &RunCreated) -> Result<()> {
    if created.workspace.is_none() {
        return Ok(());
    }
    let (Some(journal), Some(place)) = (project.remote()?, project.workspace(id)) else {
        return Ok(());
    };
    let at = wait(journal.files_at(id))?;
    let found = present(&place)?;
    let here = found.as_ref().and_then(Workspace::mark).is_some_and(|mark| mark == at.mark);
    if at.mark.is_empty() || at.mark == DROPPED || here {
        return Ok(());
    }
    let from = From { project, journal: &journal };
    let packs = wait(journal.packs(id))?;
    let repository = Repository::open(&project.dir).map_err(|fault| failure(&fault))?;
    from.fetch(&repository, &packs)?;
    let ids: BTreeSet<&str> = packs.iter().flat_map(|pack| &pack.ids).map(String::as_str).collect();
    let published = published(&*journal, id)?;
    let kept = repository.keep_cast(id.as_str(), &ids, published.as_deref());
    kept.map_err(|refusal| Failure::resolution(refusal.to_string()))?;
    // Its files are those of an earlier event.
    if let Some(stale) = found {
        stale.remove().map_err(|fault| failure(&fault))?;
    }
    Ok(())
}

/// The result was dropped here, and is not brought home again.
pub(super) fn dropped(project: &Project, id: &RunId) -> Result<()> {
    if let Some(journal) = project.remote()? {
        let at = wait(journal.files_at(id))?;
        wait(journal.set_files_at(id, DROPPED, &at))?;
    }
    Ok(())
}

/// Refuses to begin again from the base where the files of the last event are stored.
pub(super) fn refuse_anew(project: &Project, id: &RunId) -> Result<()> {
    let Some(journal) = project.remote()? else { return Ok(()) };
    if wait(journal.packs(id))?.is_empty() {
        return Ok(());
    }
    Err(Failure::resolution(format!(
        "the files of cast `{id}` are on the servers, so it cannot begin from its base; `resume` alone makes its workspace again"
    )))
}

/// The commit of a published branch.
fn published(journal: &dyn Journal, id: &RunId) -> Result<Option<String>> {
    let Some(head) = blocking(journal).head(id)? else { return Ok(None) };
    // It is published in the decision that completes the run.
    let page = blocking(journal).read(id, head.seq.saturating_sub(8), PAGE_BYTES)?;
    let events = page.records.iter().rev().filter(|it| it.kind == "workspace.published");
    Ok(events.filter_map(|record| record.event().ok()).find_map(|event| {
        if let EventBody::WorkspacePublished(data) = event.body { Some(data.commit) } else { None }
    }))
}
