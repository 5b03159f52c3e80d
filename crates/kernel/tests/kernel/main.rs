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
mod envelopes;
mod flow;
mod laws;
mod loops;
mod outputs;
mod people;
mod play;
mod prompts;
mod retries;
mod scale;
mod sending;
mod stories;
