use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use materia_contract::time::wall_time;
use materia_contract::{CastLine, CastStatus, Command, CommandId, EventBody, Record, RunId};
use tokio::sync::watch;

use super::{
    Answer, AppendError, Batch, Blobs, BoxFuture, Chapter, ClaimError, Cursor, Epoch, Head,
    Journal, Lease, Lines, MemoryBlobs, PAGE_BYTES, Page, PostError, Posted, Posting, ReadError,
    Receipt, Snapshot, Snapshots, Tail, follow, line_bytes, record_bytes, refusal_of_ended,
    status_after, text_of,
};

/// A journal in memory: for tests, and to show what the contract asks.
#[derive(Debug, Clone, Default)]
pub struct MemoryJournal {
    store: Arc<Mutex<Store>>,
    /// Notifies followers of new records.
    grown: watch::Sender<u64>,
    /// Whether appends are held: see [`MemoryJournal::hold`].
    held: Arc<AtomicBool>,
    /// Texts that records name by their hash.
    pub blobs: MemoryBlobs,
}

#[derive(Debug, Default)]
struct Store {
    order: Vec<RunId>,
    runs: HashMap<RunId, Vec<Record>>,
    snapshots: HashMap<RunId, Vec<Snapshot>>,
    /// Runs with a lease, and the channel that tells the holder about the loss of its lease.
    claimed: HashMap<RunId, (Epoch, watch::Sender<bool>)>,
    epochs: HashMap<RunId, Epoch>,
    /// Commands that wait, oldest first.
    inbox: Vec<(RunId, Posted)>,
    /// How many were ever left.
    posted: u64,
    receipts: HashMap<(RunId, CommandId), Receipt>,
}

impl Store {
    fn append(&mut self, batch: Batch) -> Result<(), AppendError> {
        let (run, epoch) = (&batch.run, batch.epoch);
        let newest = self.epochs.get(run).copied().unwrap_or_default();
        if epoch != newest {
            return Err(AppendError::Fenced { run: batch.run, epoch, newest });
        }
        let actual = self.runs.get(run).map_or(0, |records| records.len() as u64);
        if actual != batch.after {
            return Err(AppendError::Conflict { run: batch.run, expected: batch.after, actual });
        }
        if let Some(receipt) = &batch.receipt
            && self.receipts.contains_key(&(run.clone(), receipt.command.clone()))
        {
            let what = format!("command {} has been answered before", receipt.command);
            return Err(AppendError::Storage(what));
        }
        if !batch.records.is_empty() {
            if actual == 0 {
                self.order.push(run.clone());
            }
            // Texts in the blob store are not stored twice.
            let stored = batch.records.iter().map(|it| Record { whole: None, ..it.clone() });
            self.runs.entry(run.clone()).or_default().extend(stored);
        }
        if let Some(receipt) = batch.receipt {
            let id = &receipt.command;
            self.inbox.retain(|(of, posted)| *of != batch.run || posted.id.as_ref() != Some(id));
            self.receipts.insert((batch.run.clone(), id.clone()), receipt);
        }
        let status = batch.records.iter().rev().find_map(|record| status_after(&record.kind));
        if let Some(reason) = status.and_then(refusal_of_ended) {
            self.refuse_all(&batch.run, &reason);
        }
        Ok(())
    }

    /// Refuses everything that waits for a run.
    fn refuse_all(&mut self, run: &RunId, reason: &str) {
        let waiting = self.inbox.extract_if(.., |(of, _)| of == run);
        for (_, Posted { id, body, .. }) in waiting.collect::<Vec<_>>() {
            let Some(command) = id else { continue };
            let answer = Answer::Refused { reason: reason.to_owned() };
            let key = (run.clone(), command.clone());
            self.receipts.insert(key, Receipt { command, body, answer });
        }
    }

    /// Why a run refuses commands, where it has ended.
    fn refusal(&self, run: &RunId) -> Option<String> {
        let mut kinds = self.runs.get(run)?.iter().rev().map(|record| record.kind.as_str());
        refusal_of_ended(kinds.find_map(status_after)?)
    }

    fn post(&mut self, run: &RunId, command: &Command) -> Result<Posting, PostError> {
        let body = command.body_hash();
        if let Some(id) = command.id.clone() {
            let receipt = self.receipts.get(&(run.clone(), id.clone())).cloned();
            let waits = self.inbox.iter().find(|(of, it)| of == run && it.id.as_ref() == Some(&id));
            let known = receipt.as_ref().map(|receipt| receipt.body.as_ref());
            let known = known.or_else(|| waits.map(|(_, posted)| posted.body.as_ref()));
            match known {
                Some(Some(other)) if *other != body => return Err(PostError::OtherBody(id)),
                Some(_) => return Ok(Posting { id, receipt }),
                None => {}
            }
        }
        self.posted += 1;
        let id = command.id.clone().unwrap_or_else(|| CommandId::numbered(self.posted));
        if let Some(reason) = self.refusal(run).filter(|_| !command.what.revives()) {
            let answer = Answer::Refused { reason };
            let receipt = Receipt { command: id.clone(), body: Some(body), answer };
            self.receipts.insert((run.clone(), id.clone()), receipt.clone());
            return Ok(Posting { id, receipt: Some(receipt) });
        }
        let command = Ok(Command { id: Some(id.clone()), ..command.clone() });
        let posted = Posted { id: Some(id.clone()), body: Some(body), command };
        self.inbox.push((run.clone(), posted));
        Ok(Posting { id, receipt: None })
    }

