//! Forged journals: valid histories with one small change, each objected to at its place.

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
mod times;
mod withheld;

#[test]
fn nobody_objects_to_what_happened() {
    // Long ones as well: what is counted for an item begins anew with the next.
    let long = [histories::over_many(12), histories::back_and_forth(12)];
    for history in histories::all().into_iter().chain(long) {
        if let Err(objection) = history.judged() {
            panic!("{}: {objection}", history.name);
        }
    }
}
