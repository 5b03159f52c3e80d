//! One event added or removed.

use materia_contract::{
    BudgetWarned, ErrorCode, EventBody, Mode, ModeChanged, Pace, PayloadConsumed, PayloadDelivered,
    RunCompleted, RunFailed, Timer, TimerFired, TurnRequested, Uuid,
};

use crate::histories::{History, flowing, over_a_list, sent_back, with_people};

fn requested() -> EventBody {
    TurnRequested { message: None, payload_id: None }.into()
}

/// A history up to and with the nth event of a type, and nothing behind it.
fn up_to(mut history: History, kind: &str, nth: usize) -> History {
    let seq = history.find(kind, nth);
    history.decisions.retain(|(_, events)| events[0].seq <= seq);
    let (_, events) = history.decisions.last_mut().unwrap();
    events.retain(|event| event.seq <= seq);
    history
}

fn objected(history: &History) -> u64 {
    history.judged().unwrap_err().seq
}

#[test]
fn nothing_follows_the_end() {
    let bodies = [
        requested(),
        RunCompleted {}.into(),
        RunFailed {
            code: ErrorCode::Internal,
            message: "x".into(),
            socket: None,
            artifacts: Vec::new(),
            edge_id: None,
        }
        .into(),
    ];
    for body in bodies {
        let mut forged = sent_back();
        let seq = forged.add(Some("build"), body);
        assert_eq!(objected(&forged), seq);
    }
}

#[test]
fn a_turn_ends_once() {
    let mut forged = up_to(sent_back(), "turn.completed", 0);
    let seq = forged.find("turn.completed", 0);
    let again = forged.event(seq).body.clone();
    // What it put out is still to be read; and even then it has ended.
    let seq = forged.add(Some("build"), again.clone());
    assert_eq!(objected(&forged), seq);
    let mut forged = up_to(sent_back(), "turn.started", 1);
    let seq = forged.add(Some("build"), again);
    assert_eq!(objected(&forged), seq);
}

#[test]
fn what_nothing_led_to() {
    let id = Uuid::from_u128(1);
    let bodies: Vec<(Option<&str>, EventBody)> = vec![
        (Some("judge"), PayloadDelivered { payload_id: id, edge_id: None }.into()),
        (Some("judge"), PayloadConsumed { payload_id: id }.into()),
        (Some("judge"), TimerFired { timer: Timer::Tick, payload_id: None }.into()),
        (None, RunCompleted {}.into()),
        (Some("nowhere"), requested()),
        (None, requested()),
        (
            None,
            ModeChanged {
                value: Mode::Pace(Pace::Auto),
                reason: "person".into(),
                evidence: Vec::new(),
                message: None,
            }
            .into(),
        ),
        (
            None,
            RunFailed {
                code: ErrorCode::ContractError,
                message: "x".into(),
                socket: None,
                artifacts: Vec::new(),
                edge_id: None,
            }
            .into(),
        ),
        (
            None,
            BudgetWarned {
                bound: materia_contract::BudgetBound::Turns,
                spent: 1_u64.into(),
                limit: 8_u64.into(),
            }
            .into(),
        ),
    ];
    for (node, body) in bodies {
        let mut forged = up_to(sent_back(), "turn.started", 1);
        let told = format!("{body:?}");
        let seq = forged.add(node, body);
        assert_eq!(objected(&forged), seq, "{told}");
    }
}

#[test]
fn a_bound_is_warned_about_once() {
    let mut forged = sent_back();
    let seq = forged.find("budget.warned", 0);
    let again = forged.event(seq).body.clone();
    let mut forged = up_to(forged, "budget.warned", 0);
    let seq = forged.add(None, again);
    assert_eq!(objected(&forged), seq);
}

#[test]
fn a_decision_says_all_that_follows() {
    // Without the last event of a decision something is due that is not there.
    for history in [sent_back(), over_a_list(), flowing(), with_people()] {
        for place in 0..history.decisions.len() {
            let mut forged = history.clone();
            forged.decisions.truncate(place + 1);
            let (_, events) = &mut forged.decisions[place];
            let Some(gone) = events.pop().filter(|_| !events.is_empty()) else { continue };
            let last = events.last().unwrap().seq;
            let found = forged.judged().map_err(|objection| objection.seq);
            // A question need not be asked for all that can be told from the events.
            let told = gone.body.type_name() != "approval.requested";
            assert!(found == Err(last) || !told, "{}: {found:?} without {gone:?}", history.name);
        }
    }
}
