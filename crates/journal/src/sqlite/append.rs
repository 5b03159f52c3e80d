//! Writes one batch into an open transaction, or returns why it does not fit.

use std::collections::HashMap;

use materia_contract::{CastStatus, ChainHash, Record, RunId};
use materia_engine::{AppendError, Batch, Epoch, Snapshot, refusal_of_ended, status_after};
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};
use serde::Deserialize;

use super::decisions::{self, Scratch};
use super::{inbox, lease, list, snapshots};

/// How often the head of a run that goes on is noted. Noting it with every step would make a second
/// page durable each time, for no more than the few events since: those have the chain of hashes.
const HEAD_EVERY_EVENTS: u64 = 128;

/// Runs whose keys are remembered.
const KEYS_MAX: usize = 16_384;

/// The most characters of a request in the list of runs.
const REQUEST_CHARS_MAX: usize = 2_000;

type Answer = Result<(), AppendError>;

/// Where a run is.
#[derive(Clone, Copy)]
struct Place {
    /// Its short key, which it keeps for ever.
    key: i64,
    /// The last event that was written here. Only the holder of the lease writes to a run; if another process wrote
    /// anyway, the next decision finds its place taken.
    last: u64,
}

/// State that is kept from one batch to the next.
#[derive(Default)]
pub(super) struct Appender {
    /// The runs that were written to here.
    places: HashMap<RunId, Place>,
    /// The newest lease of each, as long as no other process has written anything.
    epochs: HashMap<RunId, Epoch>,
    /// Changes when another process writes.
    version: i64,
    /// Snapshots that wait for the records of their run.
    snapshots: Vec<(RunId, Snapshot)>,
    scratch: Scratch,
}

impl Appender {
    /// Drops the state after a transaction that was rolled back.
    pub(super) fn forget(&mut self) {
        self.places.clear();
        self.epochs.clear();
    }

    /// Looks, at the beginning of a transaction, whether what is remembered still holds.
    pub(super) fn begin(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let version = connection
            .prepare_cached("PRAGMA data_version")?
            .query_row([], |row| row.get::<_, i64>(0))?;
        if self.version != version || self.epochs.len() >= KEYS_MAX {
            self.version = version;
            self.epochs.clear();
        }
        Ok(())
    }

    /// Remembers a lease that was given in this transaction.
    pub(super) fn leased(&mut self, run: &RunId, epoch: Epoch) {
        self.epochs.insert(run.clone(), epoch);
    }

    /// Lets a snapshot wait for the next records of its run.
    pub(super) fn put_by(&mut self, run: RunId, snapshot: Snapshot) {
        self.snapshots.retain(|(of, _)| *of != run);
        self.snapshots.push((run, snapshot));
    }

    /// Whether a batch comes under the newest lease of its run; if not, why it is refused.
    fn fenced(
        &mut self,
        connection: &Connection,
        batch: &Batch,
    ) -> rusqlite::Result<Option<AppendError>> {
        let newest = if let Some(epoch) = self.epochs.get(&batch.run) {
            *epoch
        } else {
            let epoch = lease::newest(connection, &batch.run)?;
            self.leased(&batch.run, epoch);
            epoch
        };
        let (run, epoch) = (&batch.run, batch.epoch);
        let error = || AppendError::Fenced { run: run.clone(), epoch, newest };
        Ok((epoch != newest).then(error))
    }

    /// Writes a batch. Where it does not fit, nothing of it has been written; behind an error a
    /// part of it may be there.
    pub(super) fn write(
        &mut self,
        connection: &Connection,
        batch: &Batch,
    ) -> rusqlite::Result<Answer> {
        if let Some(fault) = misplaced(batch).or_else(|| decisions::misfit(&batch.records)) {
            return Ok(Err(AppendError::Storage(fault)));
        }
        if let Some(fenced) = self.fenced(connection, batch)? {
            return Ok(Err(fenced));
        }
        // Only a driver that has lost its way answers a command twice.
        if let Some(receipt) = &batch.receipt
            && inbox::is_answered(connection, &batch.run, &receipt.command)?
        {
            let fault = format!("command {} has been answered before", receipt.command);
            return Ok(Err(AppendError::Storage(fault)));
        }
        let found = match self.place(connection, batch)? {
            Ok(found) => found,
            Err(error) => return Ok(Err(error)),
        };
        let place = match (found, batch.records.first()) {
            (Some(place), _) => Some(place),
            (None, Some(first)) => Some(add_run(connection, &batch.run, first)?),
            // A command for an unknown run gets a receipt, too.
            (None, None) => None,
        };
        if let Some(place) = place {
            if let Err(actual) = self.add(connection, place, &batch.records)? {
                return Ok(Err(conflict(batch, actual.last)));
            }
            note(connection, place, batch)?;
            if !batch.records.is_empty() {
                self.keep_snapshot(connection, place, &batch.run)?;
            }
            let last = batch.records.last().map_or(place.last, |record| record.seq);
            self.remember(&batch.run, Place { last, ..place });
        }
        if let Some(receipt) = &batch.receipt {
            inbox::answer(connection, &batch.run, receipt)?;
        }
        // Commands that arrived while the run ended are refused.
        if let Some(reason) = status(batch).and_then(refusal_of_ended) {
            inbox::refuse_all(connection, &batch.run, &reason)?;
        }
        Ok(Ok(()))
    }

