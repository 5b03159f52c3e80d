//! A fork: a new run that shares the first events of another.
//!
//! The shared events are copied with their ids; only the hash chain is the new run's own. Where the fork is in the
//! middle of a decision, that decision is stored with the place of the cut, so that it can be recomputed like any
//! other.

use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{ChainHash, Event, EventBody, ForkedFrom, Record, RunId, StartKey};
use materia_kernel::Divergence;

use crate::drive::keep_apart;
use crate::fold::{Gather, Piece, take};
use crate::load::{fresh, walk};
use crate::redecide::Again;
use crate::{AppendError, Batch, Epoch, Journal, LoadError, LoadedRun, NoSuchEvent, off_thread};

/// Why a run could not be forked.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// The original could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The place that was asked for is not in the run.
    #[error(transparent)]
    NoSuchEvent(#[from] NoSuchEvent),
    /// The original was decided by the rules of another version.
    #[error(
        "cast `{run}` was written by another version up to event {at} and beyond: it can be forked at event {next}, \
         where something has been settled, but not in between"
    )]
    Unsettled {
        /// The run.
        run: RunId,
        /// The requested event.
        at: u64,
        /// The next place at which it can be forked.
        next: u64,
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

/// How a fork was begun.
#[derive(Debug, Clone, Default)]
pub struct Begun {
    /// When, by the wall. It is not noted where the time of the run is simulated.
    pub at: Option<Micros>,
    /// The key under which it was asked for.
    pub key: Option<StartKey>,
}

/// The beginning of a new run. It is not written yet, so the user can still decline it.
pub struct Forked {
    records: Arc<[Record]>,
    loaded: LoadedRun,
}

impl Forked {
    /// The run as it would be taken up.
    #[must_use]
    pub fn loaded(&self) -> &LoadedRun {
        &self.loaded
    }

    /// Writes it under the lease of `epoch`. It is then carried on like any run.
    pub async fn write(
        self,
        journal: &dyn Journal,
        epoch: Epoch,
    ) -> Result<LoadedRun, AppendError> {
        let Self { records, loaded } = self;
        keep_apart(journal, &records).await?;
        let run = loaded.run().id().clone();
        let batch = Batch { run, epoch, after: 0, records, receipt: None, verdict: None };
        journal.append(batch).await?;
        Ok(loaded)
    }
}

/// Writes the beginning of `id` under the lease of `epoch`: the events of `from` up to `at`. It is then
/// carried on like any run.
pub async fn fork(
    journal: Arc<dyn Journal>,
    from: &RunId,
    at: u64,
    id: &RunId,
    epoch: Epoch,
) -> Result<(), ForkError> {
    let (reading, original, copy) = (Arc::clone(&journal), from.clone(), id.clone());
    let forked =
        off_thread(move || forked(&*reading, &original, at, &copy, &Begun::default())).await?;
    forked.write(&*journal, epoch).await?;
    Ok(())
}

/// The first records of `id`: the events of `from` up to `at`. Blocks on the journal. Where `at` is in the middle of
/// a decision, that decision is finished, but starts nothing after `at`.
pub fn forked(
    journal: &dyn Journal,
    from: &RunId,
    at: u64,
    id: &RunId,
    begun: &Begun,
) -> Result<Forked, ForkError> {
    let Shared { pieces, hash } = shared(journal, from, at)?;
    let upto = pieces.last().map_or(at, |piece| piece.end().0);
    let mut loaded = fresh(id);
    let mut records: Vec<Record> = Vec::new();
    for piece in pieces {
        let Piece { decided, mut events, .. } = piece;
        if let Some(first) = events.first_mut() {
            says_where_it_comes_from(first, from, (at, upto), &hash, begun);
        }
        let sealed = Record::seal_decision(decided.text(), &events, loaded.head);
        for (record, event) in sealed.iter().zip(&events) {
            let (run, seq) = (from.clone(), record.seq);
            take(&mut loaded.run, event).map_err(|misfit| {
                ForkError::Load(LoadError::Damaged { run, seq, what: misfit.to_string() })
            })?;
            loaded.visits.note(event);
            loaded.head = record.hash;
        }
        records.extend(sealed);
    }
    Ok(Forked { records: records.into(), loaded })
}

/// The shared part of the original.
struct Shared {
    pieces: Vec<Piece>,
    /// The hash of the last event that it shares, as the original has it.
    hash: String,
}

/// The decisions up to `at`, each checked against the hash chain and recomputed. Otherwise a fork could contain
/// forged decisions.
fn shared(journal: &dyn Journal, from: &RunId, at: u64) -> Result<Shared, ForkError> {
    let mut gather = Gather::default();
    let mut all: Vec<Piece> = Vec::new();
    let (mut last, mut hash) = (0, String::new());
    let mut unreadable = None;
    walk(journal, from, 0, ChainHash::origin(from), |record, event| {
        last = record.seq;
        if record.seq == at {
            hash = record.hash.to_string();
        }
        // The decision in which `at` stands ends where the next one begins.
        if unreadable.is_none() && all.last().is_none_or(|piece| piece.end().0 < at) {
            match gather.take(record.clone(), event.clone()) {
                Ok(piece) => all.extend(piece),
                Err(error) => unreadable = Some(Divergence::Input { seq: record.seq, error }),
            }
        }
        Ok(())
    })?;
    if last == 0 {
        return Err(LoadError::Unknown(from.clone()).into());
    }
    if at == 0 || at > last {
        return Err(NoSuchEvent { run: from.clone(), asked: at, last }.into());
    }
    if all.last().is_none_or(|piece| piece.end().0 < at) {
        all.extend(gather.rest());
    }
    // A decision by other rules cannot be taken again as far as `at`.
    let whole = all.last().filter(|piece| !piece.known).map(|piece| piece.end().0);
    if let Some(next) = whole.filter(|end| *end > at) {
        return Err(ForkError::Unsettled { run: from.clone(), at, next });
    }
    let diverges =
        |divergence| ForkError::Diverges { run: from.clone(), divergence: Box::new(divergence) };
    if let Some(divergence) = unreadable {
        return Err(diverges(divergence));
    }
    let mut again = Again::new(from.clone());
    let mut pieces = Vec::with_capacity(all.len());
    for piece in all {
        pieces.push(again.piece_up_to(piece, at).map_err(diverges)?);
    }
    Ok(Shared { pieces, hash })
}

/// The first event of a fork says where it comes from.
fn says_where_it_comes_from(
    event: &mut Event,
    from: &RunId,
    (at, upto): (u64, u64),
    hash: &str,
    begun: &Begun,
) {
    let EventBody::RunCreated(created) = &mut event.body else { return };
    let created = Arc::make_mut(created);
    let mut written_by = created.fork.take().map(|fork| fork.written_by).unwrap_or_default();
    // Events that the original shares with its own original were not written by it.
    match written_by.iter().position(|(_, last)| *last >= upto) {
        Some(place) => written_by.truncate(place + 1),
        None => written_by.push((from.clone(), upto)),
    }
    let (cast_id, hash) = (from.clone(), hash.to_owned());
    let started = begun.at.filter(|_| !created.virtual_time);
    created.key.clone_from(&begun.key);
    created.fork = Some(ForkedFrom { cast_id, seq: at, hash, written_by, started });
    created.from_cast_id = Some(from.to_string());
}
