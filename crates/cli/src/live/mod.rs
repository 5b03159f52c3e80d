//! A run while it is under way: one line a socket on a terminal, plain lines elsewhere.

mod plain;
mod screen;

use std::sync::Arc;

use materia_contract::{Event, Record, RunId};
use materia_engine::Observer;

pub(crate) use plain::Plain;
pub(crate) use screen::Screen;

/// Several who listen, as one.
pub(crate) struct Observers(pub Vec<Arc<dyn Observer>>);

impl Observer for Observers {
    fn committed(&self, run: &RunId, records: &[Record], events: &[Event]) {
        for observer in &self.0 {
            observer.committed(run, records, events);
        }
    }
}
