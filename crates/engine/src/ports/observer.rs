use std::sync::Arc;

use materia_contract::{Event, NodeId, Record, RunId};

use super::BoxFuture;

/// Events of one decision that are durable now. Whoever wants to keep them shares them.
#[derive(Debug, Clone)]
pub struct Committed {
    /// The run they belong to.
    pub run: RunId,
    /// As they were written.
    pub records: Arc<[Record]>,
    /// As they were decided, one for each record.
    pub events: Arc<[Event]>,
}

/// Gets events once they are durable.
///
/// Called in the order of the journal, from the task that drives the run: an observer must hand them on and return at
/// once.
pub trait Observer: Send + Sync {
    /// These events are durable now.
    fn committed(&self, news: &Committed);

    /// Where the observer has more than it can hold: what to wait for before the run goes on.
    fn room(&self) -> Option<BoxFuture<'static, ()>> {
        None
    }

    /// Where the observer keeps files of what it heard: what to wait for until they are there. A program is started
    /// only then: it finds what it was given, and whatever it does to those files, nobody writes them meanwhile.
    fn on_file(&self) -> Option<BoxFuture<'static, ()>> {
        None
    }

    /// A turn at `node` says this while it is under way. It is no fact and may be forgotten.
    fn streamed(&self, _run: &RunId, _node: &NodeId, _text: &str) {}
}

/// Nobody listens.
pub struct NoObserver;

impl Observer for NoObserver {
    fn committed(&self, _news: &Committed) {}
}
