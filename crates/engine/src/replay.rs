//! Replay of a whole run: checks every hash and recomputes every decision.

use std::sync::mpsc;

use materia_contract::{CastStatus, ChainHash, Decided, EventBody, Record, RunId};
use materia_kernel::{Divergence, Misfit, Retaken, Run};
use materia_verifier::{Objection, Verifier};
use serde_json::{Map, Value};

use crate::fold::{Gather, Piece, take};
use crate::load::earlier;
use crate::redecide::{Again, Took};
use crate::turn_files::{self, Left};
use crate::{Broken, Chain, Journal, NoSuchEvent, PAGE_BYTES, ReadError, blocking};

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
    #[error(transparent)]
    NoSuchEvent(#[from] NoSuchEvent),
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

/// The type of the event that begins a run. It says how the run was written, so it is read before anything else.
const CREATED: &str = "run.created";

/// Maximum number of pages in the queue between two threads.
const PAGES_AHEAD: usize = 4;

/// Room for the records of one decision; few have more.
const DECISION_RECORDS: usize = 8;

/// Records of a run, each checked against the chain; or why there are no more.
type Read = Result<Vec<Record>, Ended>;

/// Decisions of a run that were taken again.
type Page = Vec<Piece>;

/// Why reading ended early.
struct Ended {
    error: ReplayError,
    /// Whether a decision would have begun there, so that the one before it is whole.
    begins: bool,
}

/// Replays a run, up to `at` where it is given. Blocks on the journal.
///
/// One thread reads and checks the hashes, this one takes each decision again, and the third compares the bytes and runs
/// the verifier. An event whose bytes are those of the recomputed event is not parsed.
pub fn replay(journal: &dyn Journal, id: &RunId, at: Option<u64>) -> Result<Replay, ReplayError> {
    // Where bytes differ, this thread is ahead of the place. A second pass compares each decision before the next.
    let once = |compares_at_once| replay_once(journal, id, at, compares_at_once);
    once(false)
        .or_else(|Differs| once(true))
        .unwrap_or_else(|Differs| unreachable!("each decision was compared before the next"))
}

/// The bytes of some decision are not those that would have been written.
struct Differs;

fn replay_once(
    journal: &dyn Journal,
    id: &RunId,
    at: Option<u64>,
    compares_at_once: bool,
) -> Result<Result<Replay, ReplayError>, Differs> {
    std::thread::scope(|scope| {
        let (sender, records) = mpsc::sync_channel(PAGES_AHEAD);
        let (passed_on, pages) = mpsc::sync_channel(PAGES_AHEAD);
        scope.spawn(move || read(journal, id, &sender));
        let judge = scope.spawn(move || judge(id, &pages));
        let decided = Deciding::new(id, at, compares_at_once, passed_on).decide(records);
        let objection = judge.join().unwrap_or(Ok(None))?;
        Ok(match (decided, objection) {
            // The fault at the earlier event is reported.
            (Err(ReplayError::Fault { seq, .. }), Some(objection)) if objection.seq < seq => {
                Err(objected(id, objection))
            }
            (Ok(_), Some(objection)) => Err(objected(id, objection)),
            (decided, _) => decided,
        })
    })
}

pub(crate) fn objected(id: &RunId, objection: Objection) -> ReplayError {
    let (run, seq) = (id.clone(), objection.seq);
    ReplayError::Fault { run, seq, fault: ReplayFault::Objected(objection) }
}

/// Reads page after page, until the run ends, an error occurs, or the receiver is gone.
fn read(journal: &dyn Journal, id: &RunId, pages: &mpsc::SyncSender<Read>) {
    let mut chain = Chain::of(id);
    loop {
        let mut page = match blocking(journal).read(id, chain.seq(), PAGE_BYTES) {
            Ok(page) => page,
            Err(error) => {
                let _ = pages.send(Err(Ended { error: error.into(), begins: true }));
                return;
            }
        };
        if let Err(Broken { nth, seq, what }) = chain.check(&page) {
            let (run, fault) = (id.clone(), ReplayFault::Damaged(what));
            let begins = page.records[nth].input.is_some();
            // The records before the fault are still recomputed.
            page.records.truncate(nth);
            let _ = pages.send(Ok(page.records));
            let error = ReplayError::Fault { run, seq, fault };
            let _ = pages.send(Err(Ended { error, begins }));
            return;
        }
        if pages.send(Ok(page.records)).is_err() || page.end {
            return;
        }
    }
}

/// Compares the bytes of decisions that were not compared yet, and finds the first event that the verifier does not allow.
fn judge(id: &RunId, pages: &mpsc::Receiver<Page>) -> Result<Option<Objection>, Differs> {
    let mut opinion = Some(Verifier::new(id.clone()));
    let mut scratch = Vec::new();
    let mut judged = Ok(None);
    // To the last page, also where nothing is left to find: the sender waits for nobody.
    for page in pages {
        for piece in page {
            if !matches!(judged, Ok(None)) {
                break;
            }
            judged = if piece.is_guess && !piece.is_kept(&mut scratch) {
                Err(Differs)
            } else {
                Ok(first_objection(&mut opinion, std::slice::from_ref(&piece)))
            };
        }
    }
    judged
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

/// Takes every decision of a run again.
struct Deciding<'a> {
    id: &'a RunId,
    again: Again,
    wanted: Wanted,
    compares_at_once: bool,
    gather: Gather,
    /// The records of the decision that is not yet whole.
    open: Vec<Record>,
    /// Decisions for the verifier.
    page: Page,
    passed_on: mpsc::SyncSender<Page>,
    scratch: Vec<u8>,
    seq: u64,
    head: ChainHash,
    undecided: u64,
    named: Vec<Left>,
}

impl<'a> Deciding<'a> {
    fn new(
        id: &'a RunId,
        at: Option<u64>,
        compares_at_once: bool,
        passed_on: mpsc::SyncSender<Page>,
    ) -> Self {
        Self {
            id,
            again: Again::new(id.clone()),
            wanted: Wanted::new(id, at),
            compares_at_once,
            gather: Gather::default(),
            open: Vec::new(),
            page: Vec::new(),
            passed_on,
            scratch: Vec::new(),
            seq: 0,
            head: ChainHash::origin(id),
            undecided: 0,
            named: Vec::new(),
        }
    }

    /// Decides up to the end, or to the first fault. Everything before it is passed on to the verifier.
    fn decide(mut self, read: mpsc::Receiver<Read>) -> Result<Replay, ReplayError> {
        let ended = self.decide_all(read);
        self.pass_on();
        ended?;
        let Self { id, again, wanted, seq, head, undecided, named, .. } = self;
        if seq == 0 {
            return Err(ReplayError::Unknown(id.clone()));
        }
        let (run, last_hash) = match wanted.at {
            None => (again.run(), head),
            Some(asked) if asked == 0 || asked > seq => {
                let (run, last) = (id.clone(), seq);
                return Err(NoSuchEvent { run, asked, last }.into());
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

    fn decide_all(&mut self, read: mpsc::Receiver<Read>) -> Result<(), ReplayError> {
        for records in read {
            let records = match records {
                Ok(records) => records,
                Err(end) => {
                    if end.begins {
                        self.whole()?;
                    } else {
                        // An event that cannot be read comes before the place where reading ended.
                        let partial = std::mem::take(&mut self.open);
                        self.parsed(partial)?;
                    }
                    return Err(end.error);
                }
            };
            for record in records {
                if record.input.is_some() {
                    self.whole()?;
                }
                self.open.push(record);
            }
            self.pass_on();
        }
        self.whole()
    }

    /// Takes the decision again whose records are all there.
    fn whole(&mut self) -> Result<(), ReplayError> {
        let mut records = std::mem::replace(&mut self.open, Vec::with_capacity(DECISION_RECORDS));
        let mut quick = None;
        if let Some(decided) = self.decided(&records) {
            match self.again.quick(&decided, &records) {
                Ok(Retaken { decided, events })
                    if records.len() == events.len() && records.iter().all(Record::is_plain) =>
                {
                    let piece = Piece { decided, events, records, known: true, is_guess: true };
                    if !self.compares_at_once || piece.is_kept(&mut self.scratch) {
                        self.took(piece);
                        return Ok(());
                    }
                    quick = Some(Ok(Retaken { decided: piece.decided, events: piece.events }));
                    records = piece.records;
                }
                retaken => quick = Some(retaken),
            }
        }
        let Some(piece) = self.parsed(records)? else { return Ok(()) };
        let folded = self.wanted.take(&piece);
        let took = match quick {
            None => self.again.piece(&piece),
            Some(retaken) => Again::compare(retaken, &piece),
        };
        let (seq, _) = piece.end();
        let took = took.map_err(|divergence| {
            self.fault(divergence.seq(), ReplayFault::Diverges(Box::new(divergence)))
        });
        let folded =
            folded.map_err(|misfit| self.fault(seq, ReplayFault::Damaged(misfit.to_string())));
        if matches!(took, Ok(Took::Folded)) {
            self.undecided += piece.events.len() as u64;
        }
        // What does not follow may break a rule before that, too.
        self.took(piece);
        took?;
        folded
    }

    /// Its input, where the decision can be taken again before its events are read.
    fn decided(&self, records: &[Record]) -> Option<Decided> {
        let wanted = self.wanted.at.is_none();
        if !wanted || records.iter().any(|record| record.kind == CREATED) {
            return None;
        }
        let decided = Decided::read(records.first()?.input.as_ref()?).ok()?;
        self.gather.knows(&decided).then_some(decided)
    }

    /// The decision with its events; `None` where there are no records.
    fn parsed(&mut self, records: Vec<Record>) -> Result<Option<Piece>, ReplayError> {
        for record in records {
            let seq = record.seq;
            gathered(&mut self.gather, record).map_err(|fault| self.fault(seq, fault))?;
        }
        Ok(self.gather.rest())
    }

    fn took(&mut self, piece: Piece) {
        (self.seq, self.head) = piece.end();
        self.named.extend(piece.events.iter().flat_map(turn_files::named_by));
        self.page.push(piece);
    }

    fn pass_on(&mut self) {
        let page = std::mem::take(&mut self.page);
        if !page.is_empty() {
            // The verifier listens to the end.
            let _ = self.passed_on.send(page);
        }
    }

    fn fault(&self, seq: u64, fault: ReplayFault) -> ReplayError {
        ReplayError::Fault { run: self.id.clone(), seq, fault }
    }
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
