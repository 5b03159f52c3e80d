//! The rules of a run, with nothing else in the room.
//!
//! # Invariants
//!
//! * No clock, no dice, no files, no threads, no `HashMap`. Time arrives as an input and ids are
//!   derived, so that the same inputs give the same events, byte for byte.
//! * [`evolve`] is the only code that changes a [`Run`], and it is total: what it applies has
//!   already happened. Deciding works on the run through events alone.
//! * Effects are never stored. [`outstanding`] derives them from the state, so that a process that
//!   restarts asks for exactly what was still owed.
//! * What a step costs does not depend on how many came before it: nothing here grows with
//!   history, and nothing copies the run.
//!
//! # The shape of a step
//!
//! ```text
//! input ─ decide ─▶ events ─ evolve ─▶ run ─ outstanding ─▶ effects
//! ```
//!
//! One file holds one family of transitions: `settle` what a finished turn means, `route`
//! which way it leads, `deliver` how a payload reaches the next node, `timers` what happens when an
//! instant comes, `gates` what must hold before a node runs, `schedule` who runs next, `approval` and
//! `acts` what people do, `halt` how a run stops and goes on.
//!
//! The pieces that the execution contract names: [`Run`] is the graph's state and [`evolve`] its
//! materializer; `payload` has the delivery queue of an edge, the input buffer of a node and its
//! turns in flight.

mod acts;
mod approval;
mod budget;
mod cycles;
mod decide;
mod deliver;
mod draft;
mod evolve;
mod foreach;
mod gates;
mod given;
mod halt;
mod handoff;
mod held;
mod input;
mod insight;
mod items;
pub mod legacy;
mod lookup;
mod memo;
mod output;
mod payload;
mod recompute;
mod requests;
mod retry;
mod route;
mod schedule;
mod sent;
mod settle;
mod stall;
mod state;
mod tally;
mod timers;
mod trail;
mod wiring;
mod words;
mod work;

// Stories are told from outside and from inside, and speak of the kernel by its name.
#[cfg(test)]
extern crate self as materia_kernel;
#[cfg(test)]
mod tests;

pub use acts::order_timeline;
pub use decide::{Decision, decide, step, take};
pub use draft::Now;
pub use evolve::evolve;
pub use gates::{Gate, barred, unmet};
pub use input::Rejection;
pub use insight::{
    budgets_of, has_elements, held_turn, is_requested, iterates, quiet_until, spent_by,
    turns_in_flight, waiting_inputs,
};
pub use materia_contract::{Acting, Input, Moment, Report, TurnOutcome};
pub use recompute::{Divergence, Recomputation};
pub use route::matching;
pub use state::{Effect, Phase, Run, Turn, TurnWork, outstanding};
pub use timers::is_idle;

/// Changes whenever the state or its meaning does, so that an older snapshot is not believed.
pub const KERNEL_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+6");
