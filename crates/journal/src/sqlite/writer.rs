//! Single writer: batches all appends.
//!
//! Its thread takes all waiting jobs and commits them in one transaction, so that a thousand runs share one sync. A
//! batch at a stale place is refused without harm to the others. A run that is the only one of this process and has a
//! thread of its own writes directly, which saves two wake-ups a step. Where another process holds the lock, it hands
//! the batch to the thread, so that the caller does not wait.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use materia_contract::{Record, RunId};
use materia_engine::{AppendError, Batch, Epoch, Snapshot, record_bytes};
use rusqlite::{Connection, ErrorCode};
use tokio::sync::oneshot;

use super::anchor::Anchor;
use super::append::Appender;
use super::changes::Changes;
use super::fault::{Fault, append_error, is_busy};
use super::rescue::Home;
use super::{Stats, connect, lease, moved};

/// Records in one transaction. More wait for the next one.
const GROUP_RECORDS_MAX: usize = 4_096;

type Answer = Result<(), AppendError>;

/// A write, and the channel for its result.
pub(super) enum Job {
    /// Records.
    Append(Batch, oneshot::Sender<Answer>),
    /// Claims a run.
    Claim(Claim, oneshot::Sender<Result<Epoch, AppendError>>),
    /// A snapshot. It is written with the next records of its run, without an answer.
    Keep(RunId, Box<Snapshot>),
}

/// A claim of a run.
pub(super) struct Claim {
    pub(super) run: RunId,
    /// Whether it may have been copied to another journal: so that the copy can come home.
    pub(super) even_moved: bool,
}

impl Job {
    fn records(&self) -> usize {
        match self {
            Self::Append(batch, _) => batch.records.len(),
            Self::Claim(..) | Self::Keep(..) => 0,
        }
    }

    fn answer(self, answer: Result<Done, AppendError>) {
        // If the run was dropped, there is no receiver.
        match (self, answer) {
            (Self::Append(_, waiting), answer) => drop(waiting.send(answer.map(|_| ()))),
            (Self::Claim(_, waiting), Ok(Done::Claimed(epoch))) => drop(waiting.send(Ok(epoch))),
            (Self::Claim(_, waiting), Err(error)) => drop(waiting.send(Err(error))),
            (Self::Claim(..), Ok(Done::Written)) | (Self::Keep(..), _) => {}
        }
    }
}

/// Result of a group: answered jobs, and jobs that are left for the next one.
#[derive(Default)]
struct Settled {
    answered: Vec<(Job, Result<Done, AppendError>)>,
    left: Vec<Job>,
}

fn answer_all(answered: Vec<(Job, Result<Done, AppendError>)>) {
    for (job, answer) in answered {
        job.answer(answer);
    }
}

/// Result of a job.
enum Done {
    Written,
    Claimed(Epoch),
}

/// The connection for writing, and a thread for callers that do not write themselves. Dropping it lets the thread
/// finish what it was given.
pub(super) struct Writer {
    desk: Arc<Mutex<WriterState>>,
    /// Started with the first job for it; `None` if the system gave no thread.
    thread: OnceLock<Option<Working>>,
}

/// The running thread.
struct Working {
    jobs: Sender<Job>,
    thread: JoinHandle<()>,
}

impl Writer {
    pub(super) fn new(
        connection: Connection,
        home: Home,
        counters: Arc<Counters>,
        changes: Arc<Changes>,
    ) -> io::Result<Self> {
        let delay = home.options.commit_delay;
        let patience = home.options.busy_timeout;
        let (appender, anchor) = (Appender::default(), Anchor::of(&home.path)?);
        let desk =
            WriterState { connection, anchor, home, delay, patience, counters, changes, appender };
        Ok(Self { desk: Arc::new(Mutex::new(desk)), thread: OnceLock::new() })
    }

    /// Queues a job. Its receiver fails only if there is no thread.
    pub(super) fn hand_in(&self, job: Job) {
        if let Some(working) = self.thread.get_or_init(|| self.start()) {
            // An error drops the job and with it the sender, which the receiver notices.
            let _ = working.jobs.send(job);
        }
    }

