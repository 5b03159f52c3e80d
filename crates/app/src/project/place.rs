//! Where the casts of a project are kept: in a file, or on NATS servers.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use materia_contract::RunId;
use materia_engine::{AppendError, Batch, ClaimError, Epoch, Journal, Lease, ReadError, wait};
use materia_journal::{SqliteJournal, Stats};
pub use materia_nats::NatsJournal;
use materia_nats::OpenError;
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::failure::Failure;
use crate::text::event_text::DrivenBy;

/// The word for a journal in a file.
pub(crate) const SQLITE: &str = "sqlite";

/// The arguments and variables that say where casts are kept, over the user's profile.
#[derive(Debug, Clone, Default)]
pub struct JournalPlace {
    /// `sqlite`, or the address of NATS servers.
    pub journal: Option<String>,
    /// The space on those servers.
    pub space: Option<String>,
    /// A file with credentials for them.
    pub credentials: Option<PathBuf>,
    /// A file with the certificate that signed theirs.
    pub certificate: Option<PathBuf>,
    /// How long a lost server is waited for.
    pub patience: Option<Duration>,
    /// The runtime of a worker. A worker gives a cast up before its lease can have lapsed, and waits for nothing on the
    /// threads of its runtime.
    pub worker: Option<Handle>,
}

/// The same as the user's profile says it. It is read once: every command asks, and mostly nothing is there.
#[derive(Debug, Default)]
pub(crate) struct InProfile {
    pub(crate) journal: Option<String>,
    pub(crate) space: Option<String>,
    pub(crate) replicas: Option<u32>,
    pub(crate) lease_seconds: Option<u32>,
}

/// The work of workers on a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Work {
    /// The worker that drives it.
    pub worker: Option<String>,
    /// Whether it waits for a worker.
    pub waits: bool,
}

/// A journal of a project, wherever it is kept.
pub trait CastJournal: Journal {
    /// Whether the user must trust it before it is written to.
    fn is_foreign(&self) -> bool {
        false
    }

    /// Whether it is on other machines, and not in the project folder.
    fn is_remote(&self) -> bool {
        self.remote().is_some()
    }

    /// The journal on NATS, if it is there.
    fn remote(&self) -> Option<&NatsJournal> {
        None
    }

    /// Which worker drives a run, and whether it waits for one. Only runs on NATS have workers. It waits.
    fn work(&self, run: &RunId) -> Work {
        let Some(journal) = self.remote() else { return Work::default() };
        match wait(journal.driver(run)) {
            Ok(Some(driver)) => Work { worker: driver.worker, waits: false },
            Ok(None) => Work {
                worker: None,
                waits: wait(journal.todo_of(run)).is_ok_and(|it| it.is_some()),
            },
            Err(_) => Work::default(),
        }
    }

    /// The process or worker that drives a run that has not ended. Blocks.
    fn driven_by(&self, run: &RunId) -> DrivenBy {
        if wait(self.is_driven(run)).unwrap_or(false) {
            return DrivenBy::Process;
        }
        if self.work(run).waits { DrivenBy::NextWorker } else { DrivenBy::Nobody }
    }

    /// The runs that are driven now, by whichever process. It waits.
    fn driven(&self) -> Vec<RunId>;

    /// Changes whenever there may be more of any run, whichever process writes.
    fn changed(&self) -> watch::Receiver<u64>;

    /// How often its file was removed while it was written to, and was written again.
    fn times_restored(&self) -> u64 {
        0
    }

    /// Counters of the writes through this value.
    fn stats(&self) -> Stats {
        Stats::default()
    }

    /// The place for a person, without a password.
    fn shown(&self) -> String;

    /// The same as it is noted at the other place of a copy.
    fn noted(&self) -> String {
        self.shown()
    }

    /// Whether a note of a copy means this place, by whichever address it was reached then.
    fn is_noted_as(&self, note: &str) -> bool {
        note == self.noted()
    }

    /// Where a run goes on that was copied from here to another journal.
    fn moved(&self, run: &RunId) -> Result<Option<String>, ReadError>;

    /// Notes under a lease where a run goes on; `None` says that it goes on here.
    fn move_to(&self, run: &RunId, epoch: Epoch, place: Option<&str>) -> Result<(), AppendError>;

    /// Claims a run, also one that was copied elsewhere.
    fn claim_moved(&self, run: &RunId) -> Result<Lease, ClaimError>;

    /// Appends to a run, also to one that was copied elsewhere.
    fn append_moved(&self, batch: Batch) -> Result<(), AppendError>;

    /// A sentence about messages of a run that Materia did not write and readers skip, if there are any.
    fn skipped(&self, _run: &RunId) -> Result<Option<String>, ReadError> {
        Ok(None)
    }
}

impl CastJournal for SqliteJournal {
    fn is_foreign(&self) -> bool {
        self.is_foreign()
    }

    fn driven(&self) -> Vec<RunId> {
        self.driven()
    }

    fn changed(&self) -> watch::Receiver<u64> {
        self.changed()
    }

    fn shown(&self) -> String {
        self.path().display().to_string()
    }

    fn moved(&self, run: &RunId) -> Result<Option<String>, ReadError> {
        wait(self.moved(run))
    }

    fn move_to(&self, run: &RunId, epoch: Epoch, place: Option<&str>) -> Result<(), AppendError> {
        wait(self.move_to(run, epoch, place))
    }

    fn claim_moved(&self, run: &RunId) -> Result<Lease, ClaimError> {
        wait(self.claim_moved(run))
    }

    fn append_moved(&self, batch: Batch) -> Result<(), AppendError> {
        wait(self.append(batch))
    }

    fn times_restored(&self) -> u64 {
        self.times_restored()
    }

    fn stats(&self) -> Stats {
        self.stats()
    }
}

impl CastJournal for NatsJournal {
    fn shown(&self) -> String {
        format!("{}, space `{}`", self.options().shown(), self.options().space.as_str())
    }

    fn noted(&self) -> String {
        format!("{}, {}", self.options().shown(), self.identity())
    }

    fn is_noted_as(&self, note: &str) -> bool {
        note.ends_with(&format!(", {}", self.identity()))
    }

    fn moved(&self, run: &RunId) -> Result<Option<String>, ReadError> {
        wait(self.moved(run))
    }

    fn move_to(&self, run: &RunId, epoch: Epoch, place: Option<&str>) -> Result<(), AppendError> {
        wait(self.move_to(run, epoch, place))
    }

    fn claim_moved(&self, run: &RunId) -> Result<Lease, ClaimError> {
        wait(self.claim(run))
    }

    fn append_moved(&self, batch: Batch) -> Result<(), AppendError> {
        wait(self.append_moved(batch))
    }

    fn remote(&self) -> Option<&NatsJournal> {
        Some(self)
    }

    fn driven(&self) -> Vec<RunId> {
        wait(self.driven()).unwrap_or_default()
    }

    fn changed(&self) -> watch::Receiver<u64> {
        self.changed()
    }

    fn skipped(&self, run: &RunId) -> Result<Option<String>, ReadError> {
        let foreign = wait(self.foreign_messages(run))?;
        let Some(first) = foreign.first() else { return Ok(None) };
        Ok(Some(format!(
            "{} messages of cast `{run}` were not written by Materia and are skipped, the first at sequence {first} of the stream",
            foreign.len()
        )))
    }
}

/// A folder for casts, and the journal of the casts in it.
pub type Kept = (PathBuf, Arc<dyn CastJournal>);

/// The connection of a project, made when it is first needed.
pub(crate) type Connected = Arc<OnceLock<Arc<NatsJournal>>>;

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self::storage(error.to_string())
    }
}
