//! Aborts a cast, in whichever process it runs.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use materia_contract::{CastReport, CastStatus, Command, CommandId, Do, Folders, RunId};
use materia_engine::{
    ClaimError, Delivered, DriveError, EngineError, blocking, look_after, refusal_of_ended, wait,
};

use super::once::once;
use crate::{Failure, Found, Project, Result};

/// How long a process that drives the cast may take to end it.
const PATIENCE: Duration = Duration::from_secs(15);
/// Interval at which its end is polled: the driver is another process, which answers in the journal.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Result of aborting a cast.
pub enum Ended {
    /// It has ended, and this is how.
    Now(Box<CastReport>),
    /// Another process drives it, and has been asked to end it.
    Asked(Box<Waiting>),
}

/// A cast that another process was asked to end.
pub struct Waiting {
    /// Which process that is, in words.
    pub who: String,
    found: Found,
    folders: Folders,
    supervisor: PathBuf,
    command: CommandId,
}

/// Ends a cast, or asks the process that drives it to end it. `supervisor` is the program that supervises processes of
/// turns.
pub fn end(project: &Project, found: Found, supervisor: &Path) -> Result<Ended> {
    let folders = project.folders(&found.root, &found.id);
    let (run, _) = materia_engine::load(found.journal(), &found.id)?;
    refuse_ended(run.phase().status(), &found.id)?;
    let id = &found.id;
    match end_it(&found, &folders, supervisor) {
        Err(EngineError::Claim(ClaimError::Held { pid, .. })) => {
            let who = pid.map(|pid| format!("process {pid}"));
            let who = who.unwrap_or_else(|| "another process".to_owned());
            let command = blocking(found.journal()).post(id, &command())?.id;
            let supervisor = supervisor.to_owned();
            let waiting = Waiting { who, found, folders, supervisor, command };
            return Ok(Ended::Asked(Box::new(waiting)));
        }
        result => ended(id, result)?,
    }
    Ok(Ended::Now(Box::new(materia_engine::report(found.journal(), id, &folders)?)))
}

impl Waiting {
    /// Waits until the process that drives the cast has ended it. It may have reached another end first. If it
    /// released the lease instead, the cast is ended here.
    pub fn over(self) -> Result<CastReport> {
        let Self { who, found, folders, supervisor, mut command } = self;
        let (id, begun) = (&found.id, Instant::now());
        loop {
            match wait(look_after(found.journal(), id, &command))? {
                Some(Delivered::Answered(_)) => break,
                Some(Delivered::TakenBack) => match end_it(&found, &folders, &supervisor) {
                    Err(EngineError::Claim(ClaimError::Held { .. })) => {
                        command = blocking(found.journal()).post(id, &self::command())?.id;
                    }
                    result => break ended(id, result)?,
                },
                None if begun.elapsed() > PATIENCE => {
                    return Err(Failure::Broken(format!(
                        "cast `{id}` did not end within {} s; {who} was asked to end it and may still do so",
                        PATIENCE.as_secs()
                    )));
                }
                None => std::thread::sleep(POLL_INTERVAL),
            }
        }
        Ok(materia_engine::report(found.journal(), id, &folders)?)
    }
}

/// Converts the result of an abort in this process into a message.
fn ended(id: &RunId, result: Result<(), EngineError>) -> Result<()> {
    match result {
        Err(EngineError::Drive(DriveError::Rejected(why))) => {
            Err(Failure::resolution(format!("cast `{id}`: {why}")))
        }
        Err(EngineError::Drive(error)) => {
            Err(Failure::storage(format!("cast `{id}` could not be ended: {error}")))
        }
        result => Ok(result?),
    }
}

fn command() -> Command {
    Command::person(Do::Abort { reason: Some("a person ended it".to_owned()) })
}

fn refuse_ended(status: CastStatus, id: &RunId) -> Result<()> {
    if refusal_of_ended(status).is_some() {
        let word = status.word();
        return Err(Failure::resolution(format!("cast `{id}` has ended already: it is {word}")));
    }
    Ok(())
}

/// Ends a cast that no process drives.
fn end_it(found: &Found, folders: &Folders, supervisor: &Path) -> Result<(), EngineError> {
    let Found { root, journal, id } = found;
    let lease = blocking(&**journal).claim(id)?;
    once(journal, root, folders, (&lease, id), (command(), supervisor))
}
