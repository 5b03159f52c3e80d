use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use materia_contract::time::wall_time;
use materia_contract::{CastLine, CastStatus, EventBody, Record, RunId};

use super::{
    AppendError, Batch, BoxFuture, Chapter, Claim, ClaimError, Command, Head, Journal, Posted,
    ReadError, Receipt, Snapshot,
};

/// A journal in memory: for tests, and to show what the contract asks.
#[derive(Debug, Clone, Default)]
pub struct MemoryJournal(Arc<Mutex<Store>>);

#[derive(Debug, Default)]
struct Store {
    order: Vec<RunId>,
    runs: HashMap<RunId, Vec<Record>>,
    snapshots: HashMap<RunId, Vec<Snapshot>>,
    claimed: HashSet<RunId>,
    /// All commands that were ever left: the number of one is its place here, from 1.
    inbox: Vec<(RunId, Command, Option<Receipt>)>,
}

impl Store {
    fn append(&mut self, batch: Batch) {
        let run = &batch.run;
        if !batch.records.is_empty() && !self.runs.contains_key(run) {
            self.order.push(run.clone());
        }
        if !batch.records.is_empty() {
            self.runs.entry(run.clone()).or_default().extend_from_slice(&batch.records);
        }
        self.snapshots.entry(run.clone()).or_default().extend(batch.snapshot);
        let Some(receipt) = batch.receipt else { return };
        if let Some((_, _, answered)) = place(receipt.command).and_then(|at| self.inbox.get_mut(at))
        {
            *answered = Some(receipt);
        }
    }
}

/// Where the command of this number is.
fn place(command: u64) -> Option<usize> {
    usize::try_from(command).ok()?.checked_sub(1)
}

impl MemoryJournal {
    fn store(&self) -> MutexGuard<'_, Store> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every snapshot that was ever kept of a run, oldest first.
    #[must_use]
    pub fn snapshots(&self, run: &RunId) -> Vec<Snapshot> {
        self.store().snapshots.get(run).cloned().unwrap_or_default()
    }
}

impl Journal for MemoryJournal {
    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<(), AppendError>> {
        let mut store = self.store();
        let actual = store.runs.get(&batch.run).map_or(0, |records| records.len() as u64);
        let result = if actual == batch.after {
            store.append(batch);
            Ok(())
        } else {
            Err(AppendError::Conflict { run: batch.run, expected: batch.after, actual })
        };
        Box::pin(std::future::ready(result))
    }

    fn read(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<Record>, ReadError> {
        let skip = usize::try_from(after).unwrap_or(usize::MAX);
        let store = self.store();
        let records = store.runs.get(run).map(Vec::as_slice).unwrap_or_default();
        Ok(records.iter().skip(skip).take(limit).cloned().collect())
    }

    fn head(&self, run: &RunId) -> Result<Option<Head>, ReadError> {
        let store = self.store();
        let last = store.runs.get(run).and_then(|records| records.last());
        Ok(last.map(|record| Head { seq: record.seq, ts: record.ts, hash: record.hash }))
    }

    fn snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, ReadError> {
        Ok(self.store().snapshots.get(run).and_then(|kept| kept.last().cloned()))
    }

    fn chapters(&self, run: &RunId) -> Result<Vec<Chapter>, ReadError> {
        let store = self.store();
        let kept = store.snapshots.get(run).map(Vec::as_slice).unwrap_or_default();
        let chapter = |snapshot: &Snapshot| Chapter {
            seq: snapshot.seq,
            version: snapshot.version.clone(),
            bytes: snapshot.chapter.clone(),
        };
        Ok(kept.iter().map(chapter).collect())
    }

    fn runs(&self) -> Result<Vec<CastLine>, ReadError> {
        let store = self.store();
        store.order.iter().rev().map(|run| line(run, &store.runs[run])).collect()
    }

    fn claim(&self, run: &RunId) -> Result<Claim, ClaimError> {
        if !self.store().claimed.insert(run.clone()) {
            return Err(ClaimError::Held { run: run.clone(), pid: Some(std::process::id()) });
        }
        Ok(Claim::new(MemoryClaim { journal: self.clone(), run: run.clone() }))
    }

    fn post(&self, run: &RunId, command: &Command) -> Result<u64, ReadError> {
        let mut store = self.store();
        store.inbox.push((run.clone(), command.clone(), None));
        Ok(store.inbox.len() as u64)
    }

    fn commands(&self, run: &RunId) -> Result<Vec<Posted>, ReadError> {
        let store = self.store();
        let waiting = (1..)
            .zip(&store.inbox)
            .filter(|(_, (of, _, answered))| of == run && answered.is_none());
        let posted = |(number, (_, command, _)): (u64, &(RunId, Command, Option<Receipt>))| {
            Posted { number, command: Ok(command.clone()) }
        };
        Ok(waiting.map(posted).collect())
    }

    fn receipt(&self, run: &RunId, command: u64) -> Result<Option<Receipt>, ReadError> {
        let store = self.store();
        let found = place(command).and_then(|at| store.inbox.get(at));
        Ok(found.filter(|(of, _, _)| of == run).and_then(|(_, _, answered)| answered.clone()))
    }
}

struct MemoryClaim {
    journal: MemoryJournal,
    run: RunId,
}

impl Drop for MemoryClaim {
    fn drop(&mut self) {
        self.journal.store().claimed.remove(&self.run);
    }
}

fn line(run: &RunId, records: &[Record]) -> Result<CastLine, ReadError> {
    let damaged = |what: String| ReadError::Damaged { place: format!("event 1 of {run}"), what };
    let first = records.first().ok_or_else(|| damaged("it is missing".into()))?;
    let event = first.event().map_err(|error| damaged(error.to_string()))?;
    let EventBody::RunCreated(created) = event.body else {
        return Err(damaged(format!("it is `{}`", first.kind)));
    };
    let status = records.iter().rev().find_map(|record| status_after(&record.kind));
    Ok(CastLine {
        cast_id: run.clone(),
        status: status.unwrap_or(CastStatus::Running),
        loadout: created.plan.loadout,
        request: created.request,
        started_at: wall_time(first.wall),
        from_cast_id: created.from_cast_id,
    })
}

/// The status a run has behind an event of this type, if the type says.
#[must_use]
pub fn status_after(kind: &str) -> Option<CastStatus> {
    match kind {
        "run.created" | "run.resumed" | "run.revived" => Some(CastStatus::Running),
        "run.waiting" => Some(CastStatus::Waiting),
        "run.completed" => Some(CastStatus::Completed),
        "run.failed" => Some(CastStatus::Failed),
        "run.aborted" => Some(CastStatus::Aborted),
        _ => None,
    }
}
