//! Puts a run on the list of the workers, and takes it off.

use std::collections::{BTreeMap, BTreeSet};

use materia_contract::{CastLine, Do, RULES_VERSION, RunId};
use materia_engine::{Journal as _, wait};
use materia_nats::{NatsJournal, Todo, host_name};

use super::misfit;
use crate::drive::Drive;
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
    approved: BTreeMap<String, String>,
}

impl Needs {
    /// Those of a run that is about to be handed over.
    #[must_use]
    pub fn of(drive: &Drive) -> Self {
        let policies = drive.plan.nodes.values().filter_map(|node| node.policy.as_ref());
        let labels: BTreeSet<String> = policies.flat_map(|policy| policy.labels.clone()).collect();
        let bytes = |script| serde_json::to_vec(script).expect("a script always renders");
        Self {
            labels: labels.into_iter().collect(),
            script: drive.script.as_ref().map(bytes),
            approved: drive.cleared.files(),
        }
    }
}

/// Has a run driven by a worker. The caller has given up its lease.
pub fn hand_over(
    project: &Project,
    journal: &NatsJournal,
    run: &RunId,
    (what, provider): (Do, Option<&str>),
    needs: Needs,
) -> Result<Handed, Failure> {
    let Needs { labels, script, approved } = needs;
    let script = match script {
        None => None,
        Some(bytes) => {
            let kept = wait(journal.blobs().put(bytes));
            Some(kept.map_err(|error| Failure::storage(error.to_string()))?.to_string())
        }
    };
    let todo = Todo {
        what,
        command: journal.fresh_command(),
        labels,
        host: host_name(),
        folder: project.dir.to_string_lossy().into_owned(),
        rules: RULES_VERSION,
        provider: provider.map(str::to_owned),
        script,
        approved,
    };
    wait(journal.put_todo(run, &todo))?;
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

/// A person drives a run here: no worker takes it before it is handed over again.
pub fn keep_here(journal: &NatsJournal, run: &RunId) -> Result<(), Failure> {
    if let Some(entry) = wait(journal.todo_of(run))? {
        wait(journal.remove_todo(entry.revision))?;
    }
    Ok(())
}
