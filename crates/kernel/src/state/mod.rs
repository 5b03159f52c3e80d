//! State of a run: data, and simple questions about it. The rules are elsewhere.

pub(crate) mod cycles;
mod files;
mod held;
mod inputs;
mod loops;
mod memo;
mod node;
mod nodes;
mod payload;
mod phase;
mod ready;
mod requests;
mod run;
mod trail;
mod turn;
mod verdict;
mod wiring;

pub(crate) use files::{Branch, Checkout, Files};
pub(crate) use held::{Held, HeldTurns, Why};
pub(crate) use inputs::{Accepted, DeliveryQueue, InputBuffer, Late};
pub(crate) use loops::{FollowUps, ItemId, LoopState, Region, Rounds, Traversed};
pub(crate) use memo::Memo;
pub(crate) use node::{Consent, Iteration, NodeState, Traces, Wanted};
pub(crate) use nodes::Nodes;
pub(crate) use payload::Payload;
pub use phase::Phase;
pub(crate) use phase::Stall;
pub(crate) use ready::Ready;
pub(crate) use requests::{Request, Requests};
pub use run::Run;
pub(crate) use trail::{Entry, Trail};
pub(crate) use turn::{Caught, InFlightTurns, LastOutput, ScriptPosition, TurnFiles};
pub use turn::{Turn, TurnWork};
pub use verdict::Verdict;
pub(crate) use wiring::{Wired, Wiring};
