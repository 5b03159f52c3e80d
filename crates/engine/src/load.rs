//! Loads a run from its journal: the newest valid snapshot, then the events after it.

use std::sync::{Arc, mpsc};

use materia_contract::{
    ChainHash, Event, EventBody, JOURNAL_VERSION, JOURNAL_VERSION_OF_PROJECT, Record, RunCreated,
    RunId,
};
use materia_kernel::{KERNEL_VERSION, Misfit, Run};

use crate::fold::take;
use crate::views::Visits;
use crate::{
    Broken, Chain, Driver, Epoch, Journal, Observer, PAGE_BYTES, Page, ReadError, Snapshot,
    blocking, off_thread,
};

/// The place that was asked for is not in the run.
#[derive(Debug, thiserror::Error)]
#[error("cast `{run}` has {last} events; there is no event {asked}")]
pub struct NoSuchEvent {
    /// The run.
    pub run: RunId,
    /// The requested event.
    pub asked: u64,
    /// The last event.
    pub last: u64,
}

/// Why a run could not be taken up.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no such run.
    #[error("there is no cast `{0}` here")]
    Unknown(RunId),
    /// The journal could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It was written by a newer program.
    #[error(
        "cast `{run}` was written by a newer version of materia (journal version {found}, this one knows {JOURNAL_VERSION})"
    )]
    Newer {
        /// The run.
        run: RunId,
        /// Its version.
        found: u32,
    },
    /// It was written by a program that was never released.
    #[error("cast `{run}` was {}", earlier(*.found))]
    Earlier {
        /// The run.
        run: RunId,
        /// Its version.
        found: u32,
    },
    /// The place that was asked for is not in the run.
    #[error(transparent)]
    NoSuchEvent(#[from] NoSuchEvent),
    /// An event is not what was written.
    #[error("cast `{run}` is damaged at event {seq}: {what}")]
    Damaged {
        /// The run.
        run: RunId,
        /// The place.
        seq: u64,
        /// The damage.
        what: String,
    },
}

/// A run as loaded from its journal.
///
/// Show it, ask for trust in it and drive it with one such value: a journal that is read twice may have changed.
#[derive(Debug, Clone)]
pub struct LoadedRun {
    /// In a box: it is handed on often.
    pub(crate) run: Box<Run>,
    pub(crate) head: ChainHash,
    /// Its turns; those behind the newest snapshot, where no more was asked for.
    pub(crate) visits: Visits,
}

impl LoadedRun {
    /// The run.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }
}

/// Folds a run up to its last event, checking the chain of what is read. It waits for the journal.
pub fn load(journal: &dyn Journal, id: &RunId) -> Result<(Run, ChainHash), LoadError> {
    let LoadedRun { run, head, .. } = load_from_snapshot(journal, id, None)?;
    Ok((*run, head))
}

/// Folds a run up to event `at`, from the newest snapshot before it.
pub fn load_at(journal: &dyn Journal, id: &RunId, at: u64) -> Result<Run, LoadError> {
    Ok(*load_from_snapshot(journal, id, Some(at))?.run)
}

/// The same, to be inspected first and then [carried on](crate::carry_on). The caller must hold the lease.
pub fn load_to_drive(journal: &dyn Journal, id: &RunId) -> Result<LoadedRun, LoadError> {
    load_from_snapshot(journal, id, None)
}

/// The same, ready to be driven under the lease of `epoch`.
pub(crate) async fn take_up(
    journal: &Arc<dyn Journal>,
    observer: &Arc<dyn Observer>,
    id: &RunId,
    epoch: Epoch,
) -> Result<Box<Driver>, LoadError> {
    let (reading, wanted) = (Arc::clone(journal), id.clone());
    let loaded = off_thread(move || load_from_snapshot(&*reading, &wanted, None)).await?;
    drive_loaded(loaded, journal, observer, epoch)
}

