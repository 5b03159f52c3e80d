//! Wakes the followers of a run when there may be more of it.
//!
//! Commits of this process wake them at once, run by run. For commits of other processes a thread polls SQLite's
//! `data_version`, a counter in shared memory. The thread runs only while a run is followed.

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

/// The interval between two checks for writes of another process: SQLite does not report them.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The followers of runs.
pub(super) struct Changes {
    /// Whether there may be followers; without any, a commit skips the lock.
    any: AtomicBool,
    state: Mutex<State>,
    held: Arc<Held>,
    readers: Arc<Readers>,
}

/// A run that has followers.
#[derive(Default)]
struct Followed {
    grown: watch::Sender<u64>,
    /// Whether another process wrote something while the run was held here, and the followers were not notified.
    untold: bool,
}

impl Followed {
    fn tell(&self) {
        self.grown.send_modify(|times| *times += 1);
    }
}

#[derive(Default)]
struct State {
    followed: HashMap<RunId, Followed>,
    /// Followers of all runs.
    all: Followed,
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
        let receiver = state.followed.entry(run.clone()).or_default().grown.subscribe();
        self.look(&mut state);
        receiver
    }

    /// Changes whenever there may be more of any run.
    pub(super) fn of_all(self: &Arc<Self>) -> watch::Receiver<u64> {
        let mut state = self.state();
        let receiver = state.all.grown.subscribe();
        self.look(&mut state);
        receiver
    }

    /// Starts the thread that polls for changes by other processes.
    fn look(self: &Arc<Self>, state: &mut State) {
        self.any.store(true, Ordering::SeqCst);
        if !state.looking {
            let changes = Arc::downgrade(self);
            let look = thread::Builder::new().name("journal-tail".to_owned());
            // Without a thread only changes by this process are seen; the next follower retries.
            state.looking = look.spawn(move || keep_looking(&changes)).is_ok();
        }
    }

    /// Notifies followers of `run`: this process has committed records, or it has claimed the run and the former
    /// holder may have written records just before.
    pub(super) fn tell(&self, run: &RunId) {
        if !self.any.load(Ordering::SeqCst) {
            return;
        }
        let state = self.state();
        state.all.tell();
        if let Some(followed) = state.followed.get(run) {
            followed.tell();
        }
    }

    /// Notifies followers of changes by other processes, if `written`. Runs that this process holds are postponed:
    /// no other process writes to them, and local commits notify by themselves.
    fn tell_of_others(&self, written: bool) {
        let mut state = self.state();
        if written {
            state.all.tell();
        }
        for (run, followed) in &mut state.followed {
            followed.untold |= written;
            if followed.untold && !self.held.has(run) {
                followed.untold = false;
                followed.tell();
            }
        }
    }

    /// Whether there are still followers; if not, the polling thread may end.
    fn are_wanted(&self) -> bool {
        let mut state = self.state();
        state.followed.retain(|_, followed| followed.grown.receiver_count() > 0);
        let wanted = !state.followed.is_empty() || state.all.grown.receiver_count() > 0;
        state.looking = wanted;
        self.any.store(wanted, Ordering::SeqCst);
        wanted
    }
}

fn keep_looking(changes: &Weak<Changes>) {
    let mut connection = None;
    let mut seen = None;
    loop {
        thread::sleep(POLL_INTERVAL);
        let Some(changes) = changes.upgrade().filter(|changes| changes.are_wanted()) else {
            return;
        };
        // A failed look notifies all followers: they get the error when they read.
        let now = version(&changes.readers, &mut connection);
        changes.tell_of_others(now.is_none() || now != seen);
        seen = now;
    }
}

/// A number that changes with every commit that this connection has not made.
fn version(readers: &Readers, connection: &mut Option<(u64, Connection)>) -> Option<i64> {
    let times = readers.times();
    if connection.as_ref().is_none_or(|(of, _)| *of != times) {
        *connection = readers.one().ok().map(|opened| (times, opened));
    }
    let asked = connection.as_ref()?.1.prepare_cached("PRAGMA data_version");
    let version = asked.and_then(|mut asked| asked.query_row([], |row| row.get(0))).ok();
    if version.is_none() {
        *connection = None;
    }
    version
}
