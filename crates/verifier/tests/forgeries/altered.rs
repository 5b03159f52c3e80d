//! One changed field of one event.

use serde_json::{Value, json};

use crate::histories::{History, asked_again, flowing, over_a_list, sent_back, with_people};

const OTHER: &str = "00000000-0000-8000-8000-000000000001";

/// Every alteration of this history is objected to where it was made.
fn noticed(history: &History, alterations: &[(&str, usize, &str, Value)]) {
    for (kind, nth, field, value) in alterations {
        let mut forged = history.clone();
        let seq = forged.edit(kind, *nth, field, value.clone());
        let objection = forged.judged();
        let found = objection.as_ref().map_err(|objection| objection.seq);
        assert_eq!(found, Err(seq), "{kind} {nth} {field} = {value}: {objection:?}");
    }
}

#[test]
fn turns_and_what_they_put_out() {
    noticed(
        &sent_back(),
        &[
            ("turn.started", 0, "/visit", json!(2)),
            ("turn.started", 0, "/attempt", json!(2)),
            ("turn.started", 0, "/item", json!("WI-1")),
            ("turn.started", 0, "/consumed", json!([])),
            ("turn.started", 0, "/cause", json!({"kind": "manual"})),
            ("turn.started", 2, "/cause", json!({"kind": "retry", "turn": 3})),
            ("turn.started", 0, "/approved", json!("x")),
            ("turn.started", 0, "/globalMode", json!("PLANNING")),
            ("turn.started", 0, "/input/sameAs", json!(3)),
            ("turn.started", 0, "/input/fields/socketId", json!(["judge"])),
            ("turn.started", 1, "/session/resume", json!(true)),
            ("turn.started", 3, "/session/id", json!(OTHER)),
            ("turn.started", 1, "/script/index", json!(1)),
            ("turn.started", 3, "/script/index", json!(0)),
            ("turn.started", 1, "/layers/0/end", json!(3)),
            ("turn.completed", 0, "/visit", json!(2)),
            ("turn.completed", 0, "/turn", json!(2)),
            ("turn.completed", 1, "/satisfied", json!(true)),
            ("turn.completed", 1, "/object", json!([1, 4])),
            ("turn.completed", 1, "/object", json!([0, 4_000_000_000_u64])),
            ("turn.completed", 1, "/output", json!("no object")),
            ("turn.completed", 0, "/workItems", json!([])),
            ("output.fields_ignored", 0, "/fields", json!(["$.context"])),
            ("state.patched", 0, "/merged/vcs", json!("jj")),
            ("state.patched", 0, "/merged/more", json!(1)),
            ("state.patched", 0, "/assigned/sum", json!(4)),
            ("state.patched", 0, "/assigned/other", json!(3)),
            ("state.patched", 0, "/turn", json!(2)),
            ("budget.warned", 0, "/spent", json!(5.0)),
            ("budget.warned", 0, "/limit", json!(9.0)),
            ("budget.warned", 0, "/bound", json!("tokens")),
        ],
    );
}

#[test]
fn ways_and_what_crosses_them() {
    noticed(
        &sent_back(),
        &[
            ("route.selected", 0, "/to", json!("build")),
            ("route.selected", 0, "/to", json!("nowhere")),
            ("route.selected", 0, "/edgeId", json!("judge->build")),
            ("route.selected", 1, "/edgeId", json!("judge->end")),
            ("route.selected", 1, "/edgeId", json!("judge->judge")),
            ("route.selected", 1, "/satisfied", json!(true)),
            ("route.selected", 0, "/turn", json!(99)),
            ("follow_up.captured", 0, "/reason", json!("another")),
            ("follow_up.captured", 0, "/target", json!("judge")),
            ("follow_up.captured", 0, "/item", json!("WI-1")),
            ("handoff.sent", 0, "/payloadId", json!(OTHER)),
            ("handoff.sent", 0, "/to", json!("build")),
            ("handoff.sent", 0, "/kind", json!("message")),
            ("handoff.sent", 0, "/preview", json!("{")),
            ("handoff.sent", 0, "/mapped", json!({"message": "x"})),
            ("handoff.sent", 0, "/sameness", json!("x")),
            ("handoff.sent", 0, "/offered", json!({"message": "x"})),
            ("payload.delivered", 1, "/payloadId", json!(OTHER)),
            ("payload.delivered", 1, "/edgeId", json!("judge->build")),
            ("payload.consumed", 0, "/payloadId", json!(OTHER)),
        ],
    );
    let mut forged = sent_back();
    // The way back may be taken once: then the second time is once too often.
    forged.edit("run.created", 0, "/plan/nodes/judge/edges/0/maxTraversals", json!(1));
    assert_eq!(forged.judged().unwrap_err().seq, 1, "its hash names another plan");
    forged.name_plan();
    let second = forged.find("route.selected", 3);
    assert_eq!(forged.judged().unwrap_err().seq, second);
}

