//! The journal in one SQLite file.
//!
//! # Invariants
//!
//! * All appends go through the writer, which commits everything that waits in one transaction.
//! * The unit is the decision: one row, with its input and all events that followed.
//! * `heads` names the last record of each run at rest, and a recent one of a running one.
//!   It is written in the transaction of that record, so a read that ends earlier than it says
//!   has found damage and not the end of the run.
//! * Nothing in this process opens the file but SQLite: closing any other handle on it would
//!   give up SQLite's locks.
//! * A journal is data, never instructions: no trigger or view in a file is run, a file with another schema
//!   is refused, and a foreign one is read-only.
//!
//! The hash chain is checked by readers of the journal, since only the
//! reader knows what it read before.

mod anchor;
mod append;
mod changes;
mod compare;
mod connect;
mod decisions;
mod disk_usage;
mod fault;
mod image;
mod inbox;
mod lease;
mod list;
mod moved;
mod options;
mod own;
mod place;
mod port;
mod read;
mod readers;
mod rescue;
mod row;
mod schema;
mod snapshots;
mod walk;
mod writer;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use materia_contract::{Record, RunId};
use materia_engine::{AppendError, ReadError, off_thread};

pub use options::{OpenError, Options, Stats};
pub use own::Adopted;

use crate::blobs::FileBlobs;
use changes::Changes;
use connect::Way;
use lease::{Held, Locks};
use readers::Readers;
use rescue::Home;
use writer::{Counters, Writer};

/// The name of the file, in the artifact root.
pub const JOURNAL_FILE: &str = "journal.db";

/// How long a run that has its thread to itself goes without a look at everything that may have happened
/// there, which is dear beside a step.
const OTHERS_WAIT_MAX: Duration = Duration::from_millis(1);

/// The records of all runs of one artifact root, in SQLite.
///
/// Dropping it finishes what was handed in and closes the file.
pub struct SqliteJournal {
    root: PathBuf,
    blobs: FileBlobs,
    path: PathBuf,
    options: Options,
    /// Which journal it is, where journals are noted.
    id: Option<String>,
    foreign: bool,
    counters: Arc<Counters>,
    /// Runs that this process drives through this value.
    held: Arc<Held>,
    changes: Arc<Changes>,
    // Before the readers, so that it is dropped first and the last commit is checkpointed.
    writer: OnceLock<Writer>,
    readers: Arc<Readers>,
    /// When a run that has its thread to itself last looked around.
    let_others: Mutex<Option<Instant>>,
}

impl SqliteJournal {
    /// Opens the journal of `root` for reading and writing; makes folder and file if need be.
    ///
    /// Any number of processes may do so at once. Where journals are noted, one that is foreign is refused.
    pub fn open(root: &Path, options: Options) -> Result<Self, OpenError> {
        let path = place::made(root)?;
        let unwritable = |error| why_not_writable(root).unwrap_or(error);
        let id = own::begin(&path, &options).map_err(|error| {
            if matches!(error, OpenError::Place { .. }) { unwritable(error) } else { error }
        })?;
        let connection =
            connect::for_writing(&path, &options, id.as_deref()).map_err(unwritable)?;
        if id.as_ref().is_some_and(|id| own::is_not(&connection, id)) {
            return Err(OpenError::Foreign { path });
        }
        let journal = Self::opened(&path, options, id);
        let writer = journal.opening().start(connection)?;
        // No other caller can have set it.
        let _ = journal.writer.set(writer);
        Ok(journal)
    }

    /// Changes whenever there may be more of any run, whichever process writes.
    #[must_use]
    pub fn changed(&self) -> tokio::sync::watch::Receiver<u64> {
        self.changes.of_all()
    }

    /// Opens the journal of `root` if there is one, also a foreign one. Creates nothing, and works on read-only
    /// media. To read a possibly foreign journal safely, use [`Self::look`]. If the system allows writes, the writer
    /// starts with the first append.
    pub fn open_existing(root: &Path) -> Result<Option<Self>, OpenError> {
        let Some(path) = place::existing(root)? else { return Ok(None) };
        let options = Options::default();
        let Some((connection, way)) = connect::for_reading(&path, &options)? else {
            return Ok(None);
        };
        let journal = Self::new(&path, options, way, None);
        journal.readers.put_back(connection);
        Ok(Some(journal))
    }

