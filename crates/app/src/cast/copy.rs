//! Copies a cast from one journal to another (M12).
//!
//! ```text
//! claim both ─► mark the copy ─► append ─► verify ─► mark the source ─► clear the mark of the copy
//! ```
//!
//! At every moment at most one of the two can be driven, also after a crash; the same command again completes the rest.

use materia_contract::body::CopiedBody;
use materia_contract::{BlobHash, ChainHash, Decided, Record, RunId};
use materia_engine::{AppendError, Batch, Epoch, Journal, blocking, named_by, wait};

use crate::project::place::CastJournal;
use crate::{Failure, Result};

/// All casts of a journal, oldest first.
pub fn all(journal: &dyn Journal) -> Result<Vec<RunId>> {
    let newest_first = blocking(journal).runs()?;
    Ok(newest_first.into_iter().rev().map(|line| line.cast_id).collect())
}

/// Copies a cast with its texts, verifies the copy, and lets the cast go on there.
pub fn copy(from: &dyn CastJournal, to: &dyn CastJournal, run: &RunId) -> Result<CopiedBody> {
    let (here, there) = (from.shown(), to.shown());
    let missing = || Failure::resolution(format!("there is no cast `{run}` in {here}"));
    blocking(from).head(run)?.ok_or_else(missing)?;
    let source = from.claim_moved(run)?;
    let target = to.claim_moved(run)?;
    // Nobody appends from here on.
    let head = blocking(from).head(run)?.ok_or_else(missing)?;
    if let Some(place) = from.moved(run)?.filter(|place| !to.is_noted_as(place)) {
        return Err(refused(run, &format!("it goes on in {place}; copy it from there")));
    }
    let before = blocking(to).head(run)?.map_or(0, |head| head.seq);
    begins_like(from, to, run, before, head.seq)?;
    if to.moved(run)?.is_none() {
        if before > 0 && from.moved(run)?.is_none() {
            let what = format!(
                "{there} has it already, and it may go on in both; copy it to another space"
            );
            return Err(refused(run, &what));
        }
        to.move_to(run, target.epoch(), Some(&from.noted())).map_err(|error| unwritten(&error))?;
    }
    append(from, to, run, target.epoch(), before)?;
    let replayed = materia_engine::replay(to, run, None)
        .map_err(|error| Failure::storage(format!("the copy does not verify: {error}")))?;
    if replayed.last_hash != head.hash {
        return Err(Failure::storage(format!("the copy of cast `{run}` ends with another event")));
    }
    from.move_to(run, source.epoch(), Some(&to.noted())).map_err(|error| unwritten(&error))?;
    to.move_to(run, target.epoch(), None).map_err(|error| unwritten(&error))?;
    let (events, added) = (head.seq, head.seq - before);
    Ok(CopiedBody { cast_id: run.clone(), from: here, to: there, events, added })
}

fn unwritten(error: &AppendError) -> Failure {
    Failure::storage(error.to_string())
}

fn refused(run: &RunId, why: &str) -> Failure {
    Failure::usage(format!("cast `{run}` is not copied: {why}"))
}

/// Whether the events that the other place has are the first ones of the cast.
fn begins_like(
    from: &dyn Journal,
    to: &dyn Journal,
    run: &RunId,
    count: u64,
    events: u64,
) -> Result<()> {
    let hash_at = |journal: &dyn Journal| -> Result<Option<ChainHash>> {
        let page = blocking(journal).read(run, count - 1, 1)?;
        Ok(page.records.first().map(|record| record.hash))
    };
    if count == 0 || (count <= events && hash_at(from)? == hash_at(to)?) {
        return Ok(());
    }
    Err(refused(run, "the other place has more or other events of a cast with this id"))
}

/// Appends the decisions behind an event, each with its receipt.
fn append(
    from: &dyn CastJournal,
    to: &dyn CastJournal,
    run: &RunId,
    epoch: Epoch,
    before: u64,
) -> Result<()> {
    let verdict = blocking(from).line(run)?.and_then(|line| line.verdict);
    let mut decision: Vec<Record> = Vec::new();
    let write = |records: &mut Vec<Record>| -> Result<()> {
        let Some(first) = records.first() else { return Ok(()) };
        let after = first.seq - 1;
        let decided = first.input.as_deref().and_then(|input| Decided::read(input).ok());
        let command = decided.and_then(|decided| decided.command);
        let receipt = match &command {
            Some(command) => wait(from.receipt(run, command))?,
            None => None,
        };
        let records = std::mem::take(records).into();
        let batch = Batch { run: run.clone(), epoch, after, records, receipt, verdict };
        to.append_moved(batch).map_err(|error| unwritten(&error))
    };
    for record in blocking(from).behind(run, before) {
        let record = record?;
        if record.input.is_some() {
            write(&mut decision)?;
        }
        texts(from, to, &record)?;
        decision.push(record);
    }
    write(&mut decision)
}

/// Puts the texts and files that an event names at the other place.
fn texts(from: &dyn Journal, to: &dyn Journal, record: &Record) -> Result<()> {
    let damaged = |what: &dyn std::fmt::Display| {
        Failure::storage(format!("event {} cannot be copied: {what}", record.seq))
    };
    for blob in record.blobs() {
        wait(to.blobs().put(blob.text.into_bytes())).map_err(|fault| damaged(&fault))?;
    }
    let event = record.event().map_err(|error| damaged(&error))?;
    for left in named_by(&event).into_iter().filter(|left| left.is_blob) {
        let Some(hash) = BlobHash::parse(&left.hash) else { continue };
        match wait(from.blobs().get(hash)) {
            Ok(bytes) => {
                wait(to.blobs().put(bytes)).map_err(|fault| damaged(&fault))?;
            }
            // A transcript may have been removed because of its age.
            Err(_) if left.is_transcript => {}
            Err(fault) => return Err(damaged(&fault)),
        }
    }
    Ok(())
}
