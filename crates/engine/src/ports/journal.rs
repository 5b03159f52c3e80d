use std::io;
use std::sync::Arc;

use materia_contract::time::Micros;
pub use materia_contract::{Answer, Receipt};
use materia_contract::{CastLine, ChainHash, Command, CommandId, Record, RunId, blob};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::term::Term;
use super::{Blobs, BoxFuture, Disk, DiskUsage, Tail, weight};

/// The default number of bytes of records in one read: few enough to stay in the cache of the processor until they
/// are used.
pub const PAGE_BYTES: usize = 256 << 10;

/// The durable, ordered records of runs.
///
/// # Contract
///
/// * Places are gapless and start at 1.
/// * `append` is all or nothing, and durable when its future resolves.
/// * Two writers cannot both succeed at one place: the loser gets [`AppendError::Conflict`].
/// * Batches of any runs that wait at the same time may share one commit.
/// * `read` returns exactly the appended records, in order, and `tail` goes on with new ones of any process. Both
///   return them with their blobs; where a blob cannot be read, the record says why.
/// * One holder at a time has the [`Lease`] of a run; it ends with its holder. Each lease has a higher epoch than the
///   one before, and every append carries the epoch of its lease: once another lease was given, an append with the
///   old one is [`AppendError::Fenced`].
/// * A command waits until a batch has its receipt, in the same commit: it takes effect once or is refused once, also
///   after a crash. An unreadable command blocks no other.
/// * No call blocks the thread of a task, unless [`may_block`](crate::may_block) allows it.
/// * A batch that ends its run refuses all commands that still wait, in the same commit. A later command is refused
///   at once, unless it can revive the run ([`Do::revives`](materia_contract::Do::revives)).
/// * Receipts are kept as long as the run, by the command's id: the same command again gets the same receipt, another
///   one with that id is refused.
///
/// Every implementation passes [`journal_contract`](super::journal_contract).
pub trait Journal: Send + Sync {
    /// Adds the records of one decision, or of several, and the receipt of the command it carries out.
    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<(), AppendError>>;

    /// Reads a page of the records that come after place `after`: about `bytes` of them, and one record at
    /// the least, however large it is.
    fn read(&self, run: &RunId, after: u64, bytes: usize)
    -> BoxFuture<'_, Result<Page, ReadError>>;

    /// The committed records that come after place `after`, and then those that are appended, by whatever
    /// process. It ends only with an error.
    fn tail(&self, run: &RunId, after: u64) -> Tail;

    /// Where texts are kept that records name by their hash. They are put there before the records are
    /// appended.
    fn blobs(&self) -> &dyn Blobs;

    /// The last record of a run in short; `None` if there is no such run.
    fn head(&self, run: &RunId) -> BoxFuture<'_, Result<Option<Head>, ReadError>>;

    /// A page of the list of runs, newest first: about `bytes` of it, behind the place that the page before
    /// named. A run that begins meanwhile changes nothing of the pages that follow.
    fn runs(&self, after: Option<&Cursor>, bytes: usize)
    -> BoxFuture<'_, Result<Lines, ReadError>>;

    /// One line of that list; `None` if there is no such run.
    fn line(&self, run: &RunId) -> BoxFuture<'_, Result<Option<CastLine>, ReadError>>;

    /// Makes the caller the only one who may drive `run`, until the lease is dropped or lost.
    fn claim(&self, run: &RunId) -> BoxFuture<'_, Result<Lease, ClaimError>>;

    /// Whether a process drives `run` now. It takes no lease and ends none.
    fn is_driven(&self, run: &RunId) -> BoxFuture<'_, Result<bool, ClaimError>>;

    /// Leaves a command in the inbox of `run`; one without an id gets one. If a command with this id waits already
    /// or has a receipt, nothing is added. A run that has ended refuses it at once.
    fn post(&self, run: &RunId, command: &Command) -> BoxFuture<'_, Result<Posting, PostError>>;

    /// Withdraws a waiting command for the holder of the lease of `epoch`, so that no other process can carry it
    /// out. Returns whether it was waiting.
    fn withdraw(
        &self,
        run: &RunId,
        epoch: Epoch,
        command: &CommandId,
    ) -> BoxFuture<'_, Result<bool, ReadError>>;

    /// The commands that wait for `run`, oldest first.
    fn commands(&self, run: &RunId) -> BoxFuture<'_, Result<Vec<Posted>, ReadError>>;

    /// The runs for which commands wait.
    fn addressed(&self) -> BoxFuture<'_, Result<Vec<RunId>, ReadError>>;

    /// The answer to a command; `None` while it waits.
    fn receipt(
        &self,
        run: &RunId,
        command: &CommandId,
    ) -> BoxFuture<'_, Result<Option<Receipt>, ReadError>>;

    /// The disk usage of `run` so far, files included. It is computed on another thread; the caller does not wait.
    fn weigh(&self, _run: &RunId) -> DiskUsage {
        weight::nothing()
    }

