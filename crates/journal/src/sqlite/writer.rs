//! The one desk at which everything is appended, and the thread that works at it.
//!
//! The thread takes everything that waits and commits it in one transaction, so that a thousand
//! runs share one sync. A batch at a stale place is refused without spoiling the others. A run
//! that is the only one this process drives has nobody to share with: it sits down at the desk
//! itself, and two wake-ups a step are saved.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use materia_contract::Record;
use materia_engine::{AppendError, Batch};
use rusqlite::{Connection, ErrorCode};
use tokio::sync::oneshot;

use super::append::Appender;
use super::fault::{append_error, is_busy};
use super::{Options, Stats, connect};

/// Records in one transaction. More wait for the next one.
const GROUP_RECORDS_MAX: usize = 4_096;

type Answer = Result<(), AppendError>;

struct Job {
    batch: Batch,
    answer: oneshot::Sender<Answer>,
}

/// The thread and the way to it. Dropping it lets the thread finish what it was given.
pub(super) struct Writer {
    desk: Arc<Mutex<Desk>>,
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(
        connection: Connection,
        options: &Options,
        counters: Arc<Counters>,
    ) -> io::Result<Self> {
        let (jobs, waiting) = mpsc::channel();
        let delay = options.commit_delay;
        let patience = options.busy_timeout;
        let desk = Desk { connection, delay, patience, counters, appender: Appender::default() };
        let desk = Arc::new(Mutex::new(desk));
        let shared = Arc::clone(&desk);
        let thread = thread::Builder::new().name("journal".to_owned()).spawn(move || {
            work(&shared, &waiting);
        })?;
        Ok(Self { desk, jobs: Some(jobs), thread: Some(thread) })
    }

    /// Queues a batch, or writes it at once for a run that is `alone`. The receiver fails only if
    /// the thread has died.
    pub(super) fn hand_in(&self, batch: Batch, alone: bool) -> oneshot::Receiver<Answer> {
        let (answer, receiver) = oneshot::channel();
        if alone && let Ok(mut desk) = self.desk.try_lock() {
            desk.settle(vec![Job { batch, answer }]);
        } else if let Some(jobs) = &self.jobs {
            // An error drops the job and with it the sender, which the receiver notices.
            let _ = jobs.send(Job { batch, answer });
        }
        receiver
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // A panic in there has already been answered by `gone`.
            let _ = thread.join();
        }
    }
}

/// The answer where no writer is left to give one.
pub(super) fn gone() -> AppendError {
    AppendError::Storage("its writer has ended".to_owned())
}

struct Desk {
    connection: Connection,
    delay: Option<Duration>,
    patience: Duration,
    counters: Arc<Counters>,
    appender: Appender,
}

/// Why a transaction came to nothing.
enum Failure {
    /// One batch was the reason: the others can do without it.
    Batch(rusqlite::Error),
    /// No batch can be written now.
    All(rusqlite::Error),
}

/// Works until nobody can hand anything in any more.
fn work(desk: &Mutex<Desk>, waiting: &Receiver<Job>) {
    while let Ok(first) = waiting.recv() {
        let mut desk = desk.lock().unwrap_or_else(PoisonError::into_inner);
        let mut records = first.batch.records.len();
        let mut group = vec![first];
        while records < GROUP_RECORDS_MAX
            && let Ok(job) = waiting.try_recv()
        {
            records += job.batch.records.len();
            group.push(job);
        }
        desk.settle(group);
    }
}

impl Desk {
    /// Writes a group and answers every job in it.
    fn settle(&mut self, group: Vec<Job>) {
        match self.commit(&group) {
            Ok(answers) => {
                for (job, answer) in group.into_iter().zip(answers) {
                    // Nobody listens where the run was dropped meanwhile.
                    let _ = job.answer.send(answer);
                }
            }
            Err(Failure::Batch(_)) if group.len() > 1 => {
                for job in group {
                    self.settle(vec![job]);
                }
            }
            Err(Failure::Batch(error) | Failure::All(error)) => {
                for job in group {
                    let _ = job.answer.send(Err(append_error(&error)));
                }
            }
        }
    }

    fn commit(&mut self, group: &[Job]) -> Result<Vec<Answer>, Failure> {
        let begin = || self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([]);
        connect::patiently(self.patience, is_busy, begin).map_err(Failure::All)?;
        let result = self.fill(group);
        if result.is_err() {
            // What was learned in this transaction is no longer true.
            self.appender.forget();
            if !self.connection.is_autocommit() {
                // SQLite has rolled back some faults by itself; the rest is ours to undo.
                let _ = self.connection.execute_batch("ROLLBACK");
            }
        }
        result
    }

    fn fill(&mut self, group: &[Job]) -> Result<Vec<Answer>, Failure> {
        let mut answers = Vec::with_capacity(group.len());
        let mut written = Stats { commits: 1, ..Stats::default() };
        for Job { batch, .. } in group {
            let answer = self.appender.write(&self.connection, batch).map_err(|error| {
                if concerns_all(&error) { Failure::All(error) } else { Failure::Batch(error) }
            })?;
            if answer.is_ok() {
                written.batches += 1;
                written.decisions += begun(&batch.records);
                written.records += batch.records.len() as u64;
                written.bytes += batch.records.iter().map(size).sum::<u64>();
            }
            answers.push(answer);
        }
        if written.batches == 0 {
            self.appender.forget();
            self.connection.execute_batch("ROLLBACK").map_err(Failure::All)?;
            return Ok(answers);
        }
        if let Some(delay) = self.delay {
            thread::sleep(delay);
        }
        let commit = || self.connection.prepare_cached("COMMIT")?.execute([]);
        commit().map_err(Failure::All)?;
        self.counters.add(&written);
        Ok(answers)
    }
}

/// Whether a fault would meet every other batch as well.
fn concerns_all(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::OutOfMemory
                | ErrorCode::ReadOnly
        )
    )
}

/// How many decisions begin among these records.
fn begun(records: &[Record]) -> u64 {
    records.iter().filter(|record| record.input.is_some()).count() as u64
}

fn size(record: &Record) -> u64 {
    let optional = [&record.node, &record.input].map(|text| text.as_ref().map_or(0, String::len));
    let texts = record.kind.len() + record.data.len() + optional.iter().sum::<usize>();
    (texts + record.hash.0.len()) as u64
}

/// Counts what was committed.
#[derive(Debug, Default)]
pub(super) struct Counters {
    commits: AtomicU64,
    batches: AtomicU64,
    decisions: AtomicU64,
    records: AtomicU64,
    bytes: AtomicU64,
}

impl Counters {
    fn add(&self, stats: &Stats) {
        self.commits.fetch_add(stats.commits, Ordering::Relaxed);
        self.batches.fetch_add(stats.batches, Ordering::Relaxed);
        self.decisions.fetch_add(stats.decisions, Ordering::Relaxed);
        self.records.fetch_add(stats.records, Ordering::Relaxed);
        self.bytes.fetch_add(stats.bytes, Ordering::Relaxed);
    }

    pub(super) fn stats(&self) -> Stats {
        Stats {
            commits: self.commits.load(Ordering::Relaxed),
            batches: self.batches.load(Ordering::Relaxed),
            decisions: self.decisions.load(Ordering::Relaxed),
            records: self.records.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }
}