    fn start(&self) -> Option<Working> {
        let (jobs, waiting) = mpsc::channel();
        let shared = Arc::clone(&self.desk);
        let thread = thread::Builder::new().name("journal".to_owned());
        let thread = thread.spawn(move || work(&shared, &waiting)).ok()?;
        Some(Working { jobs, thread })
    }

    /// Runs a job on the caller's thread, if no other thread is writing; otherwise returns the job.
    pub(super) fn do_here(&self, job: Job) -> Option<Job> {
        let Ok(mut desk) = self.desk.try_lock() else { return Some(job) };
        let Settled { answered, mut left } = desk.settle(vec![job], Duration::ZERO);
        drop(desk);
        answer_all(answered);
        left.pop()
    }

    /// Reads with the connection for writing, if no other thread uses it. After a fault there is no result: a connection for
    /// reading finds the reason.
    pub(super) fn read_here<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Option<T> {
        let desk = self.desk.try_lock().ok()?;
        read(&desk.connection).ok()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(Working { jobs, thread }) = self.thread.take().flatten() {
            drop(jobs);
            // A panic in there has already been answered by `gone`.
            let _ = thread.join();
        }
    }
}

/// The answer where no writer is left to give one.
pub(super) fn gone() -> AppendError {
    AppendError::Storage("its writer has ended".to_owned())
}

struct WriterState {
    connection: Connection,
    /// Which file that is.
    anchor: Anchor,
    home: Home,
    delay: Option<Duration>,
    patience: Duration,
    counters: Arc<Counters>,
    changes: Arc<Changes>,
    appender: Appender,
}

/// Why a transaction failed.
enum Failure {
    /// One batch was the reason: the others can do without it.
    Batch(rusqlite::Error),
    /// No batch can be written now.
    All(rusqlite::Error),
}

/// Works until all senders are gone.
fn work(desk: &Mutex<WriterState>, waiting: &Receiver<Job>) {
    while let Ok(first) = waiting.recv() {
        let mut desk = desk.lock().unwrap_or_else(PoisonError::into_inner);
        let mut records = first.records();
        let mut group = vec![first];
        while records < GROUP_RECORDS_MAX
            && let Ok(job) = waiting.try_recv()
        {
            records += job.records();
            group.push(job);
        }
        let patience = desk.patience;
        let settled = desk.settle(group, patience);
        // Unlocked first, so that a caller with its answer finds the lock free.
        drop(desk);
        answer_all(settled.answered);
    }
}

impl WriterState {
    /// Writes a group. Leaves it where other processes were in the way and there was no patience at all to
    /// wait for them.
    fn settle(&mut self, group: Vec<Job>, patience: Duration) -> Settled {
        let mut settled = Settled::default();
        match self.commit(&group, patience) {
            Ok(answers) => settled.answered = group.into_iter().zip(answers).collect(),
            Err(Failure::All(error)) if patience.is_zero() && is_busy(&error) => {
                settled.left = group;
            }
            Err(Failure::Batch(_)) if group.len() > 1 => {
                for job in group {
                    settled.answered.extend(self.settle(vec![job], patience).answered);
                }
            }
            Err(Failure::Batch(error) | Failure::All(error)) => {
                let failed = |job| (job, Err(append_error(&error)));
                settled.answered = group.into_iter().map(failed).collect();
            }
        }
        settled
    }

    fn commit(
        &mut self,
        group: &[Job],
        patience: Duration,
    ) -> Result<Vec<Result<Done, AppendError>>, Failure> {
        if group.iter().all(|job| matches!(job, Job::Keep(..))) {
            return Ok(group.iter().map(|job| Ok(self.put_by(job))).collect());
        }
        let since = Instant::now();
        let begin = || self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([]);
        connect::patiently(patience, is_busy, begin).map_err(Failure::All)?;
        let result = self.fill(group);
        if result.is_err() {
            // The cached state of this transaction is invalid now.
            self.appender.forget();
            if !self.connection.is_autocommit() {
                // SQLite has rolled back some faults by itself; the rest is ours to undo.
                let _ = self.connection.execute_batch("ROLLBACK");
            }
        }
        let answers = result.map(|answers| self.counted(answers));
        let took = u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.counters.micros.fetch_add(took, Ordering::Relaxed);
        answers
    }

