//! Tells those who follow a run that there may be more of it.
//!
//! What this process commits is told at once, run by run. What other processes commit is found by a thread
//! that asks SQLite now and then whether the file has changed: that reads a counter in shared memory and
//! touches no page. The thread is there while somebody follows a run.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use materia_contract::RunId;
use rusqlite::Connection;
use tokio::sync::watch;

use super::lease::Held;
use super::readers::Readers;

/// How often is looked whether another process has written.
const LOOK: Duration = Duration::from_millis(20);

/// Those who follow runs.
pub(super) struct Changes {
    /// Whether there may be any, so that whoever commits need not look.
    any: AtomicBool,
    state: Mutex<State>,
    held: Arc<Held>,
    readers: Arc<Readers>,
}

#[derive(Default)]
struct State {
    followed: HashMap<RunId, watch::Sender<u64>>,
    /// Whether the thread is there.
    looking: bool,
}

impl Changes {
    pub(super) fn new(held: Arc<Held>, readers: Arc<Readers>) -> Self {
        Self { any: AtomicBool::new(false), state: Mutex::default(), held, readers }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes whenever there may be more of `run`.
    pub(super) fn of(self: &Arc<Self>, run: &RunId) -> watch::Receiver<u64> {
        let mut state = self.state();
        self.any.store(true, Ordering::SeqCst);
        let receiver = state.followed.entry(run.clone()).or_default().subscribe();
        if !state.looking {
            let changes = Arc::downgrade(self);
            let look = thread::Builder::new().name("journal-tail".to_owned());
            // Without a thread only this process is heard; the next who follows tries again.
            state.looking = look.spawn(move || keep_looking(&changes)).is_ok();
        }
        receiver
    }

    /// There is more of `run`: this process has committed it.
    pub(super) fn tell(&self, run: &RunId) {
        if !self.any.load(Ordering::SeqCst) {
            return;
        }
        if let Some(follower) = self.state().followed.get(run) {
            follower.send_modify(|times| *times += 1);
        }
    }

    /// Another process may have written to any run but those that are held here.
    fn tell_all(&self) {
        for (run, follower) in &self.state().followed {
            if !self.held.has(run) {
                follower.send_modify(|times| *times += 1);
            }
        }
    }

    /// Whether anybody still follows; if not, whoever looks may go.
    fn are_wanted(&self) -> bool {
        let mut state = self.state();
        state.followed.retain(|_, follower| follower.receiver_count() > 0);
        let wanted = !state.followed.is_empty();
        state.looking = wanted;
        self.any.store(wanted, Ordering::SeqCst);
        wanted
    }
}

fn keep_looking(changes: &Weak<Changes>) {
    let mut connection = None;
    let mut seen = None;
    loop {
        thread::sleep(LOOK);
        let Some(changes) = changes.upgrade().filter(|changes| changes.are_wanted()) else {
            return;
        };
        // A look that fails tells everybody: they find out themselves what is wrong.
        let now = version(&changes.readers, &mut connection);
        if now.is_none() || now != seen {
            changes.tell_all();
        }
        seen = now;
    }
}

/// A number that changes with every commit that this connection has not made.
fn version(readers: &Readers, connection: &mut Option<Connection>) -> Option<i64> {
    if connection.is_none() {
        *connection = readers.one().ok();
    }
    let asked = connection.as_ref()?.prepare_cached("PRAGMA data_version");
    let version = asked.and_then(|mut asked| asked.query_row([], |row| row.get(0))).ok();
    if version.is_none() {
        *connection = None;
    }
    version
}
