//! Pool of connections for reading, opened as they are needed.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use materia_contract::RunId;
use materia_engine::{ReadError, off_thread};
use rusqlite::Connection;

use super::connect::{self, Way};
use super::fault::{Fault, is_busy};

/// Idle connections that are kept open.
const IDLE_MAX: usize = 2;

/// A small connection pool: a long read does not block other reads.
pub(super) struct Readers {
    path: PathBuf,
    way: Way,
    patience: Duration,
    idle: Mutex<Idle>,
}

/// Connections that are not in use.
#[derive(Default)]
struct Idle {
    /// Goes up when another file takes the place of the one that they have open.
    times: u64,
    connections: Vec<Connection>,
}

impl Readers {
    pub(super) fn new(path: PathBuf, way: Way, patience: Duration) -> Self {
        Self { path, way, patience, idle: Mutex::default() }
    }

    /// Does work about one run on another thread than the caller's.
    pub(super) async fn with<T: Send + 'static>(
        self: &Arc<Self>,
        run: &RunId,
        work: impl FnMut(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, ReadError> {
        let done = self.off_thread(work).await;
        done.map_err(|fault| fault.into_read_error(&format!("cast `{run}`")))
    }

    /// Does a piece of work that is about all runs.
    pub(super) async fn with_all<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnMut(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, ReadError> {
        let done = self.off_thread(work).await;
        done.map_err(|fault| fault.into_read_error("the list of casts"))
    }

    /// Does a piece of work that is about one run here and now.
    pub(super) fn here<T>(
        &self,
        run: &RunId,
        work: impl FnMut(&Connection) -> Result<T, Fault>,
    ) -> Result<T, ReadError> {
        self.work(work).map_err(|fault| fault.into_read_error(&format!("cast `{run}`")))
    }

    async fn off_thread<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnMut(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let readers = Arc::clone(self);
        off_thread(move || readers.work(work)).await
    }

    fn work<T>(&self, mut work: impl FnMut(&Connection) -> Result<T, Fault>) -> Result<T, Fault> {
        let busy = |fault: &Fault| matches!(fault, Fault::Sqlite(error) if is_busy(error));
        connect::patiently(self.patience, busy, || {
            let (times, taken) = {
                let mut idle = self.idle();
                (idle.times, idle.connections.pop())
            };
            let connection = match taken {
                Some(connection) => connection,
                None => self.one()?,
            };
            let result = work(&connection);
            // After a fault the connection goes: it may hold pages that are not what they were.
            if result.is_ok() && self.times() == times {
                self.put_back(connection);
            }
            result
        })
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A separate connection that the caller keeps.
    pub(super) fn one(&self) -> rusqlite::Result<Connection> {
        tracing::trace!("one more connection for reading");
        connect::reader(&self.path, &self.way, self.patience)
    }

    pub(super) fn put_back(&self, connection: Connection) {
        let idle = &mut self.idle().connections;
        if idle.len() < IDLE_MAX {
            idle.push(connection);
        }
    }

    /// How often another file has taken the place of the one before.
    pub(super) fn times(&self) -> u64 {
        self.idle().times
    }

    /// Another file has taken the place: what is open leads to the old one.
    pub(super) fn begin_anew(&self) {
        let mut idle = self.idle();
        idle.times += 1;
        idle.connections.clear();
    }
}
