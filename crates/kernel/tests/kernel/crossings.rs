//! Delivery of payloads: duplicates, overflow, newer ones that replace older ones.

use insta::assert_snapshot;
use materia_contract::{
    Amount, Condition, DedupeBy, Delivery, DeliveryMode, Do, ErrorCode, Event, EventBody,
    FailureClass, NodeBudgets, Overflow, Plan, RunPlace, Test, TurnOutput, TurnUsage, Uuid,
};
use materia_kernel::{Input, Phase, TurnOutcome, waiting_inputs};
use serde_json::json;

use crate::play::{
    NodeExt as _, Play, agent, created, input_of, outcome, plan, run, tell, utility,
};

use Condition::{Always, Satisfied};

/// `a` hands its work to `b` over an edge that delivers so.
fn over(delivery: Delivery) -> Plan {
    let mut a = utility().text().edge(Always, "b");
    a.edges[0].delivery = delivery;
    plan([("a", a), ("b", utility().text())])
}

fn sent(events: &[Event]) -> Vec<Uuid> {
    let ids = events.iter().filter_map(|event| match &event.body {
        EventBody::HandoffSent(data) => Some(data.payload_id),
        _ => None,
    });
    ids.collect()
}

fn offered(message: &str) -> Input {
    let payload = materia_contract::Offered { message: Some(message.into()), ..Default::default() };
    Input::act(materia_contract::Do::Offer { edge: "a->b".into(), payload })
}