    fn page(&self, run: &RunId, after: u64, bytes: usize, blobs: &MemoryBlobs) -> Page {
        let skip = usize::try_from(after).unwrap_or(usize::MAX);
        let all = self.runs.get(run).map(Vec::as_slice).unwrap_or_default();
        let mut page = Page { end: true, ..Page::default() };
        let mut taken = 0;
        for record in all.iter().skip(skip) {
            taken += record_bytes(record);
            page.records.push(filled(record, blobs));
            if taken >= bytes {
                page.end = false;
                break;
            }
        }
        page
    }

    /// The list from the newest run that is older than the one at `before`.
    fn lines(&self, before: usize, bytes: usize, blobs: &MemoryBlobs) -> Result<Lines, ReadError> {
        let mut page = Lines::default();
        let mut taken = 0;
        for (place, run) in self.order.iter().enumerate().take(before).rev() {
            if taken >= bytes && !page.lines.is_empty() {
                page.next = Some(Cursor((place + 1).to_string()));
                break;
            }
            let line = line(run, &self.runs[run], blobs)?;
            taken += line_bytes(&line);
            page.lines.push(line);
        }
        Ok(page)
    }
}

/// A record with the texts that are kept apart from it.
fn filled(record: &Record, blobs: &MemoryBlobs) -> Record {
    let mut record = record.clone();
    record.fill(|hash, _| text_of(hash, blobs.find(hash)?));
    record
}

fn at_once<T: Send + 'static>(value: T) -> BoxFuture<'static, T> {
    Box::pin(std::future::ready(value))
}

impl MemoryJournal {
    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on no append is written or resolves, as if the caller had crashed. `false` ends that.
    pub fn hold(&self, held: bool) {
        self.held.store(held, Ordering::SeqCst);
    }

    /// Takes the lease of a run away from its holder, like a store whose leases expire.
    pub fn take_away(&self, run: &RunId) {
        if let Some((_, lose)) = self.store().claimed.remove(run) {
            lose.send_replace(true);
        }
    }

    /// Every snapshot that was ever kept of a run, oldest first.
    #[must_use]
    pub fn every_snapshot(&self, run: &RunId) -> Vec<Snapshot> {
        self.store().snapshots.get(run).cloned().unwrap_or_default()
    }
}

impl Journal for MemoryJournal {
    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<(), AppendError>> {
        if self.held.load(Ordering::SeqCst) {
            return Box::pin(std::future::pending());
        }
        let appended = self.store().append(batch);
        if appended.is_ok() {
            self.grown.send_modify(|times| *times += 1);
        }
        at_once(appended)
    }

