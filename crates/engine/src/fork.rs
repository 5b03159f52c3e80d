//! A new run that shares the beginning of another.
//!
//! The shared events are taken over as they are, with the ids they had; only the chain of hashes is
//! the new run's own. A decision is never cut in two.

use std::sync::Arc;

use materia_contract::{ChainHash, Event, EventBody, ForkedFrom, Record, RunId};
use materia_kernel::Divergence;

use crate::again::Again;
use crate::load::walk;
use crate::{AppendError, Batch, Journal, LoadError};

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
///
/// Where `at` stands in the middle of a decision, the rest of that decision comes along: what the
/// original had settled is not lost.
pub async fn fork(
    journal: &dyn Journal,
    from: &RunId,
    at: u64,
    id: &RunId,
) -> Result<(), ForkError> {
    let shared = shared(journal, from, at)?;
    let upto = shared.last().map_or(at, |(record, _)| record.seq);
    let place = usize::try_from(at - 1).unwrap_or(usize::MAX);
    let hash = shared.get(place).map(|(record, _)| record.hash.to_string()).unwrap_or_default();
    let mut head = ChainHash::origin(id);
    let mut records = Vec::with_capacity(shared.len());
    for (mut record, event) in shared {
        if let Some(first) = as_of(event, from, (at, upto), &hash) {
            record.data = first.body.data_json();
        }
        record.hash = record.hash_after(head);
        head = record.hash;
        records.push(record);
    }
    let records: Arc<[Record]> = records.into();
    let batch = Batch { run: id.clone(), after: 0, records, snapshot: None, receipt: None };
    Ok(journal.append(batch).await?)
}

/// The events up to `at` with the rest of the decision there, each checked against the chain, and every
/// decision taken again.
fn shared(journal: &dyn Journal, from: &RunId, at: u64) -> Result<Vec<(Record, Event)>, ForkError> {
    let mut shared: Vec<(Record, Event)> = Vec::new();
    let mut last = 0;
    // The decision in which `at` stands ends where the next one begins.
    let mut over = false;
    walk(journal, from, 0, ChainHash::origin(from), |record, event| {
        let begins = record.input.is_some() || shared.iter().all(|(it, _)| it.input.is_none());
        over |= record.seq > at && begins;
        if !over {
            shared.push((record.clone(), event.clone()));
        }
        last = record.seq;
        Ok(())
    })?;
    if last == 0 {
        return Err(LoadError::Unknown(from.clone()).into());
    }
    if at == 0 || at > last {
        return Err(ForkError::NoSuchEvent { run: from.clone(), asked: at, last });
    }
    decide_again(from, &shared)?;
    Ok(shared)
}

/// A fork of what does not follow from its inputs would pass on what nobody decided.
fn decide_again(from: &RunId, shared: &[(Record, Event)]) -> Result<(), ForkError> {
    let diverges =
        |divergence| ForkError::Diverges { run: from.clone(), divergence: Box::new(divergence) };
    let mut again = Again::new(from.clone());
    for (record, event) in shared {
        again.take(record, event).map_err(diverges)?;
    }
    again.finish().map_err(diverges)?;
    Ok(())
}

/// The first event as the fork has it: it says where it comes from.
fn as_of(event: Event, from: &RunId, (at, upto): (u64, u64), hash: &str) -> Option<Event> {
    let Event { body: EventBody::RunCreated(mut created), seq, ts, wall, node } = event else {
        return None;
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
    Some(Event { seq, ts, wall, node, body: EventBody::RunCreated(created) })
}
