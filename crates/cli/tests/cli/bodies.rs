//! The output of `--json` has the types of the contract, and no other fields.

use materia_contract::body::{BudgetBody, Grid, Mismatch, ReplayBody, Verified};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bench::{Bench, utilities};

/// The text, read as a form and written again: the same.
fn is<T: DeserializeOwned + Serialize>(text: &str) -> T {
    let read: T = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text.trim_end());
    read
}

#[test]
fn every_body_is_a_form_of_the_contract() {
    let bench = Bench::with(&utilities(&[("a", "print('{}')"), ("b", "print('{}')")]));
    bench.run(&["cast", "--trust", "--cast-id", "c1", "go"]).exits(0);
    let grid: Grid = is(&bench.run(&["grid", "--json"]).exits(0).out);
    assert_eq!((grid.sockets.len(), grid.ranks.len()), (2, 2));
    let of_cast: Grid = is(&bench.run(&["grid", "c1", "--json"]).exits(0).out);
    assert_eq!(of_cast, grid);
    let budget: BudgetBody = is(&bench.run(&["budget", "c1", "--json"]).exits(0).out);
    assert_eq!((budget.cast_id.as_str(), budget.usage.turns), ("c1", 2));
    let ReplayBody::Verified(Verified { ok, events, last_seq, .. }) =
        is(&bench.run(&["replay", "c1", "--json"]).exits(0).out)
    else {
        panic!("it verifies")
    };
    assert!(ok == Some(true) && events == last_seq);
}

#[test]
fn what_does_not_verify_is_a_form_too() {
    let text = r#"{"castId":"c1","ok":false,"seq":null,"fault":"x"}"#;
    let ReplayBody::Mismatch(Mismatch { seq, .. }) = is(text) else { panic!("it does not verify") };
    assert_eq!(seq, None);
}