    /// The disk on which runs are kept, where there is one.
    fn disk(&self) -> Option<Disk> {
        None
    }

    /// Where folded states are kept beside the records, if anywhere.
    fn snapshots(&self) -> Option<&dyn Snapshots> {
        None
    }
}

/// A cache of folded states, and of what happened between them. All of it may be missing at any time: the
/// records say the same.
pub trait Snapshots: Send + Sync {
    /// Replaces the snapshot of a run, and keeps its chapter for good. It can be read after the next append to the
    /// run; failure to store it is no error.
    ///
    /// Called just before the records up to its place are appended, so that a store can do both in one commit. A
    /// snapshot without its durable record is ignored.
    fn keep(&self, run: &RunId, snapshot: Snapshot) -> BoxFuture<'_, ()>;

    /// The newest snapshot of a run, if one was kept.
    fn newest(&self, run: &RunId) -> BoxFuture<'_, Result<Option<Snapshot>, ReadError>>;

    /// The newest snapshot at `seq` or before it, of those that a store still has.
    fn before(&self, run: &RunId, seq: u64) -> BoxFuture<'_, Result<Option<Snapshot>, ReadError>>;

    /// The chapters of a run, one for each snapshot that was ever kept, oldest first.
    fn chapters(&self, run: &RunId) -> BoxFuture<'_, Result<Vec<Chapter>, ReadError>>;
}

/// The records of one decision, to be appended together. A fork appends many decisions at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// The run they belong to.
    pub run: RunId,
    /// The epoch of the lease under which they were decided.
    pub epoch: Epoch,
    /// The place after which they come: 0 for a new run.
    pub after: u64,
    /// The records, sealed, at places `after + 1`, `after + 2`, …
    pub records: Arc<[Record]>,
    /// The answer to the command behind this batch. A refused command has no records.
    pub receipt: Option<Receipt>,
    /// The verdict of the run so far, for the list of casts (D65).
    pub verdict: Option<bool>,
}

/// Records of a run that follow one another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// The records; none where the run has no more.
    pub records: Vec<Record>,
    /// Whether the run had no more when they were read. Where it is false there may be more.
    pub end: bool,
    /// Whether the hash of each event that is not the last of its decision was computed from its content and the hash before
    /// it when it was read.
    pub derived: bool,
}

/// About how many bytes a record takes, as pages count them: with the texts that are kept apart from it.
#[must_use]
pub fn record_bytes(record: &Record) -> usize {
    let optional = [&record.node, &record.input].map(|text| text.as_ref().map_or(0, String::len));
    let apart = usize::try_from(blob::bytes_apart(&record.data)).unwrap_or(usize::MAX);
    let texts = record.kind.len() + record.data.len() + optional[0] + optional[1];
    apart.saturating_add(texts + record.hash.0.len())
}

/// A page of the list of runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lines {
    /// The runs, newest first.
    pub lines: Vec<CastLine>,
    /// Runs among them whose lines make no sense, for a person: which, and what is wrong.
    pub unreadable: Vec<String>,
    /// Where the next page begins, if there is one.
    pub next: Option<Cursor>,
}

/// A place in the list of runs. Only the store that made it knows what it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(pub String);

/// About how many bytes a line of the list takes.
#[must_use]
pub fn line_bytes(line: &CastLine) -> usize {
    let from = line.from_cast_id.as_ref().map_or(0, String::len);
    size_of::<CastLine>()
        + line.cast_id.as_str().len()
        + line.loadout.len()
        + line.request.len()
        + from
}

/// A command that waits, or is on its way to who drives the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Posted {
    /// Its id; absent if no receipt will be requested.
    pub id: Option<CommandId>,
    /// The hash of what it asks for; absent where it was left without one.
    pub body: Option<String>,
    /// The command; an error where it cannot be parsed.
    pub command: Result<Command, String>,
}

/// A command that does not pass through the inbox, because the caller drives the run itself.
impl From<Command> for Posted {
    fn from(command: Command) -> Self {
        let body = command.id.as_ref().map(|_| command.body_hash());
        Self { id: command.id.clone(), body, command: Ok(command) }
    }
}

impl From<Command> for Box<Posted> {
    fn from(command: Command) -> Self {
        Self::new(command.into())
    }
}

/// Result of leaving a command in the inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posting {
    /// The id of the command.
    pub id: CommandId,
    /// Its answer, where there is one already: it had been left before, or the run has ended.
    pub receipt: Option<Receipt>,
}

/// Why a command was not left.
#[derive(Debug, thiserror::Error)]
pub enum PostError {
    /// Another command has the id.
    #[error("the command id `{0}` was used for another command; give this one an id of its own")]
    OtherBody(CommandId),
    /// The journal could not be used.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// The folded state of a run at a place. A cache: when in doubt it is thrown away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The place it was taken at.
    pub seq: u64,
    /// The hash of the record at that place.
    pub hash: ChainHash,
    /// The version of the code that wrote it; any other version ignores it.
    pub version: String,
    /// The state, in a form only that version knows.
    pub bytes: Vec<u8>,
    /// Summary of the turns since the previous snapshot, for reports.
    pub chapter: Vec<u8>,
}