/// A run that was loaded, ready to be driven under the lease of `epoch`.
pub(crate) fn drive_loaded(
    loaded: LoadedRun,
    journal: &Arc<dyn Journal>,
    observer: &Arc<dyn Observer>,
    epoch: Epoch,
) -> Result<Box<Driver>, LoadError> {
    let LoadedRun { run, head, visits } = loaded;
    let found = run.created().map_or(JOURNAL_VERSION, |created| created.journal_version);
    if found > JOURNAL_VERSION {
        return Err(LoadError::Newer { run: run.id().clone(), found });
    }
    let (journal, observer) = (Arc::clone(journal), Arc::clone(observer));
    let kept = journal.weigh(run.id());
    Ok(Box::new(Driver::new((*run, head, visits), kept, epoch, journal, observer)))
}

/// The same, with the turns since the newest snapshot, up to the end of the run or to event `at`.
fn load_from_snapshot(
    journal: &dyn Journal,
    id: &RunId,
    at: Option<u64>,
) -> Result<LoadedRun, LoadError> {
    let start = match believable_snapshot(journal, id, at)? {
        Some((run, snapshot)) => {
            let (head, visits) = (snapshot.hash, Visits::behind(snapshot.seq));
            LoadedRun { run: Box::new(run), head, visits }
        }
        None => fresh(id),
    };
    go_on(journal, id, start, at)
}

/// The same, with all turns of the run, up to its end or to event `at`.
pub(crate) fn load_with_visits(
    journal: &dyn Journal,
    id: &RunId,
    at: Option<u64>,
) -> Result<LoadedRun, LoadError> {
    let found = believable_snapshot(journal, id, at)?;
    let chapters = if found.is_some() { blocking(journal).chapters(id)? } else { Vec::new() };
    let told = found.and_then(|(run, snapshot)| {
        let visits = Visits::up_to(&snapshot, &chapters, &run.created()?.plan)?;
        Some(LoadedRun { run: Box::new(run), head: snapshot.hash, visits })
    });
    go_on(journal, id, told.unwrap_or_else(|| fresh(id)), at)
}

/// A run before its first event.
pub(crate) fn fresh(id: &RunId) -> LoadedRun {
    let (run, head) = (Box::new(Run::new(id.clone())), ChainHash::origin(id));
    LoadedRun { run, head, visits: Visits::default() }
}

/// Folds what stands behind, up to event `at` where one is named.
fn go_on(
    journal: &dyn Journal,
    id: &RunId,
    start: LoadedRun,
    at: Option<u64>,
) -> Result<LoadedRun, LoadError> {
    let LoadedRun { mut run, mut head, mut visits } = start;
    run.created().map_or(Ok(()), |created| is_read(id, created))?;
    let (after, from) = (run.seq(), head);
    walk_to(journal, id, (after, from), at, |record, event| {
        take(&mut run, event)?;
        visits.note(event);
        head = record.hash;
        Ok(())
    })?;
    let last = run.seq();
    if last == 0 && at != Some(0) {
        return Err(LoadError::Unknown(id.clone()));
    }
    if let Some(asked) = at.filter(|asked| last < *asked) {
        return Err(NoSuchEvent { run: id.clone(), asked, last }.into());
    }
    Ok(LoadedRun { run, head, visits })
}

/// A snapshot that this program wrote, at an event that is still there.
fn believable_snapshot(
    journal: &dyn Journal,
    id: &RunId,
    at: Option<u64>,
) -> Result<Option<(Run, Snapshot)>, ReadError> {
    let found = match at {
        Some(at) => blocking(journal).snapshot_before(id, at)?,
        None => blocking(journal).snapshot(id)?,
    };
    let Some(snapshot) = found else { return Ok(None) };
    if snapshot.version != KERNEL_VERSION || snapshot.seq == 0 {
        return Ok(None);
    }
    let anchored = blocking(journal)
        .records(id, snapshot.seq - 1, 1)?
        .first()
        .is_some_and(|record| record.seq == snapshot.seq && record.hash == snapshot.hash);
    let run = serde_json::from_slice::<Run>(&snapshot.bytes).ok();
    let run = run.filter(|run| anchored && run.seq() == snapshot.seq && run.id() == id);
    let Some(run) = run else { return Ok(None) };
    Ok(begins_as_written(journal, id, &run)?.then_some((run, snapshot)))
}

