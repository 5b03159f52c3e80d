//! One line for each turn that starts or ends, and for what else is worth one.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use materia_app::text::event_importance::{Importance, news};
use materia_contract::time::Micros;
use materia_contract::{NodeId, RunId};
use materia_engine::{Committed, Observer};
use materia_runners::agents::DOES;

use crate::People;
use materia_app::text::event_text;
use materia_app::text::narrator::Narrator;
use materia_app::text::sanitize::one_line;

/// Maximum characters of one line about an agent's action.
const DOES_CHARS_MAX: usize = 120;

/// Prints a run line by line. It prints the actions of agents; their text does not belong in a log.
pub struct Plain {
    err: People,
    known: Mutex<Known>,
}

struct Known {
    story: Narrator,
    /// When the turns under way started.
    started: BTreeMap<u64, Micros>,
    /// The line that each node is writing, as much of it as matters.
    open: BTreeMap<NodeId, String>,
}

impl Plain {
    /// Tells it to `err`, going on from the story so far.
    pub fn new(err: People, story: Narrator) -> Self {
        Self {
            err,
            known: Mutex::new(Known { story, started: BTreeMap::new(), open: BTreeMap::new() }),
        }
    }
}

impl Observer for Plain {
    fn committed(&self, told: &Committed) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for event in &*told.events {
            known.story.note(event);
            let ended = match news(event) {
                Importance::Started => {
                    known.started.insert(event.seq, event.wall);
                    None
                }
                Importance::Ended(turn, _) => known.started.remove(&turn),
                Importance::Worth => None,
                Importance::Detail => continue,
            };
            let took = ended
                .map(|began| format!(" after {}", event_text::duration(event.wall - began)))
                .unwrap_or_default();
            let title = |node| format!("{}: ", known.story.who(node));
            let whose = event.node.as_ref().map(title).unwrap_or_default();
            self.err.say(format_args!("{whose}{}{took}", event_text::event(event, &known.story)));
        }
    }

    fn streamed(&self, _run: &RunId, node: &NodeId, text: &str) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let open = known.open.entry(node.clone()).or_default();
        let mut pieces = text.split('\n').peekable();
        while let Some(piece) = pieces.next() {
            // More than is shown need not be kept.
            let room = (2 * DOES_CHARS_MAX).saturating_sub(open.chars().count());
            open.extend(piece.chars().take(room));
            if pieces.peek().is_none() {
                break;
            }
            if open.starts_with(DOES) {
                self.err.say(format_args!("{node}: {}", one_line(open, DOES_CHARS_MAX)));
            }
            open.clear();
        }
    }
}
