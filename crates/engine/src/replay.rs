//! Reads a whole run again: every hash checked, every decision taken once more.

use std::sync::{Arc, mpsc};

use materia_contract::{CastStatus, ChainHash, RunId};
use materia_kernel::{Divergence, Misfit, Run};
use materia_opinion::{Objection, Opinion};
use serde_json::{Map, Value};

use crate::again::{Again, Took};
use crate::fold::{Fold, Gather, Piece};
use crate::load::{PAGE_RECORDS, verified};
use crate::{Journal, ReadError};

/// What a replay found.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// Events that were read and verified.
    pub events: u64,
    /// The last event that was kept without the input of its decision: up to there the hashes were
    /// checked, but no decision could be taken again. 0 where there is none.
    pub undecided: u64,
    /// The state at the end, or at the place that was asked for.
    pub state: Map<String, Value>,
    /// The status there.
    pub status: CastStatus,
    /// The last place that was read.
    pub last_seq: u64,
    /// Its hash.
    pub last_hash: ChainHash,
}

/// Why a replay did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// There is no such run.
    #[error("there is no cast `{0}` here")]
    Unknown(RunId),
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
    /// The storage could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Verification failed.
    #[error("verification of cast `{run}` failed at event {seq}: {fault}")]
    Fault {
        /// The run.
        run: RunId,
        /// The first place that is wrong.
        seq: u64,
        /// What is wrong there.
        fault: ReplayFault,
    },
}

/// What is wrong at a place.
#[derive(Debug, thiserror::Error)]
pub enum ReplayFault {
    /// The record is not what was written.
    #[error("{0}")]
    Damaged(String),
    /// The record is what was written, but does not follow from the inputs before it.
    #[error("{0}")]
    Diverges(Box<Divergence>),
    /// It follows from its input, but the rules do not allow it there.
    #[error("{}", .0.what)]
    Objected(Objection),
}

/// Pages that may lie between reading and deciding.
const PAGES_AHEAD: usize = 4;

/// Pieces of a run, each checked against the chain; or why there are no more.
type Page = Result<Arc<[Piece]>, ReplayError>;

/// Replays a run, up to `at` where it is given.
///
/// One thread reads and verifies, this one decides again, a third holds the events to the rules in its own
/// way: each goes on beside the others.
pub fn replay(journal: &dyn Journal, id: &RunId, at: Option<u64>) -> Result<Replay, ReplayError> {
    std::thread::scope(|scope| {
        let (sender, pages) = mpsc::sync_channel(PAGES_AHEAD);
        let (passed_on, heard) = mpsc::sync_channel(PAGES_AHEAD);
        scope.spawn(move || read_pages(journal, id, &sender));
        let judge = scope.spawn(move || judge(id, &heard));
        let decided = decide_again(&pages, id, at, &passed_on);
        drop(passed_on);
        let objection = judge.join().unwrap_or_default();
        match (decided, objection) {
            // Whoever names the earlier event has seen what is wrong.
            (Err(ReplayError::Fault { seq, .. }), Some(objection)) if objection.seq < seq => {
                Err(objected(id, objection))
            }
            (Ok(_), Some(objection)) => Err(objected(id, objection)),
            (decided, _) => decided,
        }
    })
}

fn objected(id: &RunId, objection: Objection) -> ReplayError {
    let (run, seq) = (id.clone(), objection.seq);
    ReplayError::Fault { run, seq, fault: ReplayFault::Objected(objection) }
}

/// The first event that is not allowed where it stands, by a second reading of the rules.
fn judge(id: &RunId, pages: &mpsc::Receiver<Arc<[Piece]>>) -> Option<Objection> {
    let mut opinion = Opinion::new(id.clone());
    // Journals before version 3 do not say enough to be judged, nor does what was added to them.
    let mut old = false;
    let mut judged = |opinion: &mut Opinion, piece: &Piece| match piece {
        Piece::Decision { decided, events, .. } if !old => {
            events.iter().try_for_each(|event| opinion.see(event))?;
            opinion.decided(decided)
        }
        Piece::Decision { .. } => Ok(()),
        Piece::Event(..) => {
            old = true;
            Ok(())
        }
    };
    // Whoever reads on after an objection is not kept waiting: what is left is just not looked at.
    pages.iter().find_map(|page| page.iter().find_map(|piece| judged(&mut opinion, piece).err()))
}

