//! The rules of a run, as pure functions.
//!
//! # Invariants
//!
//! * No clock, no random numbers, no files, no threads, no `HashMap`. Time arrives as an input and ids are
//!   derived, so that the same inputs give the same events, byte for byte.
//! * [`evolve`] is the only code that changes a [`Run`], and it is total: its events have
//!   already happened. A decision changes the run only through events.
//! * Effects are never stored. [`outstanding`] derives them from the state, so that a process that
//!   restarts gets exactly the outstanding ones.
//! * The cost of a step does not depend on the number of steps before it: no data here grows with
//!   history, and nothing copies the run.
//!
//! # The shape of a step
//!
//! ```text
//! input ─ decide ─▶ events ─ evolve ─▶ run ─ outstanding ─▶ effects
//! ```
//!
//! # Modules
//!
//! ```text
//! state ◄── ask ◄── evolve ◄── decide ◄── recompute
//! ```
//!
//! `state` is the data: the run, its nodes, turns and loops, the delivery queue of an edge, the input buffer of a
//! node. `ask` reads it: the item of a node, the inputs of a turn, the `gates` that must be passed before a
//! start. `evolve` applies events, the materializer of the execution contract. `decide` computes events: one
//! loop takes what is due from an agenda and passes it to its rule, which writes events and says what is due next. The
//! rules: `instant` for what happens at once, `settle` for a finished turn, `edges` for the way on, `deliver` for a
//! payload, `cursor` and `elements` for lists, `timers` for due timers, `schedule` for the next start, `acts` and
//! `consent` for people, `halt` for stop and resume. Imports go from right to left only; a test checks the sources.

mod ask;
mod decide;
mod evolve;
mod handoff;
mod recompute;
mod shorten;
mod span;
mod state;
mod tally;

// Tests use the crate by its public name, inside and outside of the crate.
#[cfg(test)]
extern crate self as materia_kernel;
#[cfg(test)]
mod tests;

pub use ask::approval::NoWayOn;
pub use ask::canonical::canonical;
pub use ask::fits::{Misfit, fits};
pub use ask::gates::{Gate, barred, unmet};
pub use ask::insight::{
    Given, LoopStanding, Question, budgets_of, given, has_elements, held_turn, is_requested,
    iterates, loops, paused, question, questions, quiet_until, sent, spent_by, timers, traversals,
    turns_in_flight, visits_of, waiting_envelopes, waiting_inputs,
};
pub use ask::output::{needs_verdict, object_place};
pub use ask::owed::{Effect, is_idle, outstanding};
pub use ask::route::matching;
pub use ask::skipping::{NoSkip, could_skip};
pub use decide::{
    Decision, Now, Rejection, decide, due_schedules, order_timeline, step, take, take_with,
};
pub use evolve::evolve;
pub use materia_contract::{Acting, Input, Moment, Report, TurnOutcome};
pub use recompute::{Divergence, Recomputation, Retaken, cut};
pub use state::cycles::without_bound as endless_nodes;
pub use state::{Phase, Run, Turn, TurnWork, Verdict};

/// The state of a graph while it runs, folded from its events by [`evolve`]: the materialized view of the
/// execution contract (X24).
pub type GraphState = Run;

/// Changes whenever the state or its meaning does, so that an older snapshot is not believed.
pub const KERNEL_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+10");
