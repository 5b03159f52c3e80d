//! Terminal input and output: the two streams, the live view of a run, and shell completion.
//!
//! * [`Terminal`]: data on one stream, text for people on the other. Escape sequences are removed.
//! * [`live`]: one line a socket, or a line for each turn.
//! * [`complete`]: shell completion.
//!
//! Deliberately absent: commands. The binary interprets the command line.

pub mod complete;
mod escape_filter;
pub mod live;
mod streams;

pub use streams::{People, Terminal};
