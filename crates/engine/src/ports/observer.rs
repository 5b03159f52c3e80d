use materia_contract::{Event, Record, RunId};

/// Somebody who wants to hear of events once they are durable.
///
/// Called in the order of the journal, from the task that drives the run: an observer hands
/// the news on and returns at once.
pub trait Observer: Send + Sync {
    /// These events of `run` are durable now.
    fn committed(&self, run: &RunId, records: &[Record], events: &[Event]);
}

/// Nobody listens.
pub struct NoObserver;

impl Observer for NoObserver {
    fn committed(&self, _run: &RunId, _records: &[Record], _events: &[Event]) {}
}
