//! Drives runs: connects the kernel with stores and runners.
//!
//! # Order
//!
//! Decide and evolve, append, act: in that order, in [`Driver::take`]. The kernel applies each event as it decides it, so
//! the run in memory is ahead of the journal until the append. An effect that happens before its event is durable would
//! survive a crash that the event did not.
//!
//! # Invariants
//!
//! * One task drives one run, and holds the journal's lease on it.
//! * Effects are derived from the state, never stored. Every outstanding effect that is not in flight is
//!   started; recovery needs nothing else.
//! * When the journal refuses an append, the driver is thrown away: the run in memory has gone
//!   ahead of the disk and must not be used.
//!
//! Functions here that take a journal and are not `async` (`load`, `replay`, `report`, `why`) block: a task calls
//! them [off its thread](off_thread).
//!
//! SQL, processes and terminals are behind the [ports](ports).

mod apply_command;
mod blocking;
mod chain;
mod clock;
mod delivery;
mod drive;
mod explain;
mod files;
mod fold;
mod fork;
mod load;
pub mod ports;
mod real_time;
mod redecide;
mod replay;
mod replay_redacted;
mod report;
mod session;
mod storage;
mod turn_files;
mod under_way;
pub mod views;
mod virtual_time;
mod world;

pub use blocking::{Blocking, blocking, may_block, off_thread, on_own_thread, wait};
pub use chain::{Broken, Chain};
pub use clock::{Clock, SystemClock};
pub use delivery::{Delivered, look_after};
pub use drive::{DriveError, Driver};
pub use explain::{Because, Condition, Suggested, SuggestedStep, Suggestion, Why, WhyError, why};
pub use fold::Unfolding;
pub use fork::{Begun, ForkError, Forked, fork, forked};
pub use load::{LoadError, LoadedRun, NoSuchEvent, load, load_at, load_to_drive};
pub use ports::*;
pub use replay::{Replay, ReplayError, ReplayFault, replay};
pub use replay_redacted::replay_redacted;
pub use report::{report, report_at};
pub use session::{carry_on, cast, create, only_do, resume, watch_inbox};
pub use storage::weight_of;
pub use turn_files::{Left, named_by};
pub use world::{Asks, EngineError, Leave, Leaving, Options, World};
