//! Independent check of a journal.
//!
//! From the plan and the events alone: is every event allowed at its place? The rules are written here a second time,
//! from the specification, and share no code with the kernel. The kernel computes which events follow; this crate
//! checks whether the given ones may.
//!
//! # How it works
//!
//! * [`Verifier::see`] takes one event after the other. Most events create obligations: an output must be parsed,
//!   patched into the variables and routed; a payload on an edge must be delivered, dropped or kept. Obligations are
//!   a stack (`obligations`); an event fulfils the topmost, or opens a new part of the decision in the order of D7
//!   (`order`).
//! * [`Verifier::decided`] closes a decision. No obligation may be left, no due timer, no node that could have
//!   started; and the instant of the decision must explain every time in it.
//!
//! # Invariants
//!
//! * No event makes it panic. After an objection its results are meaningless, but calls are still allowed.
//! * Its memory is bounded by the plan and by open work, never by the history.

mod arrive;
mod budget;
mod clock;
mod cross;
mod decided;
mod fail;
mod files;
mod held_files;
mod items;
mod leave;
mod life;
mod lookup;
mod money;
mod obligations;
mod order;
mod owed;
mod parts;
mod people;
mod precedence;
mod read;
mod shorten;
mod skipped;
mod stall;
mod start;
mod state;
mod timers;
mod traces;
mod trail;
mod turn_input;
mod turns;
mod wiring;

use materia_contract::time::Micros;
use materia_contract::{Event, EventBody, NodeId, Pace, Plan, RunId, WaitReason};

pub use state::Life;
pub use state::Verifier;

/// Why an event cannot stand where it does.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {seq}: {what}")]
pub struct Objection {
    /// The event.
    pub seq: u64,
    /// The fault in a sentence.
    pub what: String,
}

/// Result of a check.
pub(crate) type Checked<T = ()> = Result<T, Objection>;

/// Objects unless something holds.
macro_rules! hold {
    ($opinion:expr, $holds:expr, $($why:tt)+) => {
        if !$holds {
            return Err($opinion.objection(format!($($why)+)));
        }
    };
}
pub(crate) use hold;

impl Verifier {
    /// Takes in one event and holds it to the rules.
    pub fn see(&mut self, event: &Event) -> Result<(), Objection> {
        self.clock(event)?;
        if let EventBody::RunCreated(data) = &event.body {
            return self.created(event, data);
        }
        self.lives_through(event)?;
        if !start::is_start(&event.body) {
            // Something else happened, which may let a socket run that could not before.
            self.decision.oldest_taken = None;
        }
        if self.pays(Some(event))? {
            return Ok(());
        }
        self.opens(event)
    }

    /// The plan, once the run was created.
    pub fn plan(&self) -> Option<&Plan> {
        self.chart.as_ref().map(|chart| &chart.plan)
    }

    /// Where the run is in its life.
    pub fn life(&self) -> Life {
        self.life
    }

    /// Why it waits, or waited last.
    pub fn waits_for(&self) -> Option<WaitReason> {
        self.waits_for
    }

    /// Whether the scheduler starts turns.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// Turns in flight, in the order in which they started, with their nodes.
    pub fn turns(&self) -> impl Iterator<Item = (u64, &NodeId)> {
        let chart = self.chart.as_deref();
        let named =
            move |(seq, turn): (&u64, &state::Started)| Some((*seq, chart?.name(turn.node)));
        self.turns.iter().filter_map(named)
    }

    /// The node of a turn in flight.
    pub fn node_of(&self, turn: u64) -> Option<&NodeId> {
        Some(self.chart.as_ref()?.name(self.turns.get(&turn)?.node))
    }

    /// How many turns are in flight at a node.
    pub fn in_flight(&self, node: &NodeId) -> usize {
        let place = self.plan().and_then(|plan| plan.nodes.get_index_of(node));
        place.and_then(|place| self.nodes.get(place)).map_or(0, |at| at.in_flight as usize)
    }

    /// The instants of all timers that are set, earliest first.
    pub fn timers(&self) -> impl Iterator<Item = Micros> {
        self.timers.iter().map(|(at, _, _)| *at)
    }

    /// The run whose journal it is.
    pub fn run(&self) -> &RunId {
        &self.run
    }
}
