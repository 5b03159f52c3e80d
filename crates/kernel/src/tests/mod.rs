//! Tests of derived data beside the state, and of the cost of a step.

#[path = "../../tests/kernel/play.rs"]
#[allow(dead_code, clippy::wildcard_enum_match_arm, reason = "the stories need more of it")]
mod play;

mod costs;
mod derived;
mod fields;
mod nodes;
mod wild;
