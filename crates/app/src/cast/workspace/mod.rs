//! The workspace of a cast: whether it has one of its own, and where (W1 to W3).

mod cleaning;
mod fetched;
mod result;
mod stored;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use materia_compiler::Loaded;
use materia_contract::{
    Behavior, FileState, Finding, Identity, OwnWorkspace, Plan, RunCreated, RunId, WorkspaceKind,
};
use materia_kernel::Run;
use materia_nats::NatsJournal;
use materia_runners::StoresFiles;
use materia_workspace::{Base, Look, Opened, Place, Source};

use crate::Result;
use crate::failure::{Failure, Hint};
use crate::options::{Contradiction, RunOptions};
use crate::project::Project;

pub use cleaning::clean;
pub(crate) use fetched::begun;
pub use result::{apply, diff, discard, report};

/// Scripts that work with jj alone.
const OF_JJ: [&str; 2] = ["blackbelt-bootstrap.mjs", "blackbelt-maintain.mjs"];
/// The script that looks which version control there is, so that a graph can do without jj.
const LOOKS_FOR_JJ: &str = "detect-vcs.mjs";

/// A workspace that a cast is to begin with. Nothing of it is there yet.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    base: Base,
    include_changes: bool,
    state_dir: PathBuf,
}

/// Looks whether a cast of this plan gets a workspace of its own, and refuses where it cannot have one.
pub(crate) fn wanted(
    project: &Project,
    options: &RunOptions,
    told: WorkspaceKind,
    plan: &Plan,
    warnings: &mut Vec<String>,
) -> Result<Option<Wanted>> {
    if options.workspace.unwrap_or(told) == WorkspaceKind::Project {
        if options.include_changes {
            return Err(Contradiction::ChangesWithoutWorkspace.into());
        }
        return Ok(None);
    }
    let Some(state_dir) = project.state_dir.clone() else {
        return Err(Failure::resolution("a workspace of its own needs a state folder")
            .hint(Hint::NameState));
    };
    let mut against = Vec::new();
    if needs_jj(plan) {
        against.push(format!(
            "`{}` runs utilities that need jj, and a workspace is plain git",
            plan.loadout
        ));
    }
    let base = match materia_workspace::examine(&project.dir, &state_dir) {
        Ok(base) => Some(base),
        Err(refusals) => {
            against.extend(refusals.into_iter().map(|refusal| refusal.message));
            None
        }
    };
    let Some(base) = base.filter(|_| against.is_empty()) else {
        return Err(Failure::resolution(format!(
            "the cast cannot have a workspace of its own: {}",
            against.join("; ")
        ))
        .hint(Hint::InProject));
    };
    warnings.extend(base.notes.iter().cloned());
    let include_changes = options.include_changes;
    if base.uncommitted > 0 && !include_changes {
        let files = if base.uncommitted == 1 { "file is" } else { "files are" };
        warnings.push(format!(
            "{} changed {files} not committed and not in the workspace",
            base.uncommitted
        ));
    }
    Ok(Some(Wanted { base, include_changes, state_dir }))
}

/// Findings about a configuration that asks for workspaces which cannot be had (W2). git is asked only where it does.
pub fn findings(project: &Project, loaded: &Loaded) -> Vec<Finding> {
    let places = materia_compiler::own_workspaces(loaded);
    if places.is_empty() {
        return Vec::new();
    }
    let state_dir = project.state_dir.clone().unwrap_or_default();
    let mut refused = Vec::new();
    if let Err(refusals) = materia_workspace::examine(&project.dir, &state_dir) {
        for (_, pointer) in &places {
            refused.extend(refusals.iter().map(|one| (pointer.clone(), one.message.clone())));
        }
    }
    for (loadout, pointer) in places {
        let Some(name) = loadout else { continue };
        let (compiled, _) = materia_compiler::compile(loaded, Some(name));
        if compiled.is_some_and(|compiled| needs_jj(&compiled.plan)) {
            let reason =
                format!("`{name}` runs utilities that need jj, and a workspace is plain git");
            refused.push((pointer, reason));
        }
    }
    materia_compiler::refused_workspaces(loaded, &refused)
}

fn needs_jj(plan: &Plan) -> bool {
    let mut commands = plan.nodes.values().filter_map(|node| match &node.behavior {
        Behavior::Utility { command, .. } => Some(command),
        Behavior::Agent { .. } => None,
    });
    let names = |command: &Vec<String>, names: &[&str]| {
        command.iter().any(|word| {
            let file = word.rsplit('/').next().unwrap_or(word);
            names.contains(&file)
        })
    };
    let jj = |command: &Vec<String>| {
        names(command, &OF_JJ)
            || command.first().is_some_and(|word| word.rsplit('/').next() == Some("jj"))
    };
    let looks = commands.clone().any(|command| names(command, &[LOOKS_FOR_JJ]));
    !looks && commands.any(jj)
}

