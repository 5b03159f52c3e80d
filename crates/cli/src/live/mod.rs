//! A run while it is under way: one line a socket on a terminal, plain lines elsewhere.

mod plain;
mod screen;

use std::sync::Arc;

use materia_contract::{NodeId, RunId};
use materia_engine::{BoxFuture, Committed, Observer};

pub(crate) use plain::Plain;
pub(crate) use screen::Screen;

/// Several who listen, as one.
pub(crate) struct Observers(pub Vec<Arc<dyn Observer>>);

impl Observer for Observers {
    fn committed(&self, news: &Committed) {
        for observer in &self.0 {
            observer.committed(news);
        }
    }

    fn room(&self) -> Option<BoxFuture<'static, ()>> {
        self.0.iter().find_map(|observer| observer.room())
    }

    fn streamed(&self, run: &RunId, node: &NodeId, text: &str) {
        for observer in &self.0 {
            observer.streamed(run, node, text);
        }
    }
}
