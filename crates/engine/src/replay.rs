//! Replay of a whole run: checks every hash and recomputes every decision.

use std::sync::{Arc, mpsc};

use materia_contract::{CastStatus, ChainHash, EventBody, Record, RunId};
use materia_kernel::{Divergence, Misfit, Run};
use materia_verifier::{Objection, Verifier};
use serde_json::{Map, Value};

use crate::fold::{Gather, Piece, take};
use crate::load::{earlier, intact};
use crate::redecide::{Again, Took};
use crate::turn_files::{self, Left};
use crate::{Journal, PAGE_BYTES, ReadError, blocking};

/// Result of a replay.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// Events that were read and verified.
    pub events: u64,
    /// How many events were decided by the rules of another version: their hashes were checked, but nothing says
    /// whether they follow.
    pub undecided: u64,
    /// The state at the end, or at the place that was asked for.
    pub state: Map<String, Value>,
    /// The status there.
    pub status: CastStatus,
    /// The last place that was read.
    pub last_seq: u64,
    /// Its hash.
    pub last_hash: ChainHash,
    /// The files that events of the run name. They are beside the journal, and have not been looked at.
    pub left: Vec<Left>,
}

/// Why a replay failed.
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
        /// The requested event.
        asked: u64,
        /// The last event.
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
        /// The fault.
        fault: ReplayFault,
    },
}

/// A fault of an event.
#[derive(Debug, thiserror::Error)]
pub enum ReplayFault {
    /// The record is not what was written.
    #[error("{0}")]
    Damaged(String),
    /// The record is what was written, but does not follow from the inputs before it.
    #[error("{0}")]
    Diverges(Box<Divergence>),
    /// The run was written by a program that was never released.
    #[error("it was {}", earlier(*.0))]
    Earlier(u32),
    /// It follows from its input, but the rules do not allow it there.
    #[error("{}", .0.what)]
    Objected(Objection),
}

/// Maximum number of pages in the queue between two threads.
const PAGES_AHEAD: usize = 12;

/// Records of a run, each checked against the chain; or why there are no more.
type Read = Result<Vec<Record>, Broken>;

/// Pieces of a run; or why there are no more.
type Page = Result<Arc<[Piece]>, ReplayError>;

/// Why reading ended early.
struct Broken {
    error: ReplayError,
    /// Whether a decision would have begun there, so that the one before it is whole.
    begins: bool,
}

/// Replays a run, up to `at` where it is given. Blocks on the journal.
///
/// One thread reads and checks the hashes, the second runs the verifier, and this one recomputes the decisions: each
/// takes about the same time.
pub fn replay(journal: &dyn Journal, id: &RunId, at: Option<u64>) -> Result<Replay, ReplayError> {
    std::thread::scope(|scope| {
        let (sender, records) = mpsc::sync_channel(PAGES_AHEAD);
        let (passed_on, pages) = mpsc::sync_channel(PAGES_AHEAD);
        scope.spawn(move || read(journal, id, &sender));
        let judge = scope.spawn(move || judge(id, &records, &passed_on));
        let decided = decide_again(&pages, id, at);
        // The reading threads end when their receiver is gone.
        drop(pages);
        let objection = judge.join().unwrap_or_default();
        match (decided, objection) {
            // The fault at the earlier event is reported.
            (Err(ReplayError::Fault { seq, .. }), Some(objection)) if objection.seq < seq => {
                Err(objected(id, objection))
            }
            (Ok(_), Some(objection)) => Err(objected(id, objection)),
            (decided, _) => decided,
        }
    })
}

pub(crate) fn objected(id: &RunId, objection: Objection) -> ReplayError {
    let (run, seq) = (id.clone(), objection.seq);
    ReplayError::Fault { run, seq, fault: ReplayFault::Objected(objection) }
}

/// Reads page after page, until the run ends, an error occurs, or the receiver is gone.
fn read(journal: &dyn Journal, id: &RunId, pages: &mpsc::SyncSender<Read>) {
    let mut head = ChainHash::origin(id);
    let mut seq = 0;
    loop {
        let (mut records, complete) = match blocking(journal).read(id, seq, PAGE_BYTES) {
            Ok(page) => (page.records, page.end),
            Err(error) => {
                let _ = pages.send(Err(Broken { error: error.into(), begins: true }));
                return;
            }
        };
        let mut broken = None;
        for (place, record) in records.iter().enumerate() {
            if let Err(what) = intact(record, seq + 1, head) {
                let (run, fault) = (id.clone(), ReplayFault::Damaged(what));
                let error = ReplayError::Fault { run, seq: seq + 1, fault };
                broken = Some((place, Broken { error, begins: record.input.is_some() }));
                break;
            }
            (seq, head) = (record.seq, record.hash);
        }
        if let Some((place, broken)) = broken {
            // The records before the fault are still recomputed.
            records.truncate(place);
            let _ = pages.send(Ok(records));
            let _ = pages.send(Err(broken));
            return;
        }
        if pages.send(Ok(records)).is_err() || complete {
            return;
        }
    }
}