impl Wanted {
    /// Makes the workspace of a cast, or finds the one that a process made before it died.
    pub(crate) fn make(&self, project: &Project, id: &RunId) -> Result<Box<OwnWorkspace>> {
        let place = Place {
            state_dir: self.state_dir.clone(),
            project_dir: project.dir.clone(),
            cast_id: id.to_string(),
        };
        let made = materia_workspace::create(&place, &self.base, self.include_changes);
        let (_, look) = made.map_err(|fault| failure(&fault))?;
        Ok(Box::new(own(&self.base, look)))
    }
}

fn own(base: &Base, look: Look) -> OwnWorkspace {
    let Look { tree, head, refs } = look;
    let identity = base.identity.clone();
    OwnWorkspace {
        kind: WorkspaceKind::Own.word().to_owned(),
        base: base.commit.clone(),
        files: FileState { tree, head, refs },
        git: base.git_version.clone(),
        identity: Identity { name: identity.name, email: identity.email },
    }
}

/// The place of a workspace, and where its files are stored for other machines.
pub(crate) type Files = (Place, Option<Arc<dyn StoresFiles>>);

/// The place of a run's workspace. A fork without a workspace gets one here, with the files of the event at which it
/// was forked (W6). On NATS, files that another machine stored are fetched (M10).
pub(crate) fn of_run(
    project: &Project,
    remote: Option<&Arc<NatsJournal>>,
    run: &Run,
) -> Result<Option<Files>> {
    let Some(created) = run.created() else { return Ok(None) };
    let Some(place) = project.own_workspace(run.id(), created)? else { return Ok(None) };
    if let Some(journal) = remote
        && let Some(stored) = fetched::arrive(project, journal, run, &place)?
    {
        return Ok(Some((place, Some(stored))));
    }
    let gone = matches!(materia_workspace::open(&place), Ok(Opened::Gone));
    if let (true, Some(from), Some(files)) = (gone, &created.fork, run.files()) {
        make_fork(project, created, &from.cast_id, files, &place)?;
    }
    Ok(Some((place, None)))
}

fn make_fork(
    project: &Project,
    created: &RunCreated,
    from: &RunId,
    files: &FileState,
    place: &Place,
) -> Result<()> {
    let (Some(own), Some(parent)) = (&created.workspace, project.workspace(from)) else {
        return Ok(());
    };
    let base = base_of(project, own)?;
    let source = match materia_workspace::open(&parent) {
        Ok(Opened::Here(_) | Opened::CheckoutGone(_)) => Source::Workspace(parent),
        Ok(Opened::Gone) => Source::Published(from.to_string()),
        Err(fault) => return Err(failure(&fault)),
    };
    let FileState { tree, head, refs } = files.clone();
    let made = materia_workspace::fork(&source, &Look { tree, head, refs }, place, &base);
    made.map(|_| ()).map_err(|refusal| Failure::resolution(format!("the fork: {refusal}")))
}

/// The base that a cast began at.
fn base_of(project: &Project, own: &OwnWorkspace) -> Result<Base> {
    let identity = materia_workspace::Identity {
        name: own.identity.name.clone(),
        email: own.identity.email.clone(),
    };
    let base =
        materia_workspace::base_at(project.repository_dir(), &own.base, own.git.clone(), identity);
    base.map_err(|fault| failure(&fault))
}

fn failure(fault: &materia_workspace::Fault) -> Failure {
    Failure::storage(format!("the workspace: {fault}"))
}

impl Project {
    /// The place of a cast's workspace, whether there is one or not. Without a state folder there is none.
    pub fn workspace(&self, id: &RunId) -> Option<Place> {
        let state_dir = self.state_dir.clone()?;
        let project_dir = self.repository_dir().to_owned();
        Some(Place { state_dir, project_dir, cast_id: id.to_string() })
    }

    /// The folder whose repository workspaces are made of.
    pub(crate) fn repository_dir(&self) -> &Path {
        self.stand_in.as_ref().map_or(&self.dir, |stand_in| &stand_in.dir)
    }

    /// The place of the workspace of a cast that has one of its own.
    pub fn own_workspace(&self, id: &RunId, created: &RunCreated) -> Result<Option<Place>> {
        if created.workspace.is_none() {
            return Ok(None);
        }
        let place = self.workspace(id);
        place.map(Some).ok_or_else(|| {
            let message = format!("cast `{id}` has a workspace of its own in a state folder");
            Failure::resolution(message).hint(Hint::NameState)
        })
    }

    /// Makes the workspace of a cast again from its base, where it is gone (W10).
    pub fn make_workspace_again(&self, id: &RunId, created: &RunCreated) -> Result<()> {
        let (Some(own), Some(place)) = (&created.workspace, self.own_workspace(id, created)?)
        else {
            return Err(Failure::resolution(format!(
                "cast `{id}` works in the project folder; it has no workspace to begin again from"
            )));
        };
        if !matches!(materia_workspace::open(&place), Ok(Opened::Gone)) {
            return Err(Failure::resolution(format!(
                "the workspace of cast `{id}` is there: `{}`",
                place.root().display()
            )));
        }
        fetched::refuse_anew(self, id)?;
        let base = base_of(self, own)?;
        materia_workspace::create(&place, &base, false).map_err(|fault| failure(&fault))?;
        Ok(())
    }
}
