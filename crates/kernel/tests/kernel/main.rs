//! Tests of the kernel: examples and properties.

#![allow(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    clippy::manual_let_else,
    clippy::single_match_else,
    reason = "a test that cannot go on has failed, and looks only at what it is about"
)]

mod again;
mod answers;
mod approvals;
mod attempts;
mod budgets;
mod by_hand;
mod circles;
mod clocks;
mod crossings;
mod elements;
mod envelopes;
mod failures;
mod flow;
mod insight;
mod instants;
mod journals;
mod laws;
mod loops;
mod mended;
mod misfits;
mod node_budgets;
mod outputs;
mod people;
mod play;
mod prompts;
mod refusals;
mod retries;
mod seldom;
mod sending;
mod stalls;
mod storage;
mod stories;
mod structure;
mod verdicts;
mod withheld;
mod workspaces;
