//! Nodes with an exhausted budget: which one is reported, and when.

use materia_contract::{
    Amount, Condition, Do, ErrorCode, FailureClass, Node, NodeBudgets, NodeId, TurnOutput,
    TurnUsage,
};
use materia_kernel::{Effect, Input, Phase, TurnOutcome, outstanding};

use crate::play::{NodeExt as _, Play, agent, plan, tell, utility};

/// An agent that may spend one.
fn thrifty() -> Node {
    let budgets = Some(NodeBudgets {
        cost: Some(Amount::from_millionths(1_000_000)),
        ..NodeBudgets::default()
    });
    Node { budgets, ..agent() }
}

/// An output with a cost above the budget of its node.
fn dear(output: &str) -> TurnOutput {
    let usage =
        Some(TurnUsage { cost: Some(Amount::from_millionths(1_500_000)), ..TurnUsage::default() });
    TurnOutput { output: output.into(), usage, ..TurnOutput::default() }
}

#[test]
fn only_a_node_that_has_something_to_do_is_blocked() {
    let nodes = plan([("a", thrifty().edge(Condition::Always, "b")), ("b", thrifty())]);
    let mut play = Play::of(nodes);
    play.take(Input::report(play.turns()[0], TurnOutcome::Ended(dear("{}"))));
    // `a` has spent its budget as well, but it is done; `b` would have to answer once more.
    let events = play.take(Input::report(play.turns()[0], TurnOutcome::Ended(dear("nonsense"))));
    let told = tell(&events);
    assert!(
        told.ends_with("b blocked: it has spent its budget: cost 1.5\nwaiting: budget"),
        "{told}"
    );
    assert!(!told.contains("a blocked"), "{told}");
    assert!(
        matches!(play.run.phase(), Phase::Waiting(waiting) if waiting.node == Some(NodeId::new("b")))
    );
}

#[test]
fn a_turn_that_waits_to_be_tried_again_is_blocked_when_its_time_has_come() {
    let mut play = Play::of(plan([("a", thrifty())]));
    let failed = TurnOutcome::Faulted {
        code: ErrorCode::ProviderFailed,
        message: "busy".into(),
        report: TurnOutput { class: Some(FailureClass::Transient), ..dear("") },
    };
    let told = tell(&play.take(Input::report(play.turns()[0], failed)));
    assert!(!told.contains("blocked"), "until then it waits for the provider: {told}");
    let Some(Effect::WakeAt(at)) = outstanding(&play.run).next() else { panic!("a timer is set") };
    play.now = at;
    let told = tell(&play.take(Input::tick()));
    assert!(
        told.ends_with("a blocked: it has spent its budget: cost 1.5\nwaiting: budget"),
        "{told}"
    );
}

#[test]
fn a_turn_that_a_person_asks_for_is_paid_for_by_the_node() {
    let nodes = plan([("a", thrifty().edge(Condition::Always, "b")), ("b", agent())]);
    let mut play = Play::of(nodes);
    play.take(Input::report(play.turns()[0], TurnOutcome::Ended(dear("{}"))));
    let told = play.act(Do::trigger(NodeId::new("a"), None));
    assert!(told.ends_with("a blocked: it has spent its budget: cost 1.5"), "{told}");
}

#[test]
fn a_list_waits_in_its_middle_when_the_budget_is_spent() {
    let each = Node { budgets: thrifty().budgets, ..agent().text().each("state.list") };
    let list = utility().assign("list", "$.list").edge(Condition::Always, "each");
    let mut play = Play::of(plan([("list", list), ("each", each)]));
    play.end(r#"{"list": [1, 2]}"#);
    let told = tell(&play.take(Input::report(play.turns()[0], TurnOutcome::Ended(dear("one")))));
    assert!(
        told.ends_with("each blocked: it has spent its budget: cost 1.5\nwaiting: budget"),
        "{told}"
    );
}
