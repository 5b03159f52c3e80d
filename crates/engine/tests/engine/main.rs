//! The engine with a journal in memory and simulated turns.

#![allow(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    clippy::manual_let_else,
    clippy::single_match_else,
    reason = "a test that cannot go on has failed, and looks only at what it is about"
)]

mod apart;
mod chain;
mod crash;
mod decisions;
mod driving;
mod floor;
mod memory;
mod other_rules;
mod pace;
mod rejoin;
mod same;
mod story;
