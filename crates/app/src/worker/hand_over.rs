//! Puts a run on the list of the workers, and takes it off.

use std::collections::BTreeSet;

use materia_contract::{CastLine, Do, Plan, RULES_VERSION, RunId};
use materia_engine::{Journal as _, wait};
use materia_nats::{NatsJournal, Todo, host_name};

use super::misfit;
use crate::{Failure, Project};

/// A run that waits for a worker.
pub struct Handed {
    /// Its line in the list of casts.
    pub line: CastLine,
    /// The workers that can take it, by their names.
    pub takers: Vec<String>,
}

/// Has a run driven by a worker. The caller has given up its lease.
pub fn hand_over(
    project: &Project,
    journal: &NatsJournal,
    run: &RunId,
    plan: &Plan,
    (what, provider): (Do, Option<&str>),
) -> Result<Handed, Failure> {
    let policies = plan.nodes.values().filter_map(|node| node.policy.as_ref());
    let labels: BTreeSet<String> = policies.flat_map(|policy| policy.labels.clone()).collect();
    let todo = Todo {
        what,
        command: journal.fresh_command(),
        labels: labels.into_iter().collect(),
        host: host_name(),
        folder: project.dir.to_string_lossy().into_owned(),
        rules: RULES_VERSION,
        provider: provider.map(str::to_owned),
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
