//! Ending a cast for good, whoever drives it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use materia_contract::{CastReport, CastStatus, Command, Do, Folders, RunId};
use materia_engine::{ClaimError, DriveError, EngineError, Journal, blocking, status_after};
use materia_journal::SqliteJournal;

use super::once::once;
use crate::{Failure, Found, Project};

/// How long a process that drives the cast may take to end it.
const PATIENCE: Duration = Duration::from_secs(15);
/// How often is looked whether it has.
const LOOK: Duration = Duration::from_millis(50);
/// How many events at the end are read for the status.
const TAIL_EVENTS: u64 = 64;

/// What ending a cast came to.
pub enum Ended {
    /// It has ended, and this is how.
    Now(Box<CastReport>),
    /// Another process drives it, and has been asked to end it.
    Asked(Waiting),
}

/// A cast that another process was asked to end.
pub struct Waiting {
    /// Which process that is, in words.
    pub who: String,
    journal: Arc<SqliteJournal>,
    id: RunId,
    folders: Folders,
}

/// Ends a cast, or asks whoever drives it to. `supervisor` is the program that looks after what turns start.
pub fn end(project: &Project, found: Found, supervisor: &Path) -> Result<Ended, Failure> {
    let folders = project.folders(&found.root, &found.id);
    let Found { root, journal, id } = found;
    let (run, _) = materia_engine::load(&*journal, &id)?;
    refuse_ended(run.phase().status(), &id)?;
    match end_it(&journal, (&root, &folders), &id, supervisor) {
        Err(EngineError::Claim(ClaimError::Held { pid, .. })) => {
            let who = pid.map(|pid| format!("process {pid}"));
            let who = who.unwrap_or_else(|| "another process".to_owned());
            blocking(&*journal).post(&id, &command())?;
            return Ok(Ended::Asked(Waiting { who, journal, id, folders }));
        }
        Err(EngineError::Drive(DriveError::Rejected(why))) => {
            return Err(Failure::resolution(format!("cast `{id}`: {why}")));
        }
        Err(EngineError::Drive(error)) => {
            return Err(Failure::storage(format!("cast `{id}` could not be ended: {error}")));
        }
        result => result?,
    }
    Ok(Ended::Now(Box::new(materia_engine::report(&*journal, &id, &folders)?)))
}

impl Waiting {
    /// Waits until the process that drives the cast has ended it. It may have reached another end first.
    pub fn over(self) -> Result<CastReport, Failure> {
        let Self { who, journal, id, folders } = self;
        let begun = Instant::now();
        while !has_ended(status(&*journal, &id)?) {
            if begun.elapsed() > PATIENCE {
                return Err(Failure::Broken(format!(
                    "{who} has not ended cast `{id}` within {} s; it is asked to and may still do so",
                    PATIENCE.as_secs()
                )));
            }
            std::thread::sleep(LOOK);
        }
        Ok(materia_engine::report(&*journal, &id, &folders)?)
    }
}

fn command() -> Command {
    Command::person(Do::Abort { reason: Some("a person ended it".to_owned()) })
}

fn refuse_ended(status: CastStatus, id: &RunId) -> Result<(), Failure> {
    if has_ended(Some(status)) {
        let word = status.word();
        return Err(Failure::resolution(format!("cast `{id}` has ended already: it is {word}")));
    }
    Ok(())
}

fn has_ended(status: Option<CastStatus>) -> bool {
    match status {
        Some(CastStatus::Completed | CastStatus::Failed | CastStatus::Aborted) => true,
        Some(CastStatus::Running | CastStatus::Waiting) | None => false,
    }
}

/// Ends a cast that nobody drives.
fn end_it(
    journal: &Arc<SqliteJournal>,
    (root, folders): (&Path, &Folders),
    id: &RunId,
    supervisor: &Path,
) -> Result<(), EngineError> {
    let lease = blocking(&**journal).claim(id)?;
    once(journal, root, folders, (&lease, id), (command(), supervisor))
}

/// The status as the last events say; `None` where they say nothing of it.
fn status(journal: &dyn Journal, id: &RunId) -> Result<Option<CastStatus>, Failure> {
    let Some(head) = blocking(journal).head(id)? else { return Ok(None) };
    let tail = blocking(journal).records(id, head.seq.saturating_sub(TAIL_EVENTS), 1_024)?;
    Ok(tail.iter().rev().find_map(|record| status_after(&record.kind)))
}
