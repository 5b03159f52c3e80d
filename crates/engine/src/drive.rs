use std::collections::BTreeSet;
use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{
    Acting, Actor, ChainHash, CommandId, Decided, Event, Input, Moment, NextTick, Record, Report,
    RunId,
};
use materia_kernel::{
    Decision, KERNEL_VERSION, Now, Phase, Rejection, Run, due_schedules, take_with,
};

use crate::ports::nothing;
use crate::storage::{self, Storage};
use crate::views::Visits;
use crate::{
    Answer, AppendError, Batch, Committed, DiskUsage, Epoch, Journal, Observer, Posted, Receipt,
    Snapshot, refusal_of_ended,
};

/// Minimum number of events between two snapshots. It bounds the number of events that a restart folds.
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

/// Backpressure: a run waits for a slow observer.
pub(crate) async fn wait_for_room(observer: &dyn Observer) {
    while let Some(room) = observer.room() {
        room.await;
    }
}

/// One run, where its journal has got to, and who listens.
pub struct Driver {
    run: Run,
    head: ChainHash,
    snapshot_at: u64,
    /// The number of events between the last snapshot and the next.
    snapshot_gap: u64,
    /// Turns since the last snapshot.
    visits: Visits,
    /// Commands that have their receipt. One may come twice: from the inbox, and from who looked there.
    answered: BTreeSet<CommandId>,
    /// The epoch of the lease under which it is driven.
    epoch: Epoch,
    /// Its storage use.
    storage: Storage,
    journal: Arc<dyn Journal>,
    observer: Arc<dyn Observer>,
}

