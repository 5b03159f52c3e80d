//! A way through the stored records of a run, and the damage that it can meet.

use std::ops::ControlFlow;

use materia_contract::time::Micros;
use materia_contract::{ChainHash, Record, RunId};
use rusqlite::types::{FromSqlError, ValueRef};

use super::fault::{Fault, is_damage};

/// A run as the tables know it.
pub(super) struct Known {
    pub(super) key: i64,
    /// The place and hash of its last record when that was noted; it may have grown since.
    pub(super) seq: u64,
    pub(super) hash: ChainHash,
}

/// The last event of a run: its place and time, and its hash as stored.
pub(super) type Last = (u64, Micros, rusqlite::types::Value);

/// A way through the records of a run.
pub(super) struct Walk<'a> {
    pub(super) run: &'a RunId,
    pub(super) known: Known,
    /// Where it began.
    pub(super) after: u64,
    /// The last place that was shown.
    pub(super) last: u64,
    /// The record that is shown, filled anew each time.
    pub(super) record: Record,
    pub(super) visit: &'a mut dyn FnMut(&mut Record) -> ControlFlow<()>,
}

impl Walk<'_> {
    pub(super) fn has_shown_none(&self) -> bool {
        self.last == self.after
    }

    /// Damage at the next place.
    pub(super) fn damaged(&self, what: impl Into<String>) -> Fault {
        Fault::at(self.run, self.last + 1, what)
    }

    /// Shows the record; breaks off when that is enough.
    pub(super) fn show(&mut self) -> Result<ControlFlow<()>, Fault> {
        let (seq, place) = (self.record.seq, self.last + 1);
        if seq != place {
            return Err(self.damaged(format!("event {seq} is in its place")));
        }
        self.known.agrees(self.run, seq, self.record.hash)?;
        self.last = place;
        Ok((self.visit)(&mut self.record))
    }
}

impl Known {
    /// Whether the record at the head is the one that was written there.
    pub(super) fn agrees(&self, run: &RunId, seq: u64, hash: ChainHash) -> Result<(), Fault> {
        if seq == self.seq && hash != self.hash {
            return Err(Fault::at(run, seq, "its hash is not the one noted as the run's last"));
        }
        Ok(())
    }
}

/// Damage that shows when SQLite tries to go on from `last`.
pub(super) fn beyond(run: &RunId, last: u64, error: rusqlite::Error) -> Fault {
    if is_damage(&error) {
        Fault::at(run, last + 1, error.to_string())
    } else {
        Fault::Sqlite(error)
    }
}

pub(super) fn hash(value: ValueRef<'_>) -> Result<ChainHash, FromSqlError> {
    let bytes = value.as_blob()?;
    ChainHash::from_bytes(bytes)
        .ok_or(FromSqlError::InvalidBlobSize { expected_size: 32, blob_size: bytes.len() })
}
