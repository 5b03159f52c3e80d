//! The one desk at which everything is appended, and the thread that works at it.
//!
//! The thread takes everything that waits and commits it in one transaction, so that a thousand
//! runs share one sync. A batch at a stale place is refused without spoiling the others. A run
//! that is the only one this process drives has nobody to share with: it sits down at the desk
//! itself, and two wake-ups a step are saved.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use materia_contract::{CastStatus, ChainHash, Record, RunId};
use materia_engine::{AppendError, Batch, Snapshot, status_after};
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};
use serde::Deserialize;
use tokio::sync::oneshot;

use super::fault::{append_error, is_busy};
use super::{Options, Stats, connect, read, schema};

/// Records in one transaction. More wait for the next one.
const GROUP_RECORDS_MAX: usize = 4_096;

/// How often the head of a run that goes on is noted. Noting it with every step would make a second
/// page durable each time, for no more than the few events since: those have the chain of hashes.
const HEAD_EVERY_EVENTS: u64 = 128;

/// Runs whose keys are remembered.
const KEYS_MAX: usize = 16_384;

/// What is kept of a request in the list of runs, in characters.
const REQUEST_CHARS_MAX: usize = 2_000;

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
        let desk = Desk { connection, delay, patience, counters, keys: Keys::new() };
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
    keys: Keys,
}

/// The runs that were written to here.
type Keys = HashMap<RunId, Place>;