#[test]
fn lists() {
    noticed(
        &over_a_list(),
        &[
            ("turn.completed", 0, "/workItems", json!([])),
            ("turn.completed", 0, "/workItems", json!([{"title": "a", "context": "c"}])),
            ("loop.entered", 0, "/entry", json!(2)),
            ("loop.entered", 0, "/count", json!(3)),
            ("loop.entered", 0, "/loop", json!("other")),
            ("loop.entered", 0, "/items", json!([])),
            ("cursor.advanced", 0, "/index", json!(0)),
            ("cursor.advanced", 0, "/count", json!(3)),
            ("cursor.advanced", 0, "/exhausted", json!(true)),
            ("cursor.advanced", 1, "/exhausted", json!(false)),
            ("cursor.advanced", 1, "/cursor", json!("other")),
            ("turn.started", 2, "/item", json!("WI-1")),
            ("turn.started", 2, "/session/resume", json!(true)),
            ("loop.exhausted", 0, "/exit", json!("other")),
            ("loop.exhausted", 0, "/exit", json!(null)),
            ("loop.exhausted", 0, "/to", json!("end")),
        ],
    );
}

#[test]
fn timers_and_buffers() {
    noticed(
        &flowing(),
        &[
            ("timer.set", 0, "/at", json!(21_001)),
            ("timer.set", 0, "/at", json!(41_000)),
            ("timer.set", 1, "/at", json!(7_001)),
            ("timer.set", 1, "/at", json!(2_000)),
            ("timer.set", 1, "/timer/edgeId", json!("source->slow")),
            ("timer.fired", 0, "/timer", json!({"kind": "tick"})),
            ("timer.fired", 1, "/payloadId", json!(OTHER)),
            ("payload.superseded", 0, "/by", json!(OTHER)),
            ("payload.superseded", 0, "/payloadId", json!(OTHER)),
        ],
    );
}

#[test]
fn people() {
    noticed(
        &with_people(),
        &[
            ("approval.requested", 0, "/payloads", json!([])),
            ("approval.given", 0, "/hash", json!("x")),
            ("turn.started", 0, "/approved", json!(null)),
            ("turn.started", 0, "/approved", json!("x")),
            ("turn.failed", 0, "/repair", json!(true)),
            ("turn.failed", 0, "/retryAt", json!(null)),
            ("turn.failed", 0, "/retryAt", json!(7)),
            ("turn.failed", 0, "/class", json!("auth")),
            ("timer.set", 0, "/at", json!(7)),
            ("timer.set", 0, "/timer/turn", json!(1)),
            ("turn.started", 1, "/attempt", json!(3)),
            ("turn.started", 1, "/cause", json!({"kind": "repair", "turn": 6})),
            ("run.waiting", 1, "/reason", json!("budget")),
            ("run.waiting", 1, "/node", json!("first")),
            ("turn.requested", 0, "/payloadId", json!(OTHER)),
        ],
    );
}

#[test]
fn a_contract_that_is_kept() {
    let history = asked_again();
    assert!(history.judged().is_ok());
    // What it put out is in order: then nobody may say that it broke its contract.
    noticed(&history, &[("turn.failed", 0, "/output", json!("{\"satisfied\": true}"))]);
    // Another thing that breaks it changes nothing about that.
    let mut other = history;
    other.edit("turn.failed", 0, "/output", json!("{\"satisfied\": 7}"));
    assert_eq!(other.judged().map_err(|objection| objection.to_string()), Ok(()));
}
