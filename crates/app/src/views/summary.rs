//! A cast in one line, and where it stands.

use materia_contract::api::CastSummary;
use materia_contract::time::wall_time;
use materia_contract::{CastLine, Folders};
use materia_engine::views::progress;
use materia_engine::{Journal, blocking};
use materia_kernel::{Phase, Run};

use crate::Result;

/// The summary of a cast, with the run it was read off.
pub fn summary(
    journal: &dyn Journal,
    line: CastLine,
    project: &str,
    folders: &Folders,
) -> Result<(CastSummary, Run)> {
    let id = line.cast_id.clone();
    let (run, _) = materia_engine::load(journal, &id)?;
    // The process that drove it may hold its lock for a moment longer.
    let ended = run.phase().status().has_ended();
    let driven = !ended && blocking(journal).is_driven(&id).unwrap_or(false);
    let last = blocking(journal).records(&id, run.seq().saturating_sub(1), 1)?;
    let updated_at = last.first().map_or_else(|| line.started_at.clone(), |it| wall_time(it.wall));
    let (waiting, error) = match run.phase() {
        Phase::Waiting(waiting) => (Some(waiting.clone()), None),
        Phase::Failed(error) => (None, Some(folders.failed(error))),
        Phase::New | Phase::Running | Phase::Completed | Phase::Aborted => (None, None),
    };
    let summary = CastSummary {
        line: CastLine { status: run.phase().status(), verdict: run.verdict(), ..line },
        project: project.to_owned(),
        driven,
        worker: None,
        waits_for_worker: false,
        last_seq: run.seq(),
        updated_at,
        usage: run.usage(),
        waiting,
        error,
        items: progress(&run),
    };
    Ok((summary, run))
}
