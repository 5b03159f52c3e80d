//! Connections for reading, opened as they are needed and kept for the next reader.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use materia_contract::RunId;
use materia_engine::ReadError;
use rusqlite::Connection;

use super::connect::{self, Way};
use super::fault::{Fault, is_busy};

/// Connections that are kept open while nobody reads.
const IDLE_MAX: usize = 4;

/// A small pool: a long read keeps nobody else waiting.
pub(super) struct Readers {
    path: PathBuf,
    way: Way,
    patience: Duration,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(super) fn new(path: PathBuf, way: Way, patience: Duration) -> Self {
        Self { path, way, patience, idle: Mutex::default() }
    }

    /// Does a piece of work that is about one run.
    pub(super) fn with<T>(
        &self,
        run: &RunId,
        work: impl FnMut(&Connection) -> Result<T, Fault>,
    ) -> Result<T, ReadError> {
        self.work(work).map_err(|fault| fault.into_read_error(&format!("cast `{run}`")))
    }

    /// Does a piece of work that is about all runs.
    pub(super) fn with_all<T>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, Fault>,
    ) -> Result<T, ReadError> {
        self.work(work).map_err(|fault| fault.into_read_error("the list of casts"))
    }

    fn work<T>(&self, mut work: impl FnMut(&Connection) -> Result<T, Fault>) -> Result<T, Fault> {
        let busy = |fault: &Fault| matches!(fault, Fault::Sqlite(error) if is_busy(error));
        connect::patiently(self.patience, busy, || {
            let taken = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let connection = match taken {
                Some(connection) => connection,
                None => connect::reader(&self.path, self.way, self.patience)?,
            };
            let result = work(&connection);
            // After a fault the connection goes: it may hold pages that are not what they were.
            if result.is_ok() {
                self.put_back(connection);
            }
            result
        })
    }

    pub(super) fn put_back(&self, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_MAX {
            idle.push(connection);
        }
    }
}