/// Reads page after page, until the run ends, something is wrong, or nobody listens.
fn read_pages(journal: &dyn Journal, id: &RunId, pages: &mpsc::SyncSender<Page>) {
    let mut head = ChainHash::origin(id);
    let mut seq = 0;
    let mut gather = Gather::default();
    loop {
        let records = match journal.read(id, seq, PAGE_RECORDS) {
            Ok(records) => records,
            Err(error) => {
                let _ = pages.send(Err(error.into()));
                return;
            }
        };
        let mut page: Vec<Piece> = Vec::with_capacity(records.len() / 4);
        for record in &records {
            let taken =
                verified(record, seq + 1, head).map_err(ReplayFault::Damaged).and_then(|event| {
                    let taken = gather.take(record, event);
                    taken.map_err(|error| ReplayFault::Damaged(error.to_string()))
                });
            match taken {
                Ok(piece) => page.extend(piece),
                Err(fault) => {
                    // What comes before the fault is still worth deciding again.
                    page.extend(gather.rest().filter(|_| record.input.is_some()));
                    let _ = pages.send(Ok(page.into()));
                    let fault = ReplayError::Fault { run: id.clone(), seq: seq + 1, fault };
                    let _ = pages.send(Err(fault));
                    return;
                }
            }
            seq = record.seq;
            head = record.hash;
        }
        let complete = records.len() < PAGE_RECORDS;
        if complete {
            page.extend(gather.rest());
        }
        if pages.send(Ok(page.into())).is_err() || complete {
            return;
        }
    }
}

fn decide_again(
    pages: &mpsc::Receiver<Page>,
    id: &RunId,
    at: Option<u64>,
    passed_on: &mpsc::SyncSender<Arc<[Piece]>>,
) -> Result<Replay, ReplayError> {
    let fault = |seq, fault| ReplayError::Fault { run: id.clone(), seq, fault };
    let mut again = Again::new(id.clone());
    let mut wanted = Wanted::new(id, at);
    let (mut seq, mut undecided) = (0, 0);
    let mut head = ChainHash::origin(id);
    while let Ok(page) = pages.recv() {
        let page = page?;
        // An error means that there was an objection, and nobody listens any more.
        let _ = passed_on.send(Arc::clone(&page));
        for piece in page.iter() {
            (seq, head) = piece.end();
            let folded = wanted.take(piece);
            let took = again.piece(piece).map_err(|divergence| {
                fault(divergence.seq(), ReplayFault::Diverges(Box::new(divergence)))
            })?;
            folded.map_err(|misfit| fault(seq, ReplayFault::Damaged(misfit.to_string())))?;
            if took == Took::Event {
                undecided = seq;
            }
        }
    }
    if seq == 0 {
        return Err(ReplayError::Unknown(id.clone()));
    }
    let (run, last_hash) = match wanted.at {
        None => (again.run(), head),
        Some(asked) if asked == 0 || asked > seq => {
            let (run, last) = (id.clone(), seq);
            return Err(ReplayError::NoSuchEvent { run, asked, last });
        }
        Some(_) => (&wanted.fold.run, wanted.hash),
    };
    Ok(Replay {
        events: seq,
        undecided,
        state: run.variables().clone(),
        status: run.phase().status(),
        last_seq: run.seq(),
        last_hash,
    })
}

/// The state at the place that was asked for. Without one, the recomputed run is the answer and
/// folding beside it would only cost time.
struct Wanted {
    at: Option<u64>,
    fold: Fold,
    hash: ChainHash,
}

impl Wanted {
    fn new(id: &RunId, at: Option<u64>) -> Self {
        Self { at, fold: Fold::new(Run::new(id.clone())), hash: ChainHash::origin(id) }
    }

    fn take(&mut self, piece: &Piece) -> Result<(), Misfit> {
        let Some(at) = self.at.filter(|at| piece.first() <= *at) else { return Ok(()) };
        match piece {
            Piece::Event(event, hash) => {
                self.fold.take_old(event)?;
                self.hash = *hash;
            }
            Piece::Decision { events, hashes, .. } => {
                for (event, hash) in events.iter().zip(hashes).filter(|(it, _)| it.seq <= at) {
                    self.fold.take_new(event)?;
                    self.hash = *hash;
                }
            }
        }
        Ok(())
    }
}
