use std::sync::Arc;

use materia_contract::{Event, NodeId, Record, RunId};

use super::BoxFuture;

/// Events of one decision that are durable now. They are shared, so an observer can keep them cheaply.
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

    /// If the observer writes files: a future that resolves when they are written. A program starts only then, so
    /// that it finds its input files and the observer does not write them while it runs.
    fn on_file(&self) -> Option<BoxFuture<'static, ()>> {
        None
    }

    /// A turn at `node` says this while it is under way. It is no fact and may be forgotten.
    fn streamed(&self, _run: &RunId, _node: &NodeId, _text: &str) {}
}

/// An observer that ignores everything.
pub struct NoObserver;

impl Observer for NoObserver {
    fn committed(&self, _news: &Committed) {}
}
