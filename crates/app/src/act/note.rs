//! Noting a step without carrying the cast on (`--no-run`, D59).

use std::path::Path;
use std::sync::Arc;

use materia_contract::{Command, Do, Folders};
use materia_engine::{DriveError, EngineError, Lease, blocking};
use materia_journal::SqliteJournal;
use materia_kernel::{Input, Phase, Run};

use super::once::once;
use crate::Failure;

/// What noting a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noted {
    /// It is done; nothing had to start for it.
    Done,
    /// It is written down; whoever carries the cast on does it first.
    Left,
}

/// Does what a person asks to a cast that nobody drives, and starts nothing. Where something would have
/// to start, it is left for whoever carries the cast on.
pub(super) fn note(
    (root, journal, supervisor): (&Path, &Arc<SqliteJournal>, &Path),
    folders: &Folders,
    lease: &Lease,
    run: &Run,
    command: Command,
) -> Result<Noted, Failure> {
    let ends = matches!(command.what, Do::Abort { .. });
    if !ends && starts_something(run, &command.what) {
        blocking(&**journal).post(run.id(), &command)?;
        return Ok(Noted::Left);
    }
    match once(journal, root, folders, (lease, run.id()), (command, supervisor)) {
        Ok(()) => Ok(Noted::Done),
        Err(EngineError::Drive(DriveError::Rejected(why))) => {
            Err(Failure::resolution(format!("cast `{}`: {why}", run.id())))
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether a run would not rest after this.
fn starts_something(run: &Run, what: &Do) -> bool {
    if *run.phase() == Phase::Running {
        // Its process went away: what was in flight is looked at first.
        return true;
    }
    let mut after = run.clone();
    let now = after.ts();
    let done = materia_kernel::step(&mut after, now, Input::act(what.clone()));
    done.is_ok() && *after.phase() == Phase::Running
}
