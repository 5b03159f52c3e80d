//! Why a journal could not be written or read.

use materia_contract::RunId;

use super::BlobError;
use super::lease::Epoch;

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

impl From<BlobError> for AppendError {
    fn from(error: BlobError) -> Self {
        match error {
            BlobError::Full(what) => Self::Full(what),
            BlobError::Storage(_) => Self::Storage(error.to_string()),
        }
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