    fn new(path: &Path, options: Options, way: Way, id: Option<String>) -> Self {
        let root = path.parent().unwrap_or(path).to_owned();
        let readers = Arc::new(Readers::new(path.to_owned(), way, options.busy_timeout));
        let held = Arc::new(Held::default());
        Self {
            blobs: FileBlobs::of(&root),
            root,
            path: path.to_owned(),
            options,
            id,
            foreign: false,
            counters: Arc::default(),
            changes: Arc::new(Changes::new(Arc::clone(&held), Arc::clone(&readers))),
            held,
            writer: OnceLock::new(),
            readers,
            let_others: Mutex::new(None),
        }
    }

    /// Its file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The location of the locks of its runs.
    fn locks(&self) -> Locks {
        match (&self.options.state, &self.id) {
            (Some(state), Some(id)) => Locks::in_state(state, id),
            (None, _) | (_, None) => Locks::in_casts(&self.root),
        }
    }

    /// The runs that are driven now, by whichever process. It waits for the disk.
    #[must_use]
    pub fn driven(&self) -> Vec<RunId> {
        // The locks of a foreign journal are not in this user's state folder.
        if self.foreign { Vec::new() } else { lease::held(&self.locks()) }
    }

    /// How often the file was removed while it was written to, and was written again.
    #[must_use]
    pub fn times_restored(&self) -> u64 {
        self.counters.restored()
    }

    /// Whether it is time to look what else has happened on the thread. A run that writes on it would
    /// otherwise see neither its timers nor what its own turns send.
    fn others_are_due(&self) -> bool {
        let mut last = self.let_others.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last.is_none_or(|last| last.elapsed() >= OTHERS_WAIT_MAX);
        if due {
            *last = Some(Instant::now());
        }
        due
    }

    /// Arguments for opening the file for writing.
    fn opening(&self) -> Opening {
        let (path, options) = (self.path.clone(), self.options.clone());
        let (counters, changes) = (Arc::clone(&self.counters), Arc::clone(&self.changes));
        let home = Home { path, options, id: self.id.clone(), readers: Arc::clone(&self.readers) };
        Opening { home, counters, changes }
    }

    /// The writer, started if it is not there yet.
    async fn writer(&self) -> Result<&Writer, AppendError> {
        if let Some(writer) = self.writer.get() {
            return Ok(writer);
        }
        if self.foreign {
            let what = OpenError::Foreign { path: self.path.clone() }.to_string();
            return Err(AppendError::Storage(what));
        }
        let opening = self.opening();
        let opened = off_thread(move || {
            let connection = opening.home.connect()?;
            opening.start(connection)
        });
        let writer = opened.await.map_err(|error| AppendError::Storage(error.to_string()))?;
        // Of two that were started at once one goes again, with nothing to do.
        Ok(self.writer.get_or_init(|| writer))
    }

    /// Counters of the writes through this value.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.counters.stats()
    }

    /// Calls `visit` with every record after place `after`, in order, until it breaks off. Blocks.
    ///
    /// Blobs are not read. The fastest way through a long run: one query, and one [`Record`] that is reused for each
    /// row.
    pub fn for_each(
        &self,
        run: &RunId,
        after: u64,
        visit: &mut dyn FnMut(&Record) -> ControlFlow<()>,
    ) -> Result<(), ReadError> {
        // A read that already handed out records must not begin again.
        let mut visited = false;
        self.readers.here(run, |connection| {
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

/// The error of the system for a new file in `root`, if it refuses one: SQLite does not report it.
fn why_not_writable(root: &Path) -> Option<OpenError> {
    // A new file under a name of its own, which goes at once.
    let probe = tempfile::Builder::new().prefix(".writable-").tempfile_in(root);
    probe.err().map(|source| OpenError::Folder { path: root.to_owned(), source })
}

/// Arguments for opening the file for writing.
struct Opening {
    home: Home,
    counters: Arc<Counters>,
    changes: Arc<Changes>,
}

impl Opening {
    fn start(self, connection: rusqlite::Connection) -> Result<Writer, OpenError> {
        let Self { home, counters, changes } = self;
        let path = home.path.clone();
        Writer::new(connection, home, counters, changes)
            .map_err(|error| OpenError::Storage { path, what: error.to_string() })
    }
}