#[test]
fn what_says_the_same_as_the_last_accepted_payload_is_not_delivered_again() {
    let dedupe_by = DedupeBy::ContentHash;
    let mut play = Play::of(over(Delivery { dedupe_by, ..Delivery::default() }));
    let first = sent(&play.take(offered("x")))[0];
    let again = play.take(offered("x"));
    assert_snapshot!(tell(&again), @r"
    sent over a->b
    b deduplicated a->b
    ");
    assert!(
        matches!(&again[1].body, EventBody::PayloadDeduplicated(data) if data.of == first),
        "it says which one it equals"
    );
    assert!(play.offer("a->b", "y").ends_with("delivered to b"), "this one is new");
    assert!(play.offer("a->b", "x").ends_with("delivered to b"), "the last one was another");
}

#[test]
fn within_its_window_sameness_reaches_back_past_the_last_payload() {
    let (dedupe_by, dedupe_window_ms) = (DedupeBy::ContentHash, Some(10));
    let mut play = Play::of(over(Delivery { dedupe_by, dedupe_window_ms, ..Delivery::default() }));
    play.offer("a->b", "x");
    play.offer("a->b", "y");
    assert!(play.offer("a->b", "x").ends_with("b deduplicated a->b"));
    play.now += 20_000;
    assert!(play.offer("a->b", "x").ends_with("delivered to b"), "that was long ago");
}

#[test]
fn where_nobody_asks_for_sameness_equal_payloads_are_all_delivered() {
    let mut play = Play::of(over(Delivery::default()));
    for _ in 0..3 {
        assert!(play.offer("a->b", "x").contains("delivered to b"));
    }
}

/// Fills an edge that holds two while `b` works, and says what `b` takes when it is done.
fn taken_after_overflow(overflow: Overflow) -> (String, serde_json::Value) {
    let mut play = Play::of(over(Delivery { max_buffered: 2, overflow, ..Delivery::default() }));
    for message in ["first", "second", "third"] {
        play.offer("a->b", message);
    }
    let told = play.offer("a->b", "fourth");
    // `a` is the oldest turn in flight, `b` the other.
    let turn = play.turns()[1];
    let events = play.take(Input::report(turn, outcome("done")));
    let envelopes = input_of(&events, "b")["inputs"].clone();
    (told, envelopes)
}

#[test]
fn a_full_edge_drops_the_newest_or_the_oldest_as_its_author_says() {
    let messages = |payloads: &serde_json::Value| {
        let list = payloads.as_array().unwrap_or_else(|| panic!("{payloads}"));
        list.iter().map(|one| one["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (told, taken) = taken_after_overflow(Overflow::DropNewest);
    assert_eq!(told, "sent over a->b\nb dropped over a->b: Overflow");
    assert_eq!(messages(&taken), ["second", "third"]);
    let (told, taken) = taken_after_overflow(Overflow::DropOldest);
    assert_eq!(told, "sent over a->b\nb dropped over a->b: Overflow\ndelivered to b");
    assert_eq!(messages(&taken), ["third", "fourth"]);
}

#[test]
fn where_a_busy_node_is_not_to_be_disturbed_only_an_idle_one_is_given_more() {
    let mut play = Play::of(over(Delivery::of(DeliveryMode::DropIfBusy)));
    assert!(play.offer("a->b", "first").ends_with("b 1.1 started"));
    assert_eq!(play.offer("a->b", "meanwhile"), "sent over a->b\nb dropped over a->b: Busy");
    play.take(Input::report(play.turns()[1], outcome("done")));
    assert!(play.offer("a->b", "after").ends_with("b 2.1 started"));
}

fn provider_failed(class: FailureClass, cost: Amount) -> TurnOutcome {
    let usage = Some(TurnUsage { cost: Some(cost), ..TurnUsage::default() });
    TurnOutcome::Faulted {
        code: ErrorCode::ProviderFailed,
        message: "the provider failed".into(),
        report: TurnOutput { class: Some(class), usage, ..TurnOutput::default() },
    }
}

#[test]
fn a_payload_does_not_take_its_own_place() {
    // `b` has taken hold of a payload and could not begin with it, so that the edge is full although
    // nothing waits on it. That takes a run that failed twice: `c` keeps it from being over.
    let mut a = utility().text().all().edge(Always, "c").edge(Always, "d").edge(Satisfied, "b");
    a.edges[2].delivery = Delivery::of(DeliveryMode::Latest);
    let mut c = agent().text();
    c.budgets = Some(NodeBudgets {
        cost: Some(Amount::from_millionths(1_000_000)),
        ..NodeBudgets::default()
    });
    let b = utility().each("state.list");
    let mut nodes = plan([("a", a), ("b", b), ("c", c), ("d", agent().text())]);
    nodes.limits.max_concurrent_turns = 1;
    let mut play = Play::of(nodes);
    let recast = || Input::taken_up(Do::Recast, RunPlace::named());
    play.end("go");
    play.take(Input::report(
        play.turns()[0],
        provider_failed(FailureClass::Permanent, Amount::from_millionths(1_500_000)),
    ));
    let told = tell(&play.take(recast()));
    assert!(told.contains("d 1.1 started"), "`c` cannot pay: {told}");
    play.take(Input::report(
        play.turns()[0],
        provider_failed(FailureClass::Transient, Amount::default()),
    ));
    let told = play.offer("a->b", "one");
    assert!(told.contains("delivered to b\nfailed contract_error"), "{told}");
    assert!(tell(&play.take(recast())).contains("d 1.2 started"));
    assert_eq!(play.offer("a->b", "two"), "sent over a->b");
    assert_eq!(waiting_inputs(&play.run, 1).len(), 2, "both are still there");
    assert_eq!(*play.run.phase(), Phase::Running);
}

#[test]
fn a_way_that_a_value_bars_is_taken_by_every_other_value() {
    let routes = |kind: &str| {
        let a = utility()
            .edge(Always, "b")
            .only_where("state.kind", Test::NotEquals(json!("git")))
            .edge(Always, "end");
        let answer = json!({"state": {"kind": kind}}).to_string();
        let mut play = Play::of(plan([("a", a), ("b", utility().text())]));
        play.end(&answer)
    };
    assert!(routes("git").contains("a routes to end"));
    assert!(routes("jj").contains("a routes to b"));
}

#[test]
fn a_way_may_depend_on_what_the_turn_itself_put_out() {
    let routes = |answer: &str| {
        let a = utility()
            .edge(Always, "b")
            .only_where("$.next.step", Test::Equals(json!("build")))
            .edge(Always, "c")
            .only_where("$.next", Test::Exists(true))
            .edge(Always, "end");
        let nodes = plan([("a", a), ("b", utility().text()), ("c", utility().text())]);
        Play::of(nodes).end(answer)
    };
    assert!(routes(r#"{"next": {"step": "build"}}"#).contains("a routes to b"));
    assert!(routes(r#"{"next": {"step": "check"}}"#).contains("a routes to c"));
    assert!(routes("{}").contains("a routes to end"));
}

#[test]
fn a_node_that_ran_nothing_has_no_output_to_look_at() {
    // `a` said `go`; `b`, whose list is empty, did not.
    let b = utility()
        .each("state.list")
        .edge(Always, "c")
        .only_where("$.go", Test::Exists(true))
        .edge(Always, "end");
    let nodes = plan([("a", utility().edge(Always, "b")), ("b", b), ("c", utility().text())]);
    let (_, events) = run(created(nodes), &[r#"{"go": true, "state": {"list": []}}"#]);
    let told = tell(&events);
    assert!(
        told.ends_with("entryIndex at 0 of 0\nconsumed by b\nb routes to end\ncompleted"),
        "{told}"
    );
}
