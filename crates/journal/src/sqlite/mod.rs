//! The journal in one SQLite file.
//!
//! # Invariants
//!
//! * Only the writer thread appends, and it commits everything that waits in one transaction.
//! * The unit is the decision: one row, which holds what was decided on and all events that followed.
//! * `heads` names the last record of each run that rests, and a recent one of a run that goes on.
//!   It is written in the transaction of that record, so a read that ends earlier than it says
//!   has met damage and not the end of the run.
//! * Nothing in this process opens the file but SQLite: closing any other handle on it would
//!   give up SQLite's locks.
//!
//! Deliberately absent: checking the chain of hashes. Whoever reads does that, since only the
//! reader knows what it read before.

mod append;
mod claim;
mod connect;
mod decisions;
mod fault;
mod inbox;
mod legacy;
mod list;
mod options;
mod read;
mod readers;
mod row;
mod schema;
mod snapshots;
mod writer;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use materia_contract::{CastLine, Record, RunId};
use materia_engine::{
    AppendError, Batch, BoxFuture, Chapter, Claim, ClaimError, Command, Head, Journal, Posted,
    ReadError, Receipt, Snapshot,
};

pub use options::{OpenError, Options, Stats};

use connect::Way;
use readers::Readers;
use writer::{Counters, Writer};

/// The name of the file, in the artifact root.
pub const JOURNAL_FILE: &str = "journal.db";

/// How long a run that is alone keeps its thread at the most. Leaving it costs a look at everything that
/// may have happened, which is dear beside a step.
const OTHERS_WAIT_MAX: Duration = Duration::from_millis(1);

/// The records of all runs of one artifact root, in SQLite.
///
/// Dropping it finishes what was handed in and closes the file.
pub struct SqliteJournal {
    root: PathBuf,
    path: PathBuf,
    options: Options,
    counters: Arc<Counters>,
    /// Runs that this process drives through this value.
    claims: Arc<AtomicUsize>,
    // Before the readers, so that it is dropped first and the last commit is checkpointed.
    writer: Mutex<Option<Writer>>,
    readers: Readers,
    /// When the thread of a run that is alone was last left to others.
    let_others: Mutex<Option<Instant>>,
}

impl SqliteJournal {
    /// Opens the journal of `root` for reading and writing; makes folder and file if need be.
    ///
    /// Any number of processes may do so at once.
    pub fn open(root: &Path, options: Options) -> Result<Self, OpenError> {
        std::fs::create_dir_all(root)
            .map_err(|source| OpenError::Folder { path: root.to_owned(), source })?;
        let path = root.join(JOURNAL_FILE);
        let connection = connect::for_writing(&path, &options)
            .map_err(|error| why_not_writable(root).unwrap_or(error))?;
        let journal = Self::new(root, path, options, Way::SHARED);
        let writer = journal.start_writer(connection)?;
        *journal.writer.lock().unwrap_or_else(PoisonError::into_inner) = Some(writer);
        Ok(journal)
    }

    /// Opens the journal of `root` if there is one. Makes nothing, and works where nothing may
    /// be written.
    ///
    /// Writing is possible as well where the system allows it; the writer then starts with the
    /// first append.
    pub fn open_existing(root: &Path) -> Result<Option<Self>, OpenError> {
        let path = root.join(JOURNAL_FILE);
        match path.try_exists() {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(source) => return Err(OpenError::Folder { path: root.to_owned(), source }),
        }
        let options = Options::default();
        let Some((connection, way)) = connect::for_reading(&path, &options)? else {
            return Ok(None);
        };
        let journal = Self::new(root, path, options, way);
        journal.readers.put_back(connection);
        Ok(Some(journal))
    }

    fn new(root: &Path, path: PathBuf, options: Options, way: Way) -> Self {
        Self {
            root: root.to_owned(),
            readers: Readers::new(path.clone(), way, options.busy_timeout),
            path,
            options,
            counters: Arc::default(),
            claims: Arc::default(),
            writer: Mutex::new(None),
            let_others: Mutex::new(None),
        }
    }

