//! Cost of a step, counted in operations.

use materia_contract::{
    Amount, Approval, Condition, Consume, Delivery, DeliveryMode, Do, EdgeId, ErrorCode,
    FailureClass, Node, NodeBudgets, NodeId, NodeMode, Plan, TurnOutput,
};
use materia_kernel::{Input, TurnOutcome};

use super::play::{NodeExt as _, Play, agent, plan, utility};
use crate::tally::{Look, looks_during};

use Condition::Always;

/// An entry that feeds `z` and `idle`; the latter takes whatever is offered and stays busy.
fn two(z: Node) -> Plan {
    let a = utility().text().all().edge(Always, "z").edge(Always, "idle");
    plan([("a", a), ("z", z), ("idle", utility().text())])
}

/// The plan with so many more nodes, all alike.
fn with_more(mut plan: Plan, count: usize, node: &Node) -> Plan {
    for nth in 0..count {
        let mut node = node.clone();
        for edge in &mut node.edges {
            edge.id = EdgeId::new(format!("m{nth}->{}", edge.to.as_ref().unwrap()));
        }
        plan.nodes.insert(NodeId::new(format!("m{nth}")), node);
    }
    plan
}

/// Counts the looks of this kind while a payload is offered on an unrelated edge.
fn looks_elsewhere(play: &mut Play, what: Look) -> u64 {
    looks_during(what, || {
        play.offer("a->idle", "x");
    })
}

#[test]
fn what_waits_for_consent_is_hashed_when_it_changes_and_only_then() {
    let mut play = Play::of(two(Node { approval: Some(Approval::Before), ..utility().text() }));
    for _ in 0..50 {
        let hashes = looks_during(Look::Hash, || {
            play.offer("a->z", "x");
        });
        assert_eq!(hashes, 1, "one more input is another turn");
        assert_eq!(looks_elsewhere(&mut play, Look::Hash), 0);
    }
    let approve = Do::approve(NodeId::new("z"));
    let mut told = String::new();
    assert_eq!(looks_during(Look::Hash, || told = play.act(approve)), 0, "it is known");
    assert!(told.ends_with("z 1.1 started"), "{told}");
}

/// `count` nodes that each sends to `z`, which takes the latest of each.
fn fan_in(count: usize) -> Play {
    let latest = Delivery::of(DeliveryMode::Latest);
    let mut source = utility().text().edge(Always, "z");
    source.edges[0].delivery = latest;
    Play::of(with_more(
        two(Node { mode: NodeMode::Interactive, ..utility().text() }),
        count,
        &source,
    ))
}

#[test]
fn an_arrival_over_one_of_many_edges_looks_at_no_other() {
    let looks = |count: usize| {
        let mut play = fan_in(count);
        for nth in 0..count - 1 {
            play.offer(&format!("m{nth}->z"), "x");
        }
        looks_during(Look::Oldest, || {
            play.offer(&format!("m{}->z", count - 1), "x");
        })
    };
    assert_eq!(looks(4), looks(400));
    let mut play = fan_in(400);
    for nth in 0..400 {
        play.offer(&format!("m{nth}->z"), "x");
    }
    let taken = looks_during(Look::Oldest, || {
        play.act(Do::trigger(NodeId::new("z"), None));
    });
    assert!(taken < 400 * 12, "{taken} looks at the oldest of 400");
}

#[test]
fn a_node_that_takes_one_at_a_time_looks_at_one() {
    let mut play = Play::of(two(Node { consume: Consume::One, ..utility().text() }));
    for _ in 0..300 {
        play.offer("a->z", "x");
    }
    play.end_all("done");
    for _ in 0..250 {
        let mut told = String::new();
        let taken = looks_during(Look::Taken, || told = play.end_all("done"));
        assert!(told.ends_with("started") && taken <= 2, "{taken} of them\n{told}");
    }
}

#[test]
fn only_nodes_that_have_spent_their_budget_are_asked_about_it() {
    let budgets = NodeBudgets { cost: Some(Amount::from_millionths(1)), ..NodeBudgets::default() };
    let thrifty = Node { budgets: Some(budgets), ..utility().text() };
    let mut play = Play::of(with_more(two(utility().text()), 200, &thrifty));
    assert_eq!(looks_elsewhere(&mut play, Look::Budget), 0);
    for nth in 0..3 {
        let budgets = NodeBudgets { turns: Some(0), ..NodeBudgets::default() };
        play.take(Input::act(Do::NodeBudget { node: NodeId::new(format!("m{nth}")), budgets }));
    }
    assert_eq!(looks_elsewhere(&mut play, Look::Budget), 3);
    play.take(Input::act(Do::NodeBudget {
        node: NodeId::new("m1"),
        budgets: NodeBudgets { turns: Some(9), ..NodeBudgets::default() },
    }));
    assert_eq!(looks_elsewhere(&mut play, Look::Budget), 2);
}

#[test]
fn turns_that_wait_to_be_tried_again_are_not_looked_at_before() {
    let z = Node { max_in_flight: 200, consume: Consume::One, ..agent().text() };
    let mut nodes = two(z);
    nodes.limits.max_concurrent_turns = 300;
    let mut play = Play::of(nodes);
    for _ in 0..100 {
        play.offer("a->z", "x");
    }
    for turn in play.turns().into_iter().skip(1) {
        let report = TurnOutput { class: Some(FailureClass::Transient), ..TurnOutput::default() };
        let (code, message) = (ErrorCode::ProviderFailed, "busy".to_owned());
        play.take(Input::report(turn, TurnOutcome::Faulted { code, message, report }));
    }
    assert_eq!(play.turns().len(), 1, "the others wait");
    assert!(looks_elsewhere(&mut play, Look::Start) <= 1);
    assert!(looks_elsewhere(&mut play, Look::Start) <= 1);
}

#[test]
fn many_requests_for_a_busy_node_are_looked_at_as_one() {
    let mut play = Play::of(two(utility().text()));
    for _ in 0..100 {
        play.act(Do::trigger(NodeId::new("z"), None));
    }
    assert!(looks_elsewhere(&mut play, Look::Start) <= 3);
    let told = play.end("done");
    assert!(!told.contains("z "), "{told}");
    play.end_all("done");
    assert!(play.run.turns.len() < 3, "one at a time");
}

#[test]
fn inputs_that_only_a_person_takes_up_cost_the_scheduler_nothing() {
    let mut source = utility().text().edge(Always, "a");
    source.mode = NodeMode::Interactive;
    let mut nodes = with_more(two(utility().text()), 100, &source);
    let mut first = nodes.nodes["a"].clone();
    for nth in 0..100 {
        first = first.edge(Always, &format!("m{nth}"));
        first.edges.last_mut().unwrap().id = EdgeId::new(format!("a->m{nth}"));
    }
    nodes.nodes.insert(NodeId::new("a"), first);
    let mut play = Play::of(nodes);
    for nth in 0..100 {
        play.offer(&format!("a->m{nth}"), "x");
    }
    assert_eq!(play.run.ready.by_hand.len(), 100);
    assert!(looks_elsewhere(&mut play, Look::Start) <= 2);
}
