//! The binary under treatment that no program deserves: killed, stopped, starved of disk, fed
//! with garbage. What is said by chance is said by a seed; `SEED=n` says it again.
//!
//! Deliberately absent: what happens when nothing goes wrong. That is in `tests/cli`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stderr, reason = "a test says its seed, and why it skips")]

#[path = "../cli/bench.rs"]
#[expect(dead_code, reason = "the other tests use the rest of it")]
mod bench;

mod crowd;
mod flipping;
mod full_disk;
mod hostile;
mod keyed;
mod killing;
mod ledger;
mod log;
mod random;
mod readers;
mod serving;
mod shipped;
mod signals;
mod tree;
mod victim;
mod workspaces;
