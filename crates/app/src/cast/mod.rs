//! Casts that run: everything from the first event to the last one.
//!
//! * [`prepare`]: all steps before a run starts; [`agents`]: who answers; [`context`]: what a new cast gets from an
//!   earlier one; [`concurrent`]: other casts in the same folder.
//! * [`drive`]: runs a cast until it rests. [`follow`]: watches one until it rests. [`host`]: many runs in one process.
//! * [`act`]: commands on a cast.
//! * [`workspace`]: workspaces of casts.
//! * [`worker`]: drives the casts of a space on NATS, and hands casts over to workers. [`copy`]: moves casts between
//!   journals.

pub mod act;
pub mod agents;
pub mod concurrent;
pub mod context;
pub mod copy;
pub mod drive;
pub mod follow;
pub mod host;
pub mod prepare;
pub mod worker;
pub mod workspace;
