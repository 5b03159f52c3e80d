//! Status of a run after an event of a type, and the refusal of commands to an ended run.

use materia_contract::{CastStatus, RunId};
use materia_kernel::Rejection;

/// The status a run has behind an event of this type, if the type says.
#[must_use]
pub fn status_after(kind: &str) -> Option<CastStatus> {
    match kind {
        "run.created" | "run.resumed" | "run.revived" => Some(CastStatus::Running),
        "run.waiting" => Some(CastStatus::Waiting),
        "run.completed" => Some(CastStatus::Completed),
        "run.failed" => Some(CastStatus::Failed),
        "run.aborted" => Some(CastStatus::Aborted),
        _ => None,
    }
}

/// Why a run refuses everything: it was copied to another journal.
#[must_use]
pub fn moved_on(run: &RunId, place: &str) -> String {
    format!("cast `{run}` was copied to {place} and goes on there")
}

/// Why a run of this status refuses commands: it has ended.
#[must_use]
pub fn refusal_of_ended(status: CastStatus) -> Option<String> {
    match status {
        CastStatus::Completed | CastStatus::Failed | CastStatus::Aborted => {
            Some(Rejection::Ended(status).to_string())
        }
        CastStatus::Running | CastStatus::Waiting => None,
    }
}
