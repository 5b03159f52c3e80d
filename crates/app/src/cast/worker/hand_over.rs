//! Puts a run on the list of the workers, and takes it off.

use std::collections::{BTreeMap, BTreeSet};

use materia_contract::{
    CastLine, Command, CommandId, Do, GoOnFrom, RULES_VERSION, RunId, SpaceApproval,
};
use materia_engine::{Journal as _, wait};
use materia_nats::{NatsJournal, Todo, host_name};

use super::{files, misfit};
use crate::cast::drive::{Drive, Start};
use crate::{Failure, Project};

/// A run that waits for a worker.
pub struct Handed {
    /// Its line in the list of casts.
    pub line: CastLine,
    /// The workers that can take it, by their names.
    pub takers: Vec<String>,
}

/// Data that a worker needs to drive a run.
pub struct Needs {
    labels: Vec<String>,
    script: Option<Vec<u8>>,
    go_on: GoOnFrom,
    approved: BTreeMap<String, String>,
    workspace: Option<String>,
    by: String,
    utilities: BTreeMap<String, String>,
}

impl Needs {
    /// Those of a run that is about to be handed over. The first event of a new one names the approval.
    #[must_use]
    pub fn of(project: &Project, drive: &mut Drive) -> Self {
        let (approved, by) = (drive.cleared.files(), files::user());
        if let Start::Begin(created) = &mut drive.start {
            let approval = SpaceApproval { by: by.clone(), files: approved.clone() };
            created.approved = Some(Box::new(approval));
        }
        let policies = drive.plan.nodes.values().filter_map(|node| node.policy.as_ref());
        let labels: BTreeSet<String> = policies.flat_map(|policy| policy.labels.clone()).collect();
        let bytes = |script| serde_json::to_vec(script).expect("a script always renders");
        Self {
            labels: labels.into_iter().collect(),
            script: drive.script.as_ref().map(bytes),
            workspace: drive.stored_below(),
            go_on: drive.go_on,
            utilities: files::of_profile(project, &drive.plan),
            approved,
            by,
        }
    }
}

/// Has a run driven by a worker. The caller has given up its lease.
pub fn hand_over(
    project: &Project,
    journal: &NatsJournal,
    run: &RunId,
    (command, provider): (Command, Option<&str>),
    needs: Needs,
) -> Result<Handed, Failure> {
    let Needs { labels, script, go_on, approved, workspace, by, utilities } = needs;
    let files = files::send(project, journal, &approved)?;
    let script = match script {
        None => None,
        Some(bytes) => {
            let kept = wait(journal.blobs().put(bytes));
            Some(kept.map_err(|error| Failure::storage(error.to_string()))?.to_string())
        }
    };
    let id = command.id.clone().unwrap_or_else(|| journal.fresh_command());
    let todo = Todo {
        what: command.what.clone(),
        command: id.clone(),
        actor: command.actor.clone(),
        go_on,
        labels,
        host: host_name(),
        folder: project.dir.to_string_lossy().into_owned(),
        workspace,
        rules: RULES_VERSION,
        provider: provider.map(str::to_owned),
        script,
        approved,
        by: Some(by),
        files,
        utilities,
    };
    if another_waits(journal, run, &id)? {
        // The worker that takes the run finds it there.
        wait(journal.post(run, &Command { id: Some(id), ..command }))
            .map_err(|error| Failure::storage(error.to_string()))?;
    } else {
        wait(journal.put_todo(run, &todo))?;
    }
    let workers = wait(journal.workers())?;
    let takers = workers
        .into_iter()
        .filter(|worker| !worker.ends && misfit(&todo, worker).is_none())
        .map(|worker| worker.name)
        .collect();
    let line = wait(journal.line(run))?;
    let line = line.ok_or_else(|| Failure::storage(format!("cast `{run}` is gone")))?;
    Ok(Handed { line, takers })
}

/// Whether a run is on the list with another command that no worker has taken, and that must not be lost.
fn another_waits(journal: &NatsJournal, run: &RunId, id: &CommandId) -> Result<bool, Failure> {
    let waiting = wait(journal.todo_of(run))?.and_then(|entry| entry.todo);
    let Some(Todo { what, command, .. }) = waiting else { return Ok(false) };
    if command == *id || what == (Do::Resume { pace: None }) {
        return Ok(false);
    }
    Ok(wait(journal.receipt(run, &command))?.is_none())
}

/// A person drives a run here: no worker takes it before it is handed over again.
pub fn keep_here(journal: &NatsJournal, run: &RunId) -> Result<(), Failure> {
    if let Some(entry) = wait(journal.todo_of(run))? {
        wait(journal.remove_todo(entry.revision))?;
    }
    Ok(())
}
