//! A cast as `show` prints it: a view over the events, made when somebody asks.

use materia_contract::{CastReport, Folders, RunId};
use materia_kernel::Phase;

use crate::load::{LoadedRun, load_with_visits};
use crate::{Journal, LoadError};

/// Tells the story of a run so far: from its newest snapshot and the chapters before it, where they
/// can be believed, else from its events. It waits for the journal. `folders` says where the run is now.
pub fn report(
    journal: &dyn Journal,
    id: &RunId,
    folders: &Folders,
) -> Result<CastReport, LoadError> {
    let LoadedRun { run, head, visits } = load_with_visits(journal, id)?;
    let created = run.created().ok_or_else(|| LoadError::Unknown(id.clone()))?;
    let (error, waiting) = match run.phase() {
        Phase::Failed(error) => (Some(folders.failed(error)), None),
        Phase::Waiting(waiting) => (None, Some(waiting.clone())),
        Phase::New | Phase::Running | Phase::Completed | Phase::Aborted => (None, None),
    };
    Ok(CastReport {
        cast_id: id.clone(),
        status: run.phase().status(),
        loadout: created.plan.loadout.clone(),
        visits: visits.into_list(),
        state: run.variables().clone(),
        error,
        waiting,
        usage: run.usage(),
        run_dir: folders.found(run.run_dir()).into_owned(),
        last_seq: run.seq(),
        last_hash: head.to_string(),
        from_cast_id: created.from_cast_id.clone(),
    })
}
