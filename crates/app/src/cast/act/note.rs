//! Records a step without continuing the cast (`--no-run`, D59).

use std::path::Path;
use std::sync::Arc;

use materia_contract::{Command, Do, EventBody, Folders};
use materia_engine::{Clock as _, DriveError, EngineError, Lease, SystemClock, blocking};
use materia_kernel::{Input, Phase, Run};

use super::once::once;
use crate::project::place::CastJournal;
use crate::{Failure, Result};

/// Result of recording a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noted {
    /// It is done; nothing had to start for it.
    Done,
    /// It is stored; the process that resumes the cast applies it first.
    Left,
}

/// Applies a command to a cast that no process drives, and starts nothing. A command that would start something is
/// stored for the process that resumes the cast.
pub(super) fn note(
    (root, journal, supervisor): (&Path, &Arc<dyn CastJournal>, &Path),
    folders: &Folders,
    lease: &Lease,
    run: &Run,
    command: Command,
) -> Result<Noted> {
    if starts_something(run, &command.what) {
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

/// Whether something would have to start after this: a turn, or a run that rested.
pub(super) fn starts_something(run: &Run, what: &Do) -> bool {
    if matches!(what, Do::Abort { .. }) {
        return false;
    }
    let is_virtual = run.created().is_some_and(|created| created.virtual_time);
    let now = if is_virtual { run.instant() } else { SystemClock.now().max(run.ts()) };
    let mut after = run.clone();
    let done = materia_kernel::step(&mut after, now, Input::act(what.clone()));
    if *run.phase() != Phase::Running {
        return done.is_ok() && *after.phase() == Phase::Running;
    }
    // Its process went away. What starts nothing is done as that process would have done it; its turns in flight are
    // looked at when it is resumed.
    done.map_or(true, |events| {
        events.iter().any(|event| matches!(event.body, EventBody::TurnStarted(_)))
    })
}
