use std::collections::BTreeSet;
use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{ChainHash, Decided, Event, Input, NextTick, Record, RunId};
use materia_kernel::{Decision, KERNEL_VERSION, Now, Rejection, Run, due_schedules, take_with};

use crate::load::Loaded;
use crate::visits::Visits;
use crate::{
    Answer, AppendError, Ask, Batch, Committed, Epoch, Journal, Observer, Receipt, Snapshot,
};

/// How many events lie between two snapshots at the least. It bounds what a restart has to fold.
pub(crate) const SNAPSHOT_EVERY_EVENTS: u64 = 8_192;

/// How many bytes of a snapshot one event has to pay for. A large run takes snapshots less often, so
/// that writing them stays a fixed part of the cost of an event.
const SNAPSHOT_BYTES_PER_EVENT: u64 = 128;

/// Makes the texts durable that records name by their hash. A text may be there without its event; an event never
/// without its text.
pub(crate) async fn keep_apart(
    journal: &dyn Journal,
    records: &[Record],
) -> Result<(), AppendError> {
    for blob in records.iter().filter(|record| record.whole.is_some()).flat_map(Record::blobs) {
        journal.blobs().put(blob.text.into_bytes()).await?;
    }
    Ok(())
}

/// One run, where its journal has got to, and who listens.
pub struct Driver {
    run: Run,
    head: ChainHash,
    snapshot_at: u64,
    /// How many events lie between the last snapshot and the next.
    snapshot_gap: u64,
    /// Turns since the last snapshot.
    visits: Visits,
    /// Commands that have their receipt. One may come twice: from the inbox, and from who looked there.
    answered: BTreeSet<u64>,
    /// That of the lease under which it is driven.
    epoch: Epoch,
    journal: Arc<dyn Journal>,
    observer: Arc<dyn Observer>,
}

/// Why an input was not taken.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The kernel refused it. Nothing has changed.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The journal refused the events. The driver must be thrown away.
    #[error(transparent)]
    Append(#[from] AppendError),
}

impl Driver {
    /// Takes up a run at the state its journal gives.
    pub(crate) fn new(
        loaded: Loaded,
        epoch: Epoch,
        journal: Arc<dyn Journal>,
        observer: Arc<dyn Observer>,
    ) -> Self {
        let Loaded { run, head, visits } = loaded;
        let (snapshot_at, snapshot_gap) = (run.seq(), SNAPSHOT_EVERY_EVENTS);
        let answered = BTreeSet::new();
        Self { run, head, snapshot_at, snapshot_gap, visits, answered, epoch, journal, observer }
    }

    /// A run that does not exist yet, under the lease of this epoch.
    #[must_use]
    pub fn fresh(
        id: RunId,
        epoch: Epoch,
        journal: Arc<dyn Journal>,
        observer: Arc<dyn Observer>,
    ) -> Self {
        let (head, visits) = (ChainHash::origin(&id), Visits::default());
        Self::new(Loaded { run: Run::new(id), head, visits }, epoch, journal, observer)
    }

    /// The run as its journal has it.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// That of the lease under which it is driven.
    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Takes what is asked: decides, appends, evolves. When it returns, what was decided is durable, and
    /// so is the receipt of a command that another process left, whether it was carried out or refused.
    pub async fn take(
        &mut self,
        now: impl Into<Now>,
        ask: impl Into<Ask>,
    ) -> Result<(), DriveError> {
        let (now, Ask { input, by, command }) = (now.into(), ask.into());
        if command.is_some_and(|command| self.answered.contains(&command)) {
            return Ok(());
        }
        let after = self.run.seq();
        let taken = input.map_err(Rejection::Unreadable).and_then(|input| {
            let ticks = next_ticks(&self.run, now.at, &input);
            take_with(&mut self.run, now, &ticks, input)
        });
        let Decision { input, ticks, events } = match taken {
            Ok(decision) => decision,
            Err(rejection) => {
                let reason = rejection.to_string();
                self.answer(command, after, Answer::Refused { reason }).await?;
                return Err(rejection.into());
            }
        };
        if events.is_empty() {
            let (first, last) = (after + 1, after);
            return Ok(self.answer(command, after, Answer::Done { first, last }).await?);
        }
        let decided = Decided { by, command, ticks, ..Decided::now(now.at, input) };
        self.append(after, &decided, events).await?;
        Ok(())
    }

    /// Makes a decision durable, with the receipt of its command.
    async fn append(
        &mut self,
        after: u64,
        decided: &Decided,
        events: Vec<Event>,
    ) -> Result<(), AppendError> {
        let records: Arc<[Record]> =
            Record::seal_decision(decided.text(), &events, self.head).into();
        let head = records.last().map_or(self.head, |record| record.hash);
        for event in &events {
            self.visits.note(event);
        }
        let run = self.run.id().clone();
        if let Some(snapshot) = self.snapshot_if_due(head)
            && let Some(kept) = self.journal.snapshots()
        {
            kept.keep(&run, snapshot).await;
        }
        let answer = Answer::Done { first: after + 1, last: self.run.seq() };
        let receipt = decided.command.map(|command| Receipt { command, answer });
        let (epoch, records_kept) = (self.epoch, Arc::clone(&records));
        let batch = Batch { run: run.clone(), epoch, after, records: records_kept, receipt };
        let appended = match keep_apart(&*self.journal, &batch.records).await {
            Ok(()) => self.journal.append(batch).await,
            Err(error) => Err(error),
        };
        if let Err(error) = &appended {
            tracing::error!(after, %error, "not written");
        }
        appended?;
        tracing::debug!(first = after + 1, last = self.run.seq(), "decided");
        self.answered.extend(decided.command);
        self.head = head;
        self.observer.committed(&Committed { run, records, events: events.into() });
        // A run does not go on faster than those who write down what it does.
        while let Some(room) = self.observer.room() {
            room.await;
        }
        Ok(())
    }

    /// Keeps the receipt of a command that led to no event.
    async fn answer(
        &mut self,
        command: Option<u64>,
        after: u64,
        answer: Answer,
    ) -> Result<(), AppendError> {
        let Some(command) = command else { return Ok(()) };
        let (run, epoch, records) = (self.run.id().clone(), self.epoch, Arc::from([]));
        let receipt = Some(Receipt { command, answer });
        self.journal.append(Batch { run, epoch, after, records, receipt }).await?;
        self.answered.insert(command);
        Ok(())
    }

    fn snapshot_if_due(&mut self, hash: ChainHash) -> Option<Snapshot> {
        let seq = self.run.seq();
        if seq < self.snapshot_at + self.snapshot_gap {
            return None;
        }
        self.snapshot_at = seq;
        let bytes = serde_json::to_vec(&self.run).ok()?;
        let paid_for = bytes.len() as u64 / SNAPSHOT_BYTES_PER_EVENT;
        self.snapshot_gap = paid_for.max(SNAPSHOT_EVERY_EVENTS);
        let chapter = self.visits.close(seq, &self.run.created()?.plan);
        Some(Snapshot { seq, hash, version: KERNEL_VERSION.to_owned(), bytes, chapter })
    }
}

/// When the schedules that an input needs come round next.
fn next_ticks(run: &Run, now: Micros, input: &Input) -> Vec<NextTick> {
    let due = due_schedules(run, now, input).into_iter();
    let next = due.filter_map(|(node, cron)| {
        let at = cron.schedule().ok()?.after(now)?;
        Some(NextTick { node: node.clone(), at })
    });
    next.collect()
}
