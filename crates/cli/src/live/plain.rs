//! One line for each turn that starts or ends.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use materia_contract::time::Micros;
use materia_contract::{Event, EventBody, Record, RunId};
use materia_engine::Observer;

use crate::say;
use crate::terminal::People;

/// Tells of turns, line by line.
pub(crate) struct Plain {
    err: People,
    /// When the turns under way started.
    started: Mutex<BTreeMap<u64, Micros>>,
}

impl Plain {
    /// Tells it to `err`.
    pub(crate) fn new(err: People) -> Self {
        Self { err, started: Mutex::default() }
    }
}

impl Observer for Plain {
    fn committed(&self, _run: &RunId, _records: &[Record], events: &[Event]) {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        for event in events {
            let ended = match &event.body {
                EventBody::TurnStarted(_) => {
                    started.insert(event.seq, event.wall);
                    None
                }
                EventBody::TurnCompleted(data) => Some(data.turn),
                EventBody::TurnFailed(data) => Some(data.turn),
                EventBody::TurnInterrupted(data) => Some(data.turn),
                EventBody::RunCreated(_)
                | EventBody::RunResumed(_)
                | EventBody::RunWaiting(_)
                | EventBody::RunCompleted(_)
                | EventBody::RunFailed(_)
                | EventBody::RunAborted(_)
                | EventBody::RouteSelected(_)
                | EventBody::HandoffSent(_)
                | EventBody::PayloadDelivered(_)
                | EventBody::PayloadConsumed(_)
                | EventBody::StatePatched(_)
                | EventBody::OutputFieldsIgnored(_)
                | EventBody::CursorAdvanced(_) => continue,
            };
            let node = event.node.as_ref().map_or("", |node| node.as_str());
            let took = ended
                .and_then(|turn| started.remove(&turn))
                .map(|began| format!(" after {}", say::duration(event.wall - began)))
                .unwrap_or_default();
            self.err.say(format_args!("{node}: {}{took}", say::event(event)));
        }
    }
}
