//! Journals that nobody wrote: honest histories with a small alteration, each objected to at its place.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test that cannot go on has failed, and looks only at what it is about"
)]

mod added;
mod altered;
mod histories;
mod nonsense;
mod order;
mod plans;
mod speed;

#[test]
fn nobody_objects_to_what_happened() {
    for history in histories::all() {
        if let Err(objection) = history.judged() {
            panic!("{}: {objection}", history.name);
        }
    }
}
