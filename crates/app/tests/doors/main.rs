//! Uses the application as the command line and the server do: all by data, without a terminal or a process.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bench;
mod cast_id;
mod event_text;
mod grid;
mod linking;
mod preparing;
mod trusting;
mod walked_history;
