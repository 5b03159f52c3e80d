use std::io;
use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{Act, Budget, CastLine, ChainHash, NodeBudgets, NodeId, Record, RunId};
use serde::{Deserialize, Serialize};

use super::BoxFuture;

/// The durable, ordered records of runs.
///
/// # Contract
///
/// * Places are gapless and start at 1.
/// * `append` is all or nothing, and durable when its future resolves.
/// * Two writers cannot both succeed at one place: the loser gets [`AppendError::Conflict`].
/// * Batches that wait at the same time, of whatever runs, may share one commit.
/// * `read` gives back exactly the records that were appended, in order.
/// * One holder at a time has the [`Claim`] of a run; it ends with the holder, however that ends.
/// * A command waits until a batch has its receipt, in the same commit: it takes effect once or is
///   refused once, whatever dies in between. One that cannot be read is in nobody's way.
///
/// Every implementation passes [`journal_contract`](super::journal_contract).
pub trait Journal: Send + Sync {
    /// Adds the records of one decision, or of several, and the receipt of the command it carries out.
    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<(), AppendError>>;

    /// Reads at most `limit` records that come after place `after`.
    fn read(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<Record>, ReadError>;

    /// The last record of a run in short; `None` if there is no such run.
    fn head(&self, run: &RunId) -> Result<Option<Head>, ReadError>;

    /// The newest snapshot of a run, if one was kept.
    fn snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, ReadError>;

    /// The chapters of a run, one for each snapshot that was ever kept, oldest first.
    fn chapters(&self, run: &RunId) -> Result<Vec<Chapter>, ReadError>;

    /// All runs, newest first.
    fn runs(&self) -> Result<Vec<CastLine>, ReadError>;

    /// Makes this process the only one that may drive `run`.
    fn claim(&self, run: &RunId) -> Result<Claim, ClaimError>;

    /// Leaves a command for whoever drives `run`. Gives the number under which it is kept.
    fn post(&self, run: &RunId, command: &Command) -> Result<u64, ReadError>;

    /// The commands that wait for `run`, oldest first.
    fn commands(&self, run: &RunId) -> Result<Vec<Posted>, ReadError>;

    /// What became of a command; `None` while it waits.
    fn receipt(&self, run: &RunId, command: u64) -> Result<Option<Receipt>, ReadError>;
}

/// The records of one decision, to be appended together. A fork brings those of many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// The run they belong to.
    pub run: RunId,
    /// The place after which they come: 0 for a new run.
    pub after: u64,
    /// The records, sealed, at places `after + 1`, `after + 2`, …
    pub records: Arc<[Record]>,
    /// A snapshot of the state behind them, if one is due.
    pub snapshot: Option<Snapshot>,
    /// What became of the command that this answers. A refused one comes without records.
    pub receipt: Option<Receipt>,
}

/// A command that waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Posted {
    /// The number under which it is kept.
    pub number: u64,
    /// What is asked; an error where it cannot be read.
    pub command: Result<Command, String>,
}

/// What became of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The number under which the command was kept.
    pub command: u64,
    /// What became of it.
    pub answer: Answer,
}

/// What became of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It was carried out, and these events followed. Where nothing changed there are none, and
    /// `last` is before `first`.
    Done {
        /// The first of them.
        first: u64,
        /// The last of them.
        last: u64,
    },
    /// It was refused, and why.
    Refused {
        /// A sentence for whoever sent it.
        reason: String,
    },
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
    /// What happened since the snapshot before, in short, for whoever tells the story of the run.
    pub chapter: Vec<u8>,
}

/// What happened between two snapshots, in short. A cache like them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chapter {
    /// The place of the snapshot that it ends at.
    pub seq: u64,
    /// The version of the code that wrote it.
    pub version: String,
    /// What happened, in a form only that version knows.
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

/// Something another process asks of a run that is under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// End it.
    Abort {
        /// Who asks.
        reason: String,
    },
    /// Stop it in good order, so that it can be resumed.
    Stop,
    /// Do something to it.
    Act {
        /// What.
        act: Act,
    },
    /// Say something to a node.
    Say {
        /// The node; where it is left out, the one that waits.
        node: Option<NodeId>,
        /// What is said.
        text: String,
    },
    /// Finish a multi-turn node.
    Continue {
        /// The node; where it is left out, the one that waits.
        node: Option<NodeId>,
    },
    /// Change what it may spend.
    Budget {
        /// From now on.
        budget: Budget,
    },
    /// Change what one node may spend.
    NodeBudgets {
        /// The node.
        node: NodeId,
        /// From now on.
        budgets: NodeBudgets,
    },
}

/// The right to drive one run. Dropping it gives it up.
pub struct Claim(#[expect(dead_code, reason = "held for its Drop")] Box<dyn std::any::Any + Send>);

impl Claim {
    /// Wraps whatever holds the lock.
    #[must_use]
    pub fn new(holder: impl std::any::Any + Send) -> Self {
        Self(Box::new(holder))
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
        /// What the system said.
        source: io::Error,
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
    /// The disk is full.
    #[error("the disk is full: {0}")]
    Full(String),
    /// The storage failed in another way.
    #[error("the journal cannot be written: {0}")]
    Storage(String),
}

/// Why nothing could be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The storage failed.
    #[error("the journal cannot be read: {0}")]
    Storage(String),
    /// What is stored makes no sense.
    #[error("the journal is damaged at {place}: {what}")]
    Damaged {
        /// Where, for a person.
        place: String,
        /// What is wrong there.
        what: String,
    },
}