    /// Checks that the commit is in the file that other processes find under the journal's name.
    fn counted(
        &mut self,
        answers: Vec<Result<Done, AppendError>>,
    ) -> Vec<Result<Done, AppendError>> {
        let why = match self.home.hold(&self.connection, &mut self.anchor) {
            Ok(None) => return answers,
            Ok(Some(connection)) => {
                self.connection = connection;
                self.appender.forget();
                self.counters.restored.fetch_add(1, Ordering::Relaxed);
                return answers;
            }
            Err(why) => why,
        };
        let lost = |answer: Result<Done, AppendError>| {
            answer.and_then(|_| Err(AppendError::Displaced(why.clone())))
        };
        answers.into_iter().map(lost).collect()
    }

    /// A snapshot waits for the records that come with it.
    fn put_by(&mut self, job: &Job) -> Done {
        if let Job::Keep(run, snapshot) = job {
            self.appender.put_by(run.clone(), (**snapshot).clone());
        }
        Done::Written
    }

    fn fill(&mut self, group: &[Job]) -> Result<Vec<Result<Done, AppendError>>, Failure> {
        let failed =
            |error| if concerns_all(&error) { Failure::All(error) } else { Failure::Batch(error) };
        let mut answers = Vec::with_capacity(group.len());
        let mut written = Stats { commits: 1, ..Stats::default() };
        let mut anything = false;
        self.appender.begin(&self.connection).map_err(failed)?;
        for job in group {
            let batch = match job {
                Job::Append(batch, _) => batch,
                Job::Claim(Claim { run, even_moved }, _) => {
                    let moved = moved::place(&self.connection, run).map_err(failed)?;
                    if let Some(place) = moved.filter(|_| !even_moved) {
                        answers.push(Err(AppendError::moved(run, &place)));
                        continue;
                    }
                    let epoch = lease::begin(&self.connection, run).map_err(failed)?;
                    self.appender.leased(run, epoch);
                    anything = true;
                    answers.push(Ok(Done::Claimed(epoch)));
                    continue;
                }
                Job::Keep(..) => {
                    let put_by = self.put_by(job);
                    answers.push(Ok(put_by));
                    continue;
                }
            };
            let answer = self.appender.write(&self.connection, batch).map_err(failed)?;
            if answer.is_ok() {
                anything = true;
                written.batches += 1;
                written.decisions += begun(&batch.records);
                written.records += batch.records.len() as u64;
                written.bytes +=
                    batch.records.iter().map(|it| record_bytes(it) as u64).sum::<u64>();
            }
            answers.push(answer.map(|()| Done::Written));
        }
        if !anything {
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
        tracing::debug!(batches = written.batches, records = written.records, "committed");
        for (job, answer) in group.iter().zip(&answers) {
            if let (Job::Append(batch, _), Ok(_)) = (job, answer) {
                self.changes.tell(&batch.run);
            }
        }
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

/// Counts what was committed.
#[derive(Debug, Default)]
pub(super) struct Counters {
    commits: AtomicU64,
    batches: AtomicU64,
    decisions: AtomicU64,
    records: AtomicU64,
    bytes: AtomicU64,
    restored: AtomicU64,
    /// How long all commits took together, in microseconds.
    micros: AtomicU64,
}

impl Counters {
    /// How often the file had to be written again.
    pub(super) fn restored(&self) -> u64 {
        self.restored.load(Ordering::Relaxed)
    }

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
            commit_time: Duration::from_micros(self.micros.load(Ordering::Relaxed)),
        }
    }
}
