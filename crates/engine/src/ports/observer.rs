use materia_contract::{Event, NodeId, Record, RunId};

/// Somebody who wants to hear of events once they are durable.
///
/// Called in the order of the journal, from the task that drives the run: an observer hands
/// the news on and returns at once.
pub trait Observer: Send + Sync {
    /// These events of `run` are durable now.
    fn committed(&self, run: &RunId, records: &[Record], events: &[Event]);

    /// A turn at `node` says this while it is under way. It is no fact and may be forgotten.
    fn streamed(&self, _run: &RunId, _node: &NodeId, _text: &str) {}
}

/// Nobody listens.
pub struct NoObserver;

impl Observer for NoObserver {
    fn committed(&self, _run: &RunId, _records: &[Record], _events: &[Event]) {}
}