    fn read(
        &self,
        run: &RunId,
        after: u64,
        bytes: usize,
    ) -> BoxFuture<'_, Result<Page, ReadError>> {
        at_once(Ok(self.store().page(run, after, bytes, &self.blobs)))
    }

    fn tail(&self, run: &RunId, after: u64) -> Tail {
        let (store, run, blobs) = (Arc::clone(&self.store), run.clone(), self.blobs.clone());
        follow(after, self.grown.subscribe(), move |after| {
            let store = store.lock().unwrap_or_else(PoisonError::into_inner);
            std::future::ready(Ok(store.page(&run, after, PAGE_BYTES, &blobs)))
        })
    }

    fn blobs(&self) -> &dyn Blobs {
        &self.blobs
    }

    fn head(&self, run: &RunId) -> BoxFuture<'_, Result<Option<Head>, ReadError>> {
        let store = self.store();
        let last = store.runs.get(run).and_then(|records| records.last());
        let head = |record: &Record| Head { seq: record.seq, ts: record.ts, hash: record.hash };
        at_once(Ok(last.map(head)))
    }

    fn runs(
        &self,
        after: Option<&Cursor>,
        bytes: usize,
    ) -> BoxFuture<'_, Result<Lines, ReadError>> {
        let before = match after.map(|cursor| cursor.0.parse()) {
            None => usize::MAX,
            Some(Ok(before)) => before,
            Some(Err(_)) => return at_once(Err(ReadError::NoSuchPlace)),
        };
        at_once(self.store().lines(before, bytes, &self.blobs))
    }

    fn line(&self, run: &RunId) -> BoxFuture<'_, Result<Option<CastLine>, ReadError>> {
        let store = self.store();
        let found = store.runs.get(run).map(|records| line(run, records, &self.blobs));
        at_once(found.transpose())
    }

    fn claim(&self, run: &RunId) -> BoxFuture<'_, Result<Lease, ClaimError>> {
        let mut store = self.store();
        if store.claimed.contains_key(run) {
            let pid = Some(std::process::id());
            return at_once(Err(ClaimError::Held { run: run.clone(), pid }));
        }
        let epoch = store.epochs.entry(run.clone()).or_default();
        epoch.0 += 1;
        let epoch = *epoch;
        let (tell, lost) = watch::channel(false);
        store.claimed.insert(run.clone(), (epoch, tell));
        let holder = MemoryLease { journal: self.clone(), run: run.clone(), epoch };
        at_once(Ok(Lease::new(epoch, holder).until(lost)))
    }

    fn is_driven(&self, run: &RunId) -> BoxFuture<'_, Result<bool, ClaimError>> {
        at_once(Ok(self.store().claimed.contains_key(run)))
    }

    fn post(&self, run: &RunId, command: &Command) -> BoxFuture<'_, Result<Posting, PostError>> {
        at_once(self.store().post(run, command))
    }

    fn withdraw(
        &self,
        run: &RunId,
        epoch: Epoch,
        command: &CommandId,
    ) -> BoxFuture<'_, Result<bool, ReadError>> {
        let mut store = self.store();
        if store.epochs.get(run) != Some(&epoch) {
            return at_once(Ok(false));
        }
        let before = store.inbox.len();
        store.inbox.retain(|(of, posted)| of != run || posted.id.as_ref() != Some(command));
        at_once(Ok(store.inbox.len() < before))
    }

    fn commands(&self, run: &RunId) -> BoxFuture<'_, Result<Vec<Posted>, ReadError>> {
        let store = self.store();
        let waiting = store.inbox.iter().filter(|(of, _)| of == run);
        at_once(Ok(waiting.map(|(_, posted)| posted.clone()).collect()))
    }

    fn addressed(&self) -> BoxFuture<'_, Result<Vec<RunId>, ReadError>> {
        let store = self.store();
        let runs: HashSet<&RunId> = store.inbox.iter().map(|(run, _)| run).collect();
        at_once(Ok(runs.into_iter().cloned().collect()))
    }

    fn receipt(
        &self,
        run: &RunId,
        command: &CommandId,
    ) -> BoxFuture<'_, Result<Option<Receipt>, ReadError>> {
        at_once(Ok(self.store().receipts.get(&(run.clone(), command.clone())).cloned()))
    }

    fn snapshots(&self) -> Option<&dyn Snapshots> {
        Some(self)
    }
}

impl Snapshots for MemoryJournal {
    fn keep(&self, run: &RunId, snapshot: Snapshot) -> BoxFuture<'_, ()> {
        self.store().snapshots.entry(run.clone()).or_default().push(snapshot);
        at_once(())
    }

    fn newest(&self, run: &RunId) -> BoxFuture<'_, Result<Option<Snapshot>, ReadError>> {
        at_once(Ok(self.store().snapshots.get(run).and_then(|kept| kept.last().cloned())))
    }

    fn before(&self, run: &RunId, seq: u64) -> BoxFuture<'_, Result<Option<Snapshot>, ReadError>> {
        let store = self.store();
        let kept = store.snapshots.get(run).map(Vec::as_slice).unwrap_or_default();
        at_once(Ok(kept.iter().rev().find(|snapshot| snapshot.seq <= seq).cloned()))
    }

    fn chapters(&self, run: &RunId) -> BoxFuture<'_, Result<Vec<Chapter>, ReadError>> {
        let chapter = |snapshot: &Snapshot| Chapter {
            seq: snapshot.seq,
            version: snapshot.version.clone(),
            bytes: snapshot.chapter.clone(),
        };
        let store = self.store();
        let kept = store.snapshots.get(run).map(Vec::as_slice).unwrap_or_default();
        at_once(Ok(kept.iter().map(chapter).collect()))
    }
}

struct MemoryLease {
    journal: MemoryJournal,
    run: RunId,
    epoch: Epoch,
}

impl Drop for MemoryLease {
    fn drop(&mut self) {
        let mut store = self.journal.store();
        // Another holder may have claimed it since.
        if store.claimed.get(&self.run).is_some_and(|(epoch, _)| *epoch == self.epoch) {
            store.claimed.remove(&self.run);
        }
    }
}

fn line(run: &RunId, records: &[Record], blobs: &MemoryBlobs) -> Result<CastLine, ReadError> {
    let damaged = |what: String| ReadError::Damaged { place: format!("event 1 of {run}"), what };
    let mut first = records.first().ok_or_else(|| damaged("it is missing".into()))?.clone();
    first.fill(|hash, _| text_of(hash, blobs.find(hash)?));
    let event = first.event().map_err(|error| damaged(error.to_string()))?;
    let EventBody::RunCreated(created) = event.body else {
        return Err(damaged(format!("it is `{}`", first.kind)));
    };
    let status = records.iter().rev().find_map(|record| status_after(&record.kind));
    Ok(CastLine {
        cast_id: run.clone(),
        status: status.unwrap_or(CastStatus::Running),
        loadout: created.plan.loadout.clone(),
        request: created.request.clone(),
        started_at: wall_time(first.wall),
        from_cast_id: created.from_cast_id.clone(),
        verdict: None,
    })
}