/// Summary of the turns between two snapshots. A cache like them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chapter {
    /// The place of the snapshot that it ends at.
    pub seq: u64,
    /// The version of the code that wrote it.
    pub version: String,
    /// The summary, in a form only that version knows.
    pub bytes: Vec<u8>,
}

/// The last record of a run in short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Its place.
    pub seq: u64,
    /// Its logical time.
    pub ts: Micros,
    /// Its hash.
    pub hash: ChainHash,
}

/// Which of the leases of a run, counted from 1. 0 stands for none: a run that was never claimed takes it.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Epoch(pub u64);

impl std::fmt::Display for Epoch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The right to drive one run. Dropping it gives it up.
pub struct Lease {
    epoch: Epoch,
    /// Says that it was lost; `None` where that cannot happen while the holder lives.
    lost: Option<watch::Receiver<bool>>,
    term: Term,
    _holder: Box<dyn std::any::Any + Send + Sync>,
}

impl Lease {
    /// The lease of this epoch, around whatever keeps others out.
    #[must_use]
    pub fn new(epoch: Epoch, holder: impl std::any::Any + Send + Sync) -> Self {
        Self { epoch, lost: None, term: Term::default(), _holder: Box::new(holder) }
    }

    /// The same, where it can be lost: `lost` becomes true then.
    #[must_use]
    pub fn until(self, lost: watch::Receiver<bool>) -> Self {
        Self { lost: Some(lost), ..self }
    }

    /// The same, where another process may take the run after the end of a term.
    #[must_use]
    pub fn within(self, term: Term) -> Self {
        Self { term, ..self }
    }

    /// The end after which another process may take the run.
    #[must_use]
    pub fn term(&self) -> Term {
        self.term.clone()
    }

    /// Resolves when the lease is lost, which ends the right to drive the run; never, if it is not.
    pub fn lost(&self) -> impl Future<Output = ()> + Send + use<> {
        let lost = self.lost.clone();
        async move {
            if let Some(mut lost) = lost
                && lost.wait_for(|lost| *lost).await.is_ok()
            {
                return;
            }
            std::future::pending::<()>().await;
        }
    }

    /// Which lease of its run it is. Every append under it carries this.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Lease").field(&self.epoch.0).finish()
    }
}

/// Why a run could not be claimed.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// Another process drives it.
    #[error("cast `{run}` is being run by another process{}", .pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default())]
    Held {
        /// The run.
        run: RunId,
        /// The process, as far as it is known.
        pid: Option<u32>,
    },
    /// The lock itself could not be used.
    #[error("cannot lock cast `{run}`: {source}")]
    Io {
        /// The run.
        run: RunId,
        /// The error of the system.
        source: io::Error,
    },
    /// The lease could not be noted.
    #[error("cannot claim cast `{run}`: {what}")]
    Storage {
        /// The run.
        run: RunId,
        /// The error.
        what: String,
    },
}

/// Why nothing was appended.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// Another writer came first.
    #[error(
        "cast `{run}` has grown to event {actual}, not {expected}: another process has written to it"
    )]
    Conflict {
        /// The run.
        run: RunId,
        /// The place the caller believed in.
        expected: u64,
        /// The place there is.
        actual: u64,
    },
    /// Another process holds a newer lease of the run.
    #[error(
        "cast `{run}` is driven by somebody else since (lease {newest}, and this is lease {epoch}): nothing more is written to it from here"
    )]
    Fenced {
        /// The run.
        run: RunId,
        /// The lease that the caller had.
        epoch: Epoch,
        /// The newest lease.
        newest: Epoch,
    },
    /// The disk is full.
    #[error("the disk is full: {0}")]
    Full(String),
    /// The journal file was moved or removed, so its content is lost for later readers. Contains the reason.
    #[error("the journal was lost: {0}")]
    Displaced(String),
    /// The storage failed in another way.
    #[error("the journal cannot be written: {0}")]
    Storage(String),
}

impl AppendError {
    /// The run was copied to another journal.
    #[must_use]
    pub fn moved(run: &RunId, place: &str) -> Self {
        Self::Storage(super::moved_on(run, place))
    }
}

/// Why nothing could be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The storage failed.
    #[error("the journal cannot be read: {0}")]
    Storage(String),
    /// The stored data is damaged.
    #[error("the journal is damaged at {place}: {what}")]
    Damaged {
        /// Where, for a person.
        place: String,
        /// The damage.
        what: String,
    },
    /// The place in the list is none that this store has named.
    #[error("there is no such place in the list of casts")]
    NoSuchPlace,
}
