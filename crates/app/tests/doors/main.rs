//! What a door does with the application: everything by data, with no terminal and no process of its own.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bench;
mod linking;
mod preparing;
mod trusting;
