//! The kernel, told in stories and held to laws.

#![allow(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    clippy::manual_let_else,
    clippy::single_match_else,
    reason = "a test that cannot go on has failed, and looks only at what it is about"
)]

mod answers;
mod approvals;
mod budgets;
mod circles;
mod clocks;
mod flow;
mod insight;
mod journals;
mod laws;
mod loops;
mod people;
mod play;
mod retries;
mod scale;
mod stalls;
mod stories;
mod verdicts;