/// Whether a state that was kept has the plan with which its run began. No chain covers such a state; the first
/// event is covered.
fn begins_as_written(journal: &dyn Journal, id: &RunId, run: &Run) -> Result<bool, ReadError> {
    let first = blocking(journal).records(id, 0, 1)?;
    let origin = ChainHash::origin(id);
    let first = first.first().filter(|it| it.seq == 1 && it.hash_after(origin) == it.hash);
    let event = first.and_then(|record| record.event().ok());
    let Some(Event { body: EventBody::RunCreated(created), .. }) = event else { return Ok(false) };
    Ok(run.created().is_some_and(|kept| kept.plan == created.plan))
}

/// Reads the events after `after`, checks each against the chain, and hands it on.
///
/// A long run is read and checked on a thread of its own, while this one takes events apart and visits them.
pub(crate) fn walk(
    journal: &dyn Journal,
    id: &RunId,
    after: u64,
    head: ChainHash,
    visit: impl FnMut(&Record, &Event) -> Result<(), Misfit>,
) -> Result<(), LoadError> {
    walk_to(journal, id, (after, head), None, visit)
}

/// The same, up to event `to`, where one is named.
fn walk_to(
    journal: &dyn Journal,
    id: &RunId,
    (after, head): (u64, ChainHash),
    to: Option<u64>,
    mut visit: impl FnMut(&Record, &Event) -> Result<(), Misfit>,
) -> Result<(), LoadError> {
    let to = to.unwrap_or(u64::MAX);
    if after >= to {
        return Ok(());
    }
    let mut pages = Pages { journal, id, chain: Chain::behind(after, head) };
    let mut visit_all = |records: &[Record]| -> Result<(), LoadError> {
        for record in records.iter().take_while(|record| record.seq <= to) {
            let damaged = |what| LoadError::Damaged { run: id.clone(), seq: record.seq, what };
            let event = record.event().map_err(|error| damaged(error.to_string()))?;
            if let EventBody::RunCreated(created) = &event.body {
                is_read(id, created)?;
            }
            visit(record, &event).map_err(|misfit| damaged(misfit.to_string()))?;
        }
        Ok(())
    };
    let first = pages.next()?;
    visit_all(&first.records)?;
    let reached = |page: &Page| page.end || page.records.last().is_some_and(|it| it.seq >= to);
    if reached(&first) {
        return Ok(());
    }
    std::thread::scope(|scope| {
        let (sender, read) = mpsc::sync_channel(PAGES_AHEAD);
        scope.spawn(move || {
            loop {
                let page = pages.next();
                let last = page.as_ref().map_or(true, &reached);
                // An error means that the receiver is gone.
                if sender.send(page).is_err() || last {
                    return;
                }
            }
        });
        for page in read {
            visit_all(&page?.records)?;
        }
        Ok(())
    })
}

/// Refuses a run of a program that was never released.
fn is_read(id: &RunId, created: &RunCreated) -> Result<(), LoadError> {
    let found = created.journal_version;
    if created.is_earlier() { Err(LoadError::Earlier { run: id.clone(), found }) } else { Ok(()) }
}

/// Says who wrote a run that is refused, and where it can be read.
pub(crate) fn earlier(found: u32) -> String {
    format!(
        "written by an earlier, unreleased version of materia (journal version {found}; this one reads {JOURNAL_VERSION_OF_PROJECT} and {JOURNAL_VERSION}); look at it with that version, or move the journal away"
    )
}

/// Maximum number of pages that are read ahead.
const PAGES_AHEAD: usize = 4;

/// A way through the records of a run, each checked against the chain.
struct Pages<'a> {
    journal: &'a dyn Journal,
    id: &'a RunId,
    chain: Chain,
}

impl Pages<'_> {
    fn next(&mut self) -> Result<Page, LoadError> {
        let page = blocking(self.journal).read(self.id, self.chain.seq(), PAGE_BYTES)?;
        self.chain.check(&page).map_err(|Broken { seq, what, .. }| LoadError::Damaged {
            run: self.id.clone(),
            seq,
            what,
        })?;
        Ok(page)
    }
}
