//! Tests that look at what a run keeps beside its state, and at how much of it a step looks at.

#[path = "../../tests/kernel/play.rs"]
#[allow(dead_code, clippy::wildcard_enum_match_arm, reason = "the stories need more of it")]
mod play;

mod costs;
mod derived;
mod nodes;
mod wild;
