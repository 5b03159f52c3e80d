//! Threads that may block.
//!
//! A thread with tasks of several owners must never block: file reads and commits run on other threads, and the task
//! sleeps meanwhile. Two kinds of thread may block: one that does a single thing from beginning to end ([`wait`]),
//! and one that drives a single run ([`on_own_thread`]). There a store may do the work in place, which saves two
//! wake-ups a step.
//!
//! [`wait`] is written here because it must work on every thread: inside a task that has its thread to itself, inside
//! another `wait`, and where no runtime was started. The `block_on` of tokio panics inside a runtime, and that of
//! `futures` inside itself. Commands like `show` need no runtime and start none. Each poll must also say that the thread may block.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use materia_contract::{CastLine, Command, CommandId, Record, RunId};
use tokio::sync::Semaphore;

use crate::{
    Chapter, ClaimError, Head, Journal, Lease, Lines, PAGE_BYTES, Page, PostError, Posted, Posting,
    ReadError, Receipt, Snapshot,
};

thread_local! {
    static OWN: Cell<bool> = const { Cell::new(false) };
}

/// Work that waits on threads of its own at one time. More would only be in each other's way.
static OFF_THREAD: Semaphore = Semaphore::const_new(8);

/// Whether the future that is being polled has this thread to itself, so that a store may block here.
#[must_use]
pub fn may_block() -> bool {
    OWN.get()
}

/// While it lives, this thread may stand still.
struct Owned(bool);

impl Owned {
    fn begin() -> Self {
        Self(OWN.replace(true))
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        OWN.set(self.0);
    }
}

/// Polls `work` with the permission to block this thread.
///
/// Only for a single-threaded runtime without tasks of other owners. Signal handlers and the inbox must be on another
/// thread.
pub async fn on_own_thread<F: Future>(work: F) -> F::Output {
    let mut work = pin!(work);
    poll_fn(|context| {
        let _owned = Owned::begin();
        work.as_mut().poll(context)
    })
    .await
}

/// Waits on this thread until `work` is done. Not to be called by a task.
pub fn wait<F: Future>(work: F) -> F::Output {
    let mut work = pin!(work);
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        let polled = {
            let _owned = Owned::begin();
            work.as_mut().poll(&mut context)
        };
        match polled {
            Poll::Ready(done) => return done,
            Poll::Pending => std::thread::park(),
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Does something that takes its time away from the thread of the task that wants it; in place, where
/// that thread belongs to it alone.
pub async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let Some(runtime) =
        (!may_block()).then(tokio::runtime::Handle::try_current).and_then(Result::ok)
    else {
        return work();
    };
    let place = OFF_THREAD.acquire().await;
    let done = runtime.spawn_blocking(work).await;
    drop(place);
    match done {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime ends, and with it everybody who would want to know.
            Err(_) => std::future::pending().await,
        },
    }
}

/// A journal for callers that may block: commands of a person, tests, reading threads.
#[derive(Debug)]
pub struct Blocking<'a, J: ?Sized>(&'a J);

/// The same journal, for callers that may block.
pub fn blocking<J: Journal + ?Sized>(journal: &J) -> Blocking<'_, J> {
    Blocking(journal)
}

impl<J: Journal + ?Sized> Blocking<'_, J> {
    /// A page of records, see [`Journal::read`].
    pub fn read(&self, run: &RunId, after: u64, bytes: usize) -> Result<Page, ReadError> {
        wait(self.0.read(run, after, bytes))
    }

    /// The first `count` records behind `after`, or as many as there are.
    pub fn records(&self, run: &RunId, after: u64, count: usize) -> Result<Vec<Record>, ReadError> {
        let mut found: Vec<Record> = Vec::new();
        while found.len() < count {
            let after = found.last().map_or(after, |record| record.seq);
            // Who wants one record gets one, and not a page of them.
            let bytes = if count - found.len() == 1 { 1 } else { PAGE_BYTES };
            let page = self.read(run, after, bytes)?;
            found.extend(page.records);
            if page.end {
                break;
            }
        }
        found.truncate(count);
        Ok(found)
    }

    /// All records behind `after`, read page by page. The first error is the last item.
    pub fn behind(
        self,
        run: &RunId,
        mut after: u64,
    ) -> impl Iterator<Item = Result<Record, ReadError>> {
        let (mut page, mut end) = (Vec::<Record>::new().into_iter(), false);
        std::iter::from_fn(move || {
            while page.len() == 0 && !end {
                match self.read(run, after, PAGE_BYTES) {
                    Ok(next) => (page, end) = (next.records.into_iter(), next.end),
                    Err(error) => {
                        end = true;
                        return Some(Err(error));
                    }
                }
            }
            let record = page.next()?;
            after = record.seq;
            Some(Ok(record))
        })
    }

    /// See [`Journal::head`].
    pub fn head(&self, run: &RunId) -> Result<Option<Head>, ReadError> {
        wait(self.0.head(run))
    }

    /// All runs, newest first; those whose lines make no sense are left out.
    pub fn runs(&self) -> Result<Vec<CastLine>, ReadError> {
        Ok(self.list()?.lines)
    }

    /// All runs, newest first, and what is wrong with those that cannot be listed.
    pub fn list(&self) -> Result<Lines, ReadError> {
        let mut all = Lines::default();
        loop {
            let page = wait(self.0.runs(all.next.as_ref(), PAGE_BYTES))?;
            all.lines.extend(page.lines);
            all.unreadable.extend(page.unreadable);
            all.next = page.next;
            if all.next.is_none() {
                return Ok(all);
            }
        }
    }

    /// See [`Journal::line`].
    pub fn line(&self, run: &RunId) -> Result<Option<CastLine>, ReadError> {
        wait(self.0.line(run))
    }

    /// The newest snapshot of a run, where the store keeps any.
    pub fn snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, ReadError> {
        self.0.snapshots().map_or(Ok(None), |kept| wait(kept.newest(run)))
    }

    /// The newest snapshot at an event or before it, likewise.
    pub fn snapshot_before(&self, run: &RunId, seq: u64) -> Result<Option<Snapshot>, ReadError> {
        self.0.snapshots().map_or(Ok(None), |kept| wait(kept.before(run, seq)))
    }

    /// The chapters of a run, where the store keeps any.
    pub fn chapters(&self, run: &RunId) -> Result<Vec<Chapter>, ReadError> {
        self.0.snapshots().map_or(Ok(Vec::new()), |kept| wait(kept.chapters(run)))
    }

    /// See [`Journal::claim`].
    pub fn claim(&self, run: &RunId) -> Result<Lease, ClaimError> {
        wait(self.0.claim(run))
    }

    /// See [`Journal::is_driven`].
    pub fn is_driven(&self, run: &RunId) -> Result<bool, ClaimError> {
        wait(self.0.is_driven(run))
    }

    /// See [`Journal::post`].
    pub fn post(&self, run: &RunId, command: &Command) -> Result<Posting, PostError> {
        wait(self.0.post(run, command))
    }

    /// See [`Journal::commands`].
    pub fn commands(&self, run: &RunId) -> Result<Vec<Posted>, ReadError> {
        wait(self.0.commands(run))
    }

    /// See [`Journal::receipt`].
    pub fn receipt(&self, run: &RunId, command: &CommandId) -> Result<Option<Receipt>, ReadError> {
        wait(self.0.receipt(run, command))
    }
}