    /// Whether it is time to let others have the thread. A run that is alone writes on it, while
    /// everybody else there stands still: whoever watches the inbox, or waits for a signal.
    fn others_are_due(&self) -> bool {
        let mut last = self.let_others.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last.is_none_or(|last| last.elapsed() >= OTHERS_WAIT_MAX);
        if due {
            *last = Some(Instant::now());
        }
        due
    }

    fn start_writer(&self, connection: rusqlite::Connection) -> Result<Writer, OpenError> {
        Writer::start(connection, &self.options, Arc::clone(&self.counters)).map_err(|error| {
            OpenError::Storage { path: self.path.clone(), what: error.to_string() }
        })
    }

    /// What was written through this value so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.counters.stats()
    }

    /// Hands every record after place `after` to `visit`, in order, until it breaks off.
    ///
    /// The fastest way through a long run: one query, and one [`Record`] that is filled anew
    /// for each row.
    pub fn for_each(
        &self,
        run: &RunId,
        after: u64,
        visit: &mut dyn FnMut(&Record) -> ControlFlow<()>,
    ) -> Result<(), ReadError> {
        // A read that already handed out records must not begin again.
        let mut visited = false;
        self.readers.with(run, |connection| {
            if visited {
                let what = "another process locked it in the middle of a read".to_owned();
                return Err(fault::Fault::Damaged { place: format!("cast `{run}`"), what });
            }
            read::for_each(connection, run, after, &mut |record| {
                visited = true;
                visit(record)
            })
        })
    }
}

/// What the system says to a new file in `root`, if it refuses one: SQLite does not tell.
fn why_not_writable(root: &Path) -> Option<OpenError> {
    let probe = root.join(format!(".writable-{}", std::process::id()));
    match std::fs::File::create_new(&probe) {
        Ok(_) => {
            // Nothing depends on it; at worst an empty file stays.
            let _ = std::fs::remove_file(&probe);
            None
        }
        Err(source) => Some(OpenError::Folder { path: root.to_owned(), source }),
    }
}

impl Journal for SqliteJournal {
    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<(), AppendError>> {
        let mut slot = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_none() {
            let opened = connect::for_writing(&self.path, &self.options)
                .and_then(|connection| self.start_writer(connection));
            match opened {
                Ok(writer) => *slot = Some(writer),
                Err(error) => {
                    let error = AppendError::Storage(error.to_string());
                    return Box::pin(std::future::ready(Err(error)));
                }
            }
        }
        let writer = slot.as_ref().expect("it was started above");
        let alone = self.claims.load(Ordering::Relaxed) == 1;
        let answer = writer.hand_in(batch, alone);
        Box::pin(async move {
            if alone && self.others_are_due() {
                tokio::task::yield_now().await;
            }
            answer.await.unwrap_or_else(|_| Err(writer::gone()))
        })
    }

    fn read(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<Record>, ReadError> {
        self.readers.with(run, |connection| read::records(connection, run, after, limit))
    }

    fn head(&self, run: &RunId) -> Result<Option<Head>, ReadError> {
        self.readers.with(run, |connection| read::head(connection, run))
    }

    fn snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, ReadError> {
        self.readers.with(run, |connection| snapshots::newest(connection, run))
    }

    fn chapters(&self, run: &RunId) -> Result<Vec<Chapter>, ReadError> {
        self.readers.with(run, |connection| snapshots::chapters(connection, run))
    }

    fn runs(&self) -> Result<Vec<CastLine>, ReadError> {
        self.readers.with_all(list::runs)
    }

    fn claim(&self, run: &RunId) -> Result<Claim, ClaimError> {
        claim::claim(&self.root, run, &self.claims)
    }

    fn post(&self, run: &RunId, command: &Command) -> Result<u64, ReadError> {
        self.readers.with(run, |connection| inbox::post(connection, run, command))
    }

    fn commands(&self, run: &RunId) -> Result<Vec<Posted>, ReadError> {
        self.readers.with(run, |connection| inbox::commands(connection, run))
    }

    fn receipt(&self, run: &RunId, command: u64) -> Result<Option<Receipt>, ReadError> {
        self.readers.with(run, |connection| inbox::receipt(connection, run, command))
    }
}
