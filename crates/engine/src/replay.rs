//! Reads a whole run again: every hash checked, every decision taken once more.

use std::sync::mpsc;

use materia_contract::{CastStatus, ChainHash, Event, RunId};
use materia_kernel::{Divergence, Recomputation, Run, evolve};
use serde_json::{Map, Value};

use crate::load::{PAGE_RECORDS, verified};
use crate::{Journal, ReadError};

/// How far a decision's input may lie behind its first event.
const LOOKAHEAD_EVENTS: usize = 256;

/// What a replay found.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// Events that were read and verified.
    pub events: u64,
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
    /// The journal ends in the middle of a decision.
    #[error("the journal ends in the middle of a decision")]
    Truncated,
}

/// Pages that may lie between reading and deciding.
const PAGES_AHEAD: usize = 4;

/// Events of a run, each checked against the chain, with the hash of its record.
type Page = Vec<(Event, ChainHash)>;

/// Replays a run, up to `at` where it is given.
///
/// One thread reads and verifies, this one decides again: they need about as long as each other.
pub fn replay(journal: &dyn Journal, id: &RunId, at: Option<u64>) -> Result<Replay, ReplayError> {
    std::thread::scope(|scope| {
        let (sender, pages) = mpsc::sync_channel(PAGES_AHEAD);
        scope.spawn(move || read_pages(journal, id, &sender));
        decide_again(&pages, id, at)
    })
}

/// Reads page after page, until the run ends, something is wrong, or nobody listens.
fn read_pages(
    journal: &dyn Journal,
    id: &RunId,
    pages: &mpsc::SyncSender<Result<Page, ReplayError>>,
) {
    let mut head = ChainHash::origin(id);
    let mut seq = 0;
    loop {
        let records = match journal.read(id, seq, PAGE_RECORDS) {
            Ok(records) => records,
            Err(error) => {
                let _ = pages.send(Err(error.into()));
                return;
            }
        };
        let mut page = Page::with_capacity(records.len());
        for record in &records {
            match verified(record, seq + 1, head) {
                Ok(event) => page.push((event, record.hash)),
                Err(what) => {
                    let fault = ReplayFault::Damaged(what);
                    // What comes before the fault is still worth deciding again.
                    let _ = pages.send(Ok(page));
                    let fault = ReplayError::Fault { run: id.clone(), seq: seq + 1, fault };
                    let _ = pages.send(Err(fault));
                    return;
                }
            }
            seq = record.seq;
            head = record.hash;
        }
        let complete = records.len() < PAGE_RECORDS;
        if pages.send(Ok(page)).is_err() || complete {
            return;
        }
    }
}

fn decide_again(
    pages: &mpsc::Receiver<Result<Page, ReplayError>>,
    id: &RunId,
    at: Option<u64>,
) -> Result<Replay, ReplayError> {
    let fault = |seq, fault| ReplayError::Fault { run: id.clone(), seq, fault };
    let mut decided = Recomputation::new(id.clone());
    let mut folded = Fold::new(id, at);
    let mut window: Vec<Event> = Vec::new();
    let mut head = ChainHash::origin(id);
    let mut seq = 0;
    loop {
        let page = pages.recv().ok();
        let complete = page.is_none();
        for (event, hash) in page.transpose()?.unwrap_or_default() {
            (seq, head) = (event.seq, hash);
            folded.take(&event, head);
            window.push(event);
        }
        let keep = if complete { 0 } else { LOOKAHEAD_EVENTS };
        let ready = window.len().saturating_sub(keep);
        for first in 0..ready {
            decided.next(&window[first..]).map_err(|divergence| {
                fault(window[first].seq, ReplayFault::Diverges(Box::new(divergence)))
            })?;
        }
        window.drain(..ready);
        if complete {
            break;
        }
    }
    if seq == 0 {
        return Err(ReplayError::Unknown(id.clone()));
    }
    if !decided.is_between_decisions() {
        return Err(fault(seq, ReplayFault::Truncated));
    }
    folded.finish(&decided, seq, head)
}

/// The state at the place that was asked for. Without one, the recomputed run is the answer and
/// folding beside it would only cost time.
struct Fold {
    at: Option<u64>,
    run: Run,
    hash: ChainHash,
}

impl Fold {
    fn new(id: &RunId, at: Option<u64>) -> Self {
        Self { at, run: Run::new(id.clone()), hash: ChainHash::origin(id) }
    }

    fn take(&mut self, event: &Event, hash: ChainHash) {
        if self.at.is_some_and(|at| event.seq <= at) {
            evolve(&mut self.run, event);
            self.hash = hash;
        }
    }

    fn finish(
        self,
        decided: &Recomputation,
        events: u64,
        head: ChainHash,
    ) -> Result<Replay, ReplayError> {
        let (run, last_hash) = match self.at {
            None => (decided.run(), head),
            Some(_) => (&self.run, self.hash),
        };
        if let Some(asked) = self.at
            && (asked == 0 || asked > events)
        {
            return Err(ReplayError::NoSuchEvent { run: run.id().clone(), asked, last: events });
        }
        Ok(Replay {
            events,
            state: run.variables().clone(),
            status: run.phase().status(),
            last_seq: run.seq(),
            last_hash,
        })
    }
}
