//! A run that waits because something is not approved.

use materia_contract::RecordedInput;
use serde_json::json;

use crate::histories::{History, withheld};

/// The input of the decision that made the run wait.
fn input(history: &mut History) -> &mut RecordedInput {
    let seq = history.find("run.waiting", 0);
    let (decided, _) = history
        .decisions
        .iter_mut()
        .find(|(_, events)| events.iter().any(|event| event.seq == seq))
        .unwrap();
    &mut decided.input
}

#[test]
fn an_honest_one_is_believed() {
    assert_eq!(withheld().judged(), Ok(()));
}

#[test]
fn nobody_waits_for_that_unless_a_turn_was_held_back() {
    let mut forged = withheld();
    let message = "it changed".to_owned();
    *input(&mut forged) = RecordedInput::Stopped { reports: Vec::new(), message };
    assert!(forged.judged().is_err(), "somebody stopped it, and nothing changed");
    let mut forged = withheld();
    *input(&mut forged) = RecordedInput::RunForElapsed;
    assert!(forged.judged().is_err());
    let mut forged = withheld();
    if let RecordedInput::Withheld { turn, .. } = input(&mut forged) {
        *turn += 100;
    }
    assert!(forged.judged().is_err(), "that turn was not in flight");
}

#[test]
fn what_the_events_say_of_it_agrees() {
    for (kind, field, value) in [
        ("run.waiting", "/reason", json!("interactive")),
        ("run.waiting", "/reason", json!("run_for")),
        ("run.waiting", "/node", json!(null)),
        ("turn.interrupted", "/reason", json!("stopped")),
    ] {
        let mut forged = withheld();
        forged.edit(kind, 0, field, value.clone());
        assert!(forged.judged().is_err(), "{kind} {field} {value}");
    }
}
