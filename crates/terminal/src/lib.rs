//! What people see and type on a terminal: the two streams, a run while it is under way, and names while a command is
//! being typed.
//!
//! * [`Terminal`]: data on one stream, words for people on the other. Nothing that a terminal would obey passes.
//! * [`live`]: one line a socket, or a line for each turn.
//! * [`complete`]: what may come next on the line.
//!
//! Deliberately absent: commands. What a command line means is the binary's.

pub mod complete;
mod escape_filter;
pub mod live;
mod streams;

pub use streams::{People, Terminal};