    /// Where the run of a batch is; `None` if there is none yet.
    fn place(
        &self,
        connection: &Connection,
        batch: &Batch,
    ) -> rusqlite::Result<Result<Option<Place>, AppendError>> {
        let known = self.places.get(&batch.run).copied();
        // If another process wrote to the run, the insert finds the place taken.
        if let Some(place) = known.filter(|place| place.last == batch.after)
            && !batch.records.is_empty()
        {
            return Ok(Ok(Some(place)));
        }
        let key = match known {
            Some(place) => Some(place.key),
            None => find_run(connection, &batch.run)?,
        };
        let actual = key.map(|key| end_of(connection, key)).transpose()?;
        let last = actual.map_or(0, |place| place.last);
        Ok(if last == batch.after { Ok(actual) } else { Err(conflict(batch, last)) })
    }

    /// Adds the rows of a batch, unless another process has taken the place of the first.
    fn add(
        &mut self,
        connection: &Connection,
        place: Place,
        records: &[Record],
    ) -> rusqlite::Result<Result<(), Place>> {
        for (nth, decision) in decisions::of(records).enumerate() {
            match decisions::add(connection, &mut self.scratch, place.key, decision) {
                // Nothing of this batch has been written: the others of its group can go on.
                Err(error) if nth == 0 && is_taken(&error) => {
                    return Ok(Err(end_of(connection, place.key)?));
                }
                added => added?,
            }
        }
        Ok(Ok(()))
    }

    /// Keeps the snapshot that waits for these records, if one does.
    fn keep_snapshot(
        &mut self,
        connection: &Connection,
        place: Place,
        run: &RunId,
    ) -> rusqlite::Result<()> {
        let Some(at) = self.snapshots.iter().position(|(of, _)| of == run) else { return Ok(()) };
        let (_, snapshot) = self.snapshots.swap_remove(at);
        snapshots::keep(connection, place.key, &snapshot)
    }

    fn remember(&mut self, run: &RunId, place: Place) {
        if let Some(known) = self.places.get_mut(run) {
            *known = place;
            return;
        }
        if self.places.len() >= KEYS_MAX {
            self.places.clear();
        }
        self.places.insert(run.clone(), place);
    }
}

/// Only a bug can number records wrongly; it must not get into the journal.
fn misplaced(batch: &Batch) -> Option<String> {
    let places = batch.after + 1..;
    let wrong = batch.records.iter().zip(places).find(|(record, place)| record.seq != *place)?;
    let (record, place) = wrong;
    Some(format!("event {} of cast `{}` came at place {place}", record.seq, batch.run))
}

/// Whether there is already another event at this place.
fn is_taken(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
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

/// The current end of a run, including records of other processes.
fn end_of(connection: &Connection, key: i64) -> rusqlite::Result<Place> {
    let last = decisions::last(connection, key)?.map_or(0, |(last, ..)| last);
    Ok(Place { key, last })
}

/// The status that a run has behind a batch, if the batch says.
fn status(batch: &Batch) -> Option<CastStatus> {
    batch.records.iter().rev().find_map(|record| status_after(&record.kind))
}

/// Notes what the other tables say of a run, as far as a batch changes it.
fn note(connection: &Connection, place: Place, batch: &Batch) -> rusqlite::Result<()> {
    let status = status(batch);
    if let Some(status) = status {
        connection
            .prepare_cached("UPDATE runs SET status = ?2 WHERE run = ?1")?
            .execute(params![place.key, list::status_word(status, batch.verdict)])?;
    }
    if let Some(last) = batch.records.last()
        && (status.is_some() || batch.after / HEAD_EVERY_EVENTS != last.seq / HEAD_EVERY_EVENTS)
    {
        connection
            .prepare_cached("UPDATE heads SET seq = ?2, hash = ?3 WHERE run = ?1")?
            .execute(params![place.key, last.seq.cast_signed(), last.hash.0])?;
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
    #[serde(deserialize_with = "absent_or")]
    fork: CreatedFork,
}

/// Reads `null` as absent.
fn absent_or<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<CreatedFork, D::Error> {
    Ok(Option::<CreatedFork>::deserialize(deserializer)?.unwrap_or_default())
}

/// The start time of a fork.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CreatedFork {
    started: Option<i64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CreatedPlan {
    loadout: String,
}

fn add_run(connection: &Connection, run: &RunId, first: &Record) -> rusqlite::Result<Place> {
    // A summary that cannot be made does not keep the records out.
    let created: Created =
        serde_json::from_str(first.whole_data().unwrap_or_default()).unwrap_or_default();
    let request: String = created.request.chars().take(REQUEST_CHARS_MAX).collect();
    let status = status_after(&first.kind).unwrap_or(CastStatus::Running);
    let key = connection
        .prepare_cached(
            "INSERT INTO runs (id, status, loadout, request, started, from_cast)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .insert(params![
            run.as_str(),
            status.word(),
            created.plan.loadout,
            request,
            created.fork.started.unwrap_or(first.wall),
            created.from_cast_id,
        ])?;
    let origin = ChainHash::origin(run);
    connection
        .prepare_cached("INSERT INTO heads (run, seq, hash) VALUES (?1, 0, ?2)")?
        .execute(params![key, origin.0])?;
    Ok(Place { key, last: 0 })
}
