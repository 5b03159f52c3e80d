//! Reads a journal and checks the chain of its hashes.

use materia_contract::{ChainHash, EventError, Record, RunId};
use materia_engine::{Chain, Journal, ReadError, blocking};

use super::file::ViewProblem;

/// Bytes of records that are read at once.
const CHUNK_BYTES: usize = 128 << 10;

/// Why views could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum CatchUpError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] ReadError),
    /// An event of the journal is not the one that was written there. The views are left alone:
    /// they may be the better copy.
    #[error("event {seq} of cast `{run}` does not fit the chain of hashes")]
    Chain {
        /// The cast.
        run: RunId,
        /// The event.
        seq: u64,
    },
    /// The first event does not say what the cast is.
    #[error("event 1 of cast `{run}` does not describe the cast{}", .source.as_ref().map(|it| format!(": {it}")).unwrap_or_default())]
    Created {
        /// The cast.
        run: RunId,
        /// The error.
        source: Option<EventError>,
    },
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] ViewProblem),
}

/// Hands on the records behind `start`, checked.
pub(super) fn checked(
    journal: &dyn Journal,
    run: &RunId,
    start: (u64, ChainHash),
    visit: &mut dyn FnMut(&[Record]) -> Result<bool, CatchUpError>,
) -> Result<(), CatchUpError> {
    let (mut after, head) = start;
    let mut chain = Chain::behind(after, head);
    loop {
        let page = blocking(journal).read(run, after, CHUNK_BYTES)?;
        chain
            .check(&page)
            .map_err(|broken| CatchUpError::Chain { run: run.clone(), seq: broken.seq })?;
        let Some(last) = page.records.last() else {
            return Ok(());
        };
        after = last.seq;
        if !visit(&page.records)? {
            return Ok(());
        }
    }
}
