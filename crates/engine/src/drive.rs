use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{ChainHash, Record, RunId};
use materia_kernel::{Input, KERNEL_VERSION, Rejection, Run, step};

use crate::{AppendError, Batch, Committed, Journal, Observer, Snapshot};

/// How many events lie between two snapshots at the least. It bounds what a restart has to fold.
pub(crate) const SNAPSHOT_EVERY_EVENTS: u64 = 8_192;

/// How many bytes of a snapshot one event has to pay for. A large run takes snapshots less often, so
/// that writing them stays a fixed part of the cost of an event.
const SNAPSHOT_BYTES_PER_EVENT: u64 = 128;

/// One run, where its journal has got to, and who listens.
pub struct Driver {
    run: Run,
    head: ChainHash,
    snapshot_at: u64,
    /// How many events lie between the last snapshot and the next.
    snapshot_gap: u64,
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
        run: Run,
        head: ChainHash,
        journal: Arc<dyn Journal>,
        observer: Arc<dyn Observer>,
    ) -> Self {
        let snapshot_at = run.seq();
        Self { run, head, snapshot_at, snapshot_gap: SNAPSHOT_EVERY_EVENTS, journal, observer }
    }

    /// A run that does not exist yet.
    #[must_use]
    pub fn fresh(id: RunId, journal: Arc<dyn Journal>, observer: Arc<dyn Observer>) -> Self {
        let head = ChainHash::origin(&id);
        Self::new(Run::new(id), head, journal, observer)
    }

    /// The run as its journal has it.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Takes one input: decides, appends, evolves. When it returns, what was decided is durable.
    pub async fn take(&mut self, now: Micros, input: Input) -> Result<(), DriveError> {
        let after = self.run.seq();
        let events = step(&mut self.run, now, input)?;
        if events.is_empty() {
            return Ok(());
        }
        let mut head = self.head;
        let records: Arc<[Record]> = events
            .iter()
            .map(|event| {
                let record = Record::seal(event, head);
                head = record.hash;
                record
            })
            .collect();
        let snapshot = self.snapshot_if_due(head);
        let run = self.run.id().clone();
        let batch = Batch { run: run.clone(), after, records: Arc::clone(&records), snapshot };
        self.journal.append(batch).await?;
        self.head = head;
        self.observer.committed(&Committed { run, records, events: events.into() });
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
        Some(Snapshot { seq, hash, version: KERNEL_VERSION.to_owned(), bytes })
    }
}