/// Parses records for the thread that recomputes the decisions, and finds the first event that the verifier does
/// not allow.
fn judge(
    id: &RunId,
    read: &mpsc::Receiver<Read>,
    pages: &mpsc::SyncSender<Page>,
) -> Option<Objection> {
    let mut gather = Gather::default();
    let mut opinion = Some(Verifier::new(id.clone()));
    let mut objection = None;
    let mut passed_on = |page: Vec<Piece>| {
        let page: Arc<[Piece]> = page.into();
        let heard = pages.send(Ok(Arc::clone(&page))).is_ok();
        if let Some(found) = first_objection(&mut opinion, &page) {
            objection.get_or_insert(found);
        }
        heard
    };
    let mut broken = None;
    for records in read {
        let records = match records {
            Ok(records) => records,
            Err(end) => {
                let whole = gather.rest().filter(|_| end.begins);
                passed_on(whole.into_iter().collect());
                broken = Some(end.error);
                break;
            }
        };
        let mut page: Vec<Piece> = Vec::with_capacity(records.len() / 4);
        for record in records {
            let (seq, begins) = (record.seq, record.input.is_some());
            match gathered(&mut gather, record) {
                Ok(piece) => page.extend(piece),
                Err(fault) => {
                    page.extend(gather.rest().filter(|_| begins));
                    let run = id.clone();
                    broken = Some(ReplayError::Fault { run, seq, fault });
                    break;
                }
            }
        }
        if !passed_on(page) || broken.is_some() {
            break;
        }
    }
    match broken {
        Some(error) => {
            let _ = pages.send(Err(error));
        }
        None => {
            passed_on(gather.rest().into_iter().collect());
        }
    }
    objection
}

/// Takes a record apart; gives the decision that is complete by it.
pub(crate) fn gathered(gather: &mut Gather, record: Record) -> Result<Option<Piece>, ReplayFault> {
    let event = record.event().map_err(|error| ReplayFault::Damaged(error.to_string()))?;
    if let EventBody::RunCreated(created) = &event.body
        && created.is_earlier()
    {
        return Err(ReplayFault::Earlier(created.journal_version));
    }
    gather.take(record, event).map_err(|error| ReplayFault::Damaged(error.to_string()))
}

/// The first objection of the verifier in a page. After one objection the verifier is dropped, as it is at a decision
/// by other rules, since it cannot judge those or what follows.
pub(crate) fn first_objection(opinion: &mut Option<Verifier>, page: &[Piece]) -> Option<Objection> {
    for piece in page {
        let judging = opinion.as_mut()?;
        if !piece.known {
            *opinion = None;
            return None;
        }
        let mut events = piece.events.iter();
        let judged = events
            .try_for_each(|event| judging.see(event))
            .and_then(|()| judging.decided(&piece.decided));
        if let Err(objection) = judged {
            *opinion = None;
            return Some(objection);
        }
    }
    None
}

fn decide_again(
    pages: &mpsc::Receiver<Page>,
    id: &RunId,
    at: Option<u64>,
) -> Result<Replay, ReplayError> {
    let fault = |seq, fault| ReplayError::Fault { run: id.clone(), seq, fault };
    let mut again = Again::new(id.clone());
    let mut wanted = Wanted::new(id, at);
    let (mut seq, mut undecided) = (0, 0);
    let mut named = Vec::new();
    let mut head = ChainHash::origin(id);
    while let Ok(page) = pages.recv() {
        for piece in page?.iter() {
            (seq, head) = piece.end();
            let folded = wanted.take(piece);
            let took = again.piece(piece).map_err(|divergence| {
                fault(divergence.seq(), ReplayFault::Diverges(Box::new(divergence)))
            })?;
            folded.map_err(|misfit| fault(seq, ReplayFault::Damaged(misfit.to_string())))?;
            if took == Took::Folded {
                undecided += piece.events.len() as u64;
            }
            named.extend(piece.events.iter().flat_map(turn_files::named_by));
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
        Some(_) => (&wanted.run, wanted.hash),
    };
    Ok(Replay {
        events: seq,
        undecided,
        state: run.variables().clone(),
        status: run.phase().status(),
        last_seq: run.seq(),
        last_hash,
        left: named,
    })
}

/// The state at the place that was asked for. Without one, the recomputed run is the answer and
/// folding beside it would only cost time.
struct Wanted {
    at: Option<u64>,
    run: Run,
    hash: ChainHash,
}

impl Wanted {
    fn new(id: &RunId, at: Option<u64>) -> Self {
        Self { at, run: Run::new(id.clone()), hash: ChainHash::origin(id) }
    }

    fn take(&mut self, piece: &Piece) -> Result<(), Misfit> {
        let Some(at) = self.at.filter(|at| piece.first() <= *at) else { return Ok(()) };
        let both = piece.events.iter().zip(&piece.records);
        for (event, record) in both.filter(|(it, _)| it.seq <= at) {
            take(&mut self.run, event)?;
            self.hash = record.hash;
        }
        Ok(())
    }
}