/// Where a run is.
#[derive(Clone, Copy)]
struct Place {
    /// Its short key, which it keeps for ever.
    key: i64,
    /// The last event that was written here. Only who holds the claim on a run writes to it; if somebody
    /// else has done so all the same, the next event finds its place taken.
    last: u64,
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
            self.keys.clear();
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
            let answer = write(&self.connection, &mut self.keys, batch).map_err(|error| {
                if concerns_all(&error) { Failure::All(error) } else { Failure::Batch(error) }
            })?;
            if answer.is_ok() {
                written.batches += 1;
                written.records += batch.records.len() as u64;
                written.bytes += batch.records.iter().map(size).sum::<u64>();
            }
            answers.push(answer);
        }
        if written.batches == 0 {
            self.keys.clear();
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

fn size(record: &Record) -> u64 {
    let node = record.node.as_ref().map_or(0, String::len);
    (record.kind.len() + node + record.data.len() + record.hash.0.len()) as u64
}

/// Writes one batch into the open transaction, or says why it does not fit.
fn write(connection: &Connection, keys: &mut Keys, batch: &Batch) -> rusqlite::Result<Answer> {
    if let Some(fault) = misplaced(batch) {
        return Ok(Err(AppendError::Storage(fault)));
    }
    let Some(last) = batch.records.last() else {
        return Ok(Ok(()));
    };
    let known = keys.get(&batch.run).copied();
    let key = match known {
        Some(place) => place.key,
        None => match find_run(connection, &batch.run)? {
            Some(key) => key,
            None if batch.after == 0 => add_run(connection, &batch.run, &batch.records[0])?,
            None => return Ok(Err(conflict(batch, 0))),
        },
    };
    if known.is_none_or(|place| place.last != batch.after) {
        let actual = last_seq(connection, key)?;
        if actual != batch.after {
            return Ok(Err(conflict(batch, actual)));
        }
    }
    let (first, rest) = batch.records.split_at(1);
    match add_records(connection, key, first) {
        // Nothing of this batch has been written: the others of its group can go on.
        Err(error) if is_taken(&error) => {
            return Ok(Err(conflict(batch, last_seq(connection, key)?)));
        }
        added => added?,
    }
    add_records(connection, key, rest)?;
    let status = batch.records.iter().rev().find_map(|record| status_after(&record.kind));
    if let Some(status) = status {
        connection
            .prepare_cached("UPDATE runs SET status = ?2 WHERE run = ?1")?
            .execute(params![key, status.word()])?;
    }
    if status.is_some() || batch.after / HEAD_EVERY_EVENTS != last.seq / HEAD_EVERY_EVENTS {
        connection
            .prepare_cached("UPDATE heads SET seq = ?2, hash = ?3 WHERE run = ?1")?
            .execute(params![key, last.seq.cast_signed(), last.hash.0])?;
    }
    if let Some(snapshot) = &batch.snapshot {
        keep_snapshot(connection, key, snapshot)?;
    }
    if let Some(place) = keys.get_mut(&batch.run) {
        place.last = last.seq;
    } else {
        if keys.len() >= KEYS_MAX {
            keys.clear();
        }
        keys.insert(batch.run.clone(), Place { key, last: last.seq });
    }
    Ok(Ok(()))
}

/// Whether somebody else's event is at the place of this one.
fn is_taken(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

/// Where a run ends now, whoever has written to it.
fn last_seq(connection: &Connection, key: i64) -> rusqlite::Result<u64> {
    let places = [schema::place(key, 0), schema::place(key, u64::MAX)];
    let last = connection
        .prepare_cached(
            "SELECT place FROM events WHERE place > ?1 AND place <= ?2 ORDER BY place DESC LIMIT 1",
        )?
        .query_row(places, |row| row.get(0))
        .optional()?;
    Ok(last.map_or(0, schema::seq_at))
}

fn conflict(batch: &Batch, actual: u64) -> AppendError {
    AppendError::Conflict { run: batch.run.clone(), expected: batch.after, actual }
}

fn find_run(connection: &Connection, run: &RunId) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT run FROM runs WHERE id = ?1")?
        .query_row([run.as_str()], |row| row.get(0))
        .optional()
}

/// Only a bug can number records wrongly; it must not get into the journal.
fn misplaced(batch: &Batch) -> Option<String> {
    let places = batch.after + 1..;
    let wrong = batch.records.iter().zip(places).find(|(record, place)| record.seq != *place)?;
    let (record, place) = wrong;
    Some(format!("event {} of cast `{}` came at place {place}", record.seq, batch.run))
}

fn add_records(connection: &Connection, key: i64, records: &[Record]) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO events (place, ts, lag, type, node, data, hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for record in records {
        insert.execute(params![
            schema::place(key, record.seq),
            record.ts,
            record.ts.wrapping_sub(record.wall),
            record.kind,
            record.node,
            record.data,
            record.hash.0,
        ])?;
    }
    Ok(())
}

/// The few fields of `run.created` that the list of runs shows.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Created {
    request: String,
    plan: CreatedPlan,
    from_cast_id: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CreatedPlan {
    loadout: String,
}

fn add_run(connection: &Connection, run: &RunId, first: &Record) -> rusqlite::Result<i64> {
    // A summary that cannot be made does not keep the records out.
    let created: Created = serde_json::from_str(&first.data).unwrap_or_default();
    let request: String = created.request.chars().take(REQUEST_CHARS_MAX).collect();
    let status = status_after(&first.kind).unwrap_or(CastStatus::Running);
    connection
        .prepare_cached(
            "INSERT INTO runs (id, status, loadout, request, started, from_cast)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            run.as_str(),
            status.word(),
            created.plan.loadout,
            request,
            first.wall,
            created.from_cast_id,
        ])?;
    let key = connection.last_insert_rowid();
    let origin = ChainHash::origin(run);
    connection
        .prepare_cached("INSERT INTO heads (run, seq, hash) VALUES (?1, 0, ?2)")?
        .execute(params![key, origin.0])?;
    Ok(key)
}

fn keep_snapshot(connection: &Connection, key: i64, snapshot: &Snapshot) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO snapshots (run, seq, hash, version, bytes, checksum)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            key,
            snapshot.seq.cast_signed(),
            snapshot.hash.0,
            snapshot.version,
            snapshot.bytes,
            read::checksum(snapshot),
        ])?;
    Ok(())
}

/// Counts what was committed.
#[derive(Debug, Default)]
pub(super) struct Counters {
    commits: AtomicU64,
    batches: AtomicU64,
    records: AtomicU64,
    bytes: AtomicU64,
}

impl Counters {
    fn add(&self, stats: &Stats) {
        self.commits.fetch_add(stats.commits, Ordering::Relaxed);
        self.batches.fetch_add(stats.batches, Ordering::Relaxed);
        self.records.fetch_add(stats.records, Ordering::Relaxed);
        self.bytes.fetch_add(stats.bytes, Ordering::Relaxed);
    }

    pub(super) fn stats(&self) -> Stats {
        Stats {
            commits: self.commits.load(Ordering::Relaxed),
            batches: self.batches.load(Ordering::Relaxed),
            records: self.records.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }
}
