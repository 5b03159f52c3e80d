//! A new run that shares the beginning of another.
//!
//! The shared events are taken over as they are, with the ids they had; only the chain of hashes is
//! the new run's own. Where the last shared event stands in the middle of a decision, the rest of
//! that decision follows it, so that nothing the original had settled is lost.

use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{ChainHash, Event, EventBody, ForkedFrom, Record, RunId};
use materia_kernel::{Divergence, Recomputation};

use crate::load::walk;
use crate::{AppendError, Batch, Journal, LoadError};

/// How far a decision's input may lie behind its first event.
const LOOKAHEAD_EVENTS: u64 = 256;

/// Why a run could not be forked.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// The original could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The place that was asked for is not in the run.
    #[error("cast `{run}` has {last} events; there is no event {asked}")]
    NoSuchEvent {
        /// The run.
        run: RunId,
        /// What was asked for.
        asked: u64,
        /// What there is.
        last: u64,
    },
    /// The original does not follow from its inputs.
    #[error("cast `{run}` cannot be forked: {divergence}")]
    Diverges {
        /// The run.
        run: RunId,
        /// Where.
        divergence: Box<Divergence>,
    },
    /// The new run could not be written.
    #[error(transparent)]
    Append(#[from] AppendError),
}

/// Writes the beginning of `id`: the events of `from` up to `at`. It is then carried on like any run.
pub async fn fork(
    journal: &dyn Journal,
    from: &RunId,
    at: u64,
    id: &RunId,
) -> Result<(), ForkError> {
    let (events, hash) = shared(journal, from, at)?;
    let upto = events.last().map_or(at, |event| event.seq);
    let mut head = ChainHash::origin(id);
    let records: Arc<[Record]> = events
        .into_iter()
        .map(|event| as_of(event, from, (at, upto), &hash))
        .map(|event| {
            let record = Record::seal(&event, head);
            head = record.hash;
            record
        })
        .collect();
    let batch = Batch { run: id.clone(), after: 0, records, snapshot: None };
    Ok(journal.append(batch).await?)
}

/// The events up to `at` with the rest of the decision there, and the hash of the one at `at`.
fn shared(journal: &dyn Journal, from: &RunId, at: u64) -> Result<(Vec<Event>, String), ForkError> {
    let mut events: Vec<Event> = Vec::new();
    let mut hash = String::new();
    let mut last = 0;
    walk(journal, from, 0, ChainHash::origin(from), |record, event| {
        if record.seq == at {
            hash = record.hash.to_string();
        }
        if record.seq <= at + LOOKAHEAD_EVENTS {
            events.push(event.clone());
        }
        last = record.seq;
    })?;
    if last == 0 {
        return Err(LoadError::Unknown(from.clone()).into());
    }
    if at == 0 || at > last {
        return Err(ForkError::NoSuchEvent { run: from.clone(), asked: at, last });
    }
    let mut decided = Recomputation::new(from.clone());
    let kept = usize::try_from(at).unwrap_or(usize::MAX).min(events.len());
    for place in 0..kept {
        decided.next(&events[place..]).map_err(|divergence| ForkError::Diverges {
            run: from.clone(),
            divergence: Box::new(divergence),
        })?;
    }
    let (seq, ts) = (events[kept - 1].seq, events[kept - 1].ts);
    events.truncate(kept);
    events.extend(decided.rest_of_decision().map(|event| checked(event, seq, ts)));
    Ok((events, hash))
}

/// Only a bug could make the rest of a decision stand before its beginning.
fn checked(event: &Event, seq: u64, ts: Micros) -> Event {
    assert!(event.seq > seq && event.ts > ts, "a decision goes forward");
    event.clone()
}

/// The event as the fork has it: the first says where it comes from.
fn as_of(event: Event, from: &RunId, (at, upto): (u64, u64), hash: &str) -> Event {
    let Event { body: EventBody::RunCreated(mut created), seq, ts, wall, node } = event else {
        return event;
    };
    let mut written_by = created.fork.take().map(|fork| fork.written_by).unwrap_or_default();
    // What the original itself shares with its own original it has not written.
    match written_by.iter().position(|(_, last)| *last >= upto) {
        Some(place) => written_by.truncate(place + 1),
        None => written_by.push((from.clone(), upto)),
    }
    let (cast_id, hash) = (from.clone(), hash.to_owned());
    created.fork = Some(ForkedFrom { cast_id, seq: at, hash, written_by });
    created.from_cast_id = Some(from.to_string());
    Event { seq, ts, wall, node, body: EventBody::RunCreated(created) }
}