/// On whose account a decision is taken.
struct Account {
    /// Who asked for it, if it was asked for.
    by: Option<Actor>,
    /// The id of the command, and the hash of what it asks for.
    command: Option<(CommandId, Option<String>)>,
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
        (run, head, visits): (Run, ChainHash, Visits),
        kept: DiskUsage,
        epoch: Epoch,
        journal: Arc<dyn Journal>,
        observer: Arc<dyn Observer>,
    ) -> Self {
        let (snapshot_at, snapshot_gap) = (run.seq(), SNAPSHOT_EVERY_EVENTS);
        let answered = BTreeSet::new();
        let storage = Storage::new(kept);
        Self {
            run,
            head,
            snapshot_at,
            snapshot_gap,
            visits,
            answered,
            epoch,
            storage,
            journal,
            observer,
        }
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
        Self::new((Run::new(id), head, visits), nothing(), epoch, journal, observer)
    }

    /// The run as its journal has it.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The epoch of the lease under which it is driven.
    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Takes an input that no command asked for: decides, appends, evolves. The decision is durable on return.
    pub async fn take(&mut self, now: impl Into<Now>, input: Input) -> Result<(), DriveError> {
        let now = now.into();
        // Before the turns that have ended lead to others.
        if *self.run.phase() == Phase::Running
            && let Some(storage) = self.storage.news(&self.run, &*self.journal)
        {
            self.take_for(now, Input::Measured(storage), None).await?;
        }
        self.take_for(now, input, None).await
    }

    /// Measures the disk usage of the run before a turn starts. If the run rests because of its disk usage, this
    /// waits for the measurement.
    pub(crate) async fn measure_first(&mut self, now: impl Into<Now>) -> Result<(), DriveError> {
        if !self.run.is_crowded() {
            let (Phase::Running | Phase::Waiting(_)) = self.run.phase() else { return Ok(()) };
            return match self.storage.no_room(&self.run, &*self.journal) {
                Some(storage) => self.take_for(now, Input::Measured(storage), None).await,
                None => Ok(()),
            };
        }
        let weighed = self.journal.weigh(self.run.id());
        let storage = storage::measured(*weighed.wait().await, &*self.journal);
        self.take_for(now, Input::Measured(storage), None).await
    }

    /// The same, with the actor who asked for it.
    pub async fn take_for(
        &mut self,
        now: impl Into<Now>,
        input: Input,
        by: impl Into<Option<Actor>>,
    ) -> Result<(), DriveError> {
        self.decide(now.into(), input, Account { by: by.into(), command: None }).await
    }

    /// Takes a command after the reports of these turns. On return the decision is durable, and so is the receipt
    /// of a command with an id, whether it was carried out or refused.
    pub async fn obey(
        &mut self,
        now: impl Into<Now>,
        posted: &Posted,
        reports: Vec<Report>,
    ) -> Result<(), DriveError> {
        let acting = |command: &materia_contract::Command| Acting::person(command.what.clone());
        let input = posted
            .command
            .as_ref()
            .map(|command| Input::Moment(Moment { reports, acts: vec![acting(command)] }));
        self.obey_with(now, posted, input.map_err(Clone::clone)).await
    }

    /// The same, where it is worked out what the command means for the run.
    pub(crate) async fn obey_with(
        &mut self,
        now: impl Into<Now>,
        posted: &Posted,
        input: Result<Input, String>,
    ) -> Result<(), DriveError> {
        if self.is_answered(posted).await? {
            return Ok(());
        }
        let by = posted.command.as_ref().map_or(Actor::PERSON, |command| command.actor.clone());
        let command = posted.id.clone().map(|id| (id, posted.body.clone()));
        let account = Account { by: Some(by), command };
        match input.map_err(Rejection::Unreadable).and_then(|input| {
            self.is_meant(posted)?;
            Ok(input)
        }) {
            Ok(input) => self.decide(now.into(), input, account).await,
            Err(rejection) => Err(self.refuse(rejection, account).await?),
        }
    }

    /// Whether a command has its receipt. Where the run has ended, its end has answered whatever waited then.
    async fn is_answered(&mut self, posted: &Posted) -> Result<bool, AppendError> {
        let Some(id) = &posted.id else { return Ok(false) };
        if self.answered.contains(id) {
            return Ok(true);
        }
        if refusal_of_ended(self.run.phase().status()).is_none() {
            return Ok(false);
        }
        let receipt = self.journal.receipt(self.run.id(), id).await;
        let receipt = receipt.map_err(|error| AppendError::Storage(error.to_string()))?;
        Ok(receipt.is_some() && self.answered.insert(id.clone()))
    }

    /// Whether the run is where the sender of a command believes it to be.
    pub(crate) fn is_meant(&self, posted: &Posted) -> Result<(), Rejection> {
        let expected = posted.command.as_ref().ok().and_then(|command| command.expected_seq);
        let actual = self.run.seq();
        match expected {
            Some(expected) if expected != actual => Err(Rejection::GoneOn { expected, actual }),
            Some(_) | None => Ok(()),
        }
    }

    async fn decide(&mut self, now: Now, input: Input, account: Account) -> Result<(), DriveError> {
        let after = self.run.seq();
        let ticks = next_ticks(&self.run, now.at, &input);
        let taken = take_with(&mut self.run, now, &ticks, input);
        let Decision { input, ticks, events } = match taken {
            Ok(decision) => decision,
            Err(rejection) => return Err(self.refuse(rejection, account).await?),
        };
        if events.is_empty() {
            let (first, last) = (after + 1, after);
            return Ok(self.answer(account, Answer::Done { first, last }).await?);
        }
        let Account { by, command } = account;
        let named = command.as_ref().map(|(id, _)| id.clone());
        let until = now.until;
        let decided = Decided { by, command: named, until, ticks, ..Decided::now(now.at, input) };
        let answer = Answer::Done { first: after + 1, last: self.run.seq() };
        let receipt = command.map(|(command, body)| Receipt { command, body, answer });
        self.append(after, &decided, events, receipt).await?;
        Ok(())
    }

    /// Keeps why a command was refused.
    async fn refuse(
        &mut self,
        rejection: Rejection,
        account: Account,
    ) -> Result<DriveError, AppendError> {
        let reason = rejection.to_string();
        self.answer(account, Answer::Refused { reason }).await?;
        Ok(rejection.into())
    }

    /// Makes a decision durable, with the receipt of its command.
    async fn append(
        &mut self,
        after: u64,
        decided: &Decided,
        events: Vec<Event>,
        receipt: Option<Receipt>,
    ) -> Result<(), AppendError> {
        let records: Arc<[Record]> =
            Record::seal_decision(decided.text(), &events, self.head).into();
        let head = records.last().map_or(self.head, |record| record.hash);
        self.storage.count(&records, events.iter().map(|event| &event.body));
        for event in &events {
            self.visits.note(event);
        }
        // No larger than it must be while the run waits for its commit.
        let events: Arc<[Event]> = events.into();
        let run = self.run.id().clone();
        if let Some(snapshot) = self.snapshot_if_due(head)
            && let Some(kept) = self.journal.snapshots()
        {
            kept.keep(&run, snapshot).await;
        }
        let (epoch, records_kept) = (self.epoch, Arc::clone(&records));
        let verdict = self.run.verdict();
        let batch =
            Batch { run: run.clone(), epoch, after, records: records_kept, receipt, verdict };
        let appended = match keep_apart(&*self.journal, &batch.records).await {
            Ok(()) => self.journal.append(batch).await,
            Err(error) => Err(error),
        };
        if let Err(error) = &appended {
            tracing::error!(after, %error, "not written");
        }
        appended?;
        tracing::debug!(first = after + 1, last = self.run.seq(), "decided");
        self.answered.extend(decided.command.clone());
        self.head = head;
        self.observer.committed(&Committed { run, records, events });
        wait_for_room(&*self.observer).await;
        Ok(())
    }

    /// Keeps the receipt of a command that led to no event.
    async fn answer(&mut self, account: Account, answer: Answer) -> Result<(), AppendError> {
        let Some((command, body)) = account.command else { return Ok(()) };
        let (run, epoch, after) = (self.run.id().clone(), self.epoch, self.run.seq());
        let (receipt, records) = (Receipt { command, body, answer }, Arc::from([]));
        let command = receipt.command.clone();
        let receipt = Some(receipt);
        let batch = Batch { run, epoch, after, records, receipt, verdict: None };
        self.journal.append(batch).await?;
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

/// The next ticks of the schedules that an input needs.
fn next_ticks(run: &Run, now: Micros, input: &Input) -> Vec<NextTick> {
    let due = due_schedules(run, now, input).into_iter();
    let next = due.filter_map(|(node, cron)| {
        let at = cron.schedule().ok()?.after(now)?;
        Some(NextTick { node: node.clone(), at })
    });
    next.collect()
}
