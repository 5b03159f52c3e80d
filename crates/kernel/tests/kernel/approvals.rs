//! Turns that wait for a person's consent.

use insta::assert_snapshot;
use materia_contract::{Approval, Budget, Condition, Consume, Do, NodeId, Pace, Plan};
use materia_kernel::{Input, Phase, Rejection, step};

use crate::play::{NodeExt as _, Play, plan, utility};

use Condition::Always;

/// `a` hands its work to `b`, which asks before it runs.
fn asking() -> Plan {
    let mut plan = plan([("a", utility().text().edge(Always, "b")), ("b", utility().text())]);
    plan.nodes["b"].approval = Some(Approval::Before);
    plan
}

fn approve(node: &str) -> Do {
    Do::approve(NodeId::new(node))
}

fn deny(node: &str) -> Do {
    Do::deny(NodeId::new(node))
}

fn waits_with(play: &Play) -> String {
    match play.run.phase() {
        Phase::Waiting(waiting) => waiting.message.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_node_asks_once_and_runs_when_a_person_consents() {
    let mut play = Play::of(asking());
    assert_snapshot!(play.end("done"), @r"
    a 1.1 completed
    a routes to b
    sent over a->b
    delivered to b
    b asks for approval
    waiting: approval
    ");
    assert!(waits_with(&play).ends_with("a turn of `b` waits for approval"));
    assert_snapshot!(play.resume(), @r"
    resumed
    waiting: approval
    ");
    assert_snapshot!(play.act(approve("b")), @r"
    resumed
    b approved
    consumed by b
    b 1.1 started
    ");
    assert!(play.end("done").ends_with("completed"));
}

#[test]
fn a_refused_turn_keeps_its_inputs_and_may_be_allowed_after_all() {
    let mut play = Play::of(asking());
    play.end("done");
    assert_snapshot!(play.act(deny("b")), @r"
    resumed
    b denied
    waiting: approval
    ");
    assert!(waits_with(&play).ends_with("was refused; its inputs are kept"));
    assert!(play.act(approve("b")).ends_with("b 1.1 started"));
}

#[test]
fn a_new_payload_must_be_asked_for_again() {
    let mut play = Play::of(asking());
    play.end("done");
    play.act(Do::Mode { value: Pace::Interactive });
    assert!(play.act(approve("b")).contains("b approved"));
    play.offer("a->b", "more");
    let told = play.act(Do::Mode { value: Pace::Auto });
    assert!(told.ends_with("b asks for approval\nwaiting: approval"), "{told}");
    // What was consented to is gone, and with it the consent.
    assert!(play.act(approve("b")).ends_with("b 1.1 started"));
}

#[test]
fn nothing_is_asked_that_could_not_run_with_consent_either() {
    let mut nodes = asking();
    nodes.nodes["b"].depends_on.push(NodeId::new("b"));
    let mut play = Play::of(nodes);
    let told = play.end("done");
    assert!(told.ends_with("delivered to b\nwaiting: manual"), "{told}");
    let refused = step(&mut play.run, 9_000, Input::act(approve("b")));
    assert_eq!(refused, Err(Rejection::NothingToApprove(NodeId::new("b"))));
    assert!(waits_with(&play).contains("which depends on `b`"));
}

#[test]
fn a_run_that_has_spent_its_budget_asks_all_the_same() {
    let mut nodes = asking();
    nodes.budget = Budget { max_turns: Some(1), ..Budget::default() };
    let mut play = Play::of(nodes);
    assert!(play.end("done").ends_with("waiting: approval"));
    assert!(play.act(approve("b")).ends_with("b approved\nwaiting: budget"));
}

#[test]
fn each_turn_is_asked_for_by_itself() {
    let mut nodes = asking();
    nodes.nodes["b"].consume = Consume::One;
    let mut play = Play::of(nodes);
    play.offer("a->b", "first");
    play.end("second");
    assert!(play.act(approve("b")).ends_with("consumed by b\nb 1.1 started"));
    assert!(play.end("done").ends_with("b asks for approval\nwaiting: approval"));
    assert!(play.act(approve("b")).ends_with("consumed by b\nb 2.1 started"));
}

#[test]
fn a_question_about_inputs_that_are_gone_keeps_nobody_waiting() {
    let mut play = Play::of(asking());
    play.end("done");
    // A turn by hand takes what the question was about, and needs the same consent (D56).
    play.refused(Do::trigger(NodeId::new("b"), None));
    let (message, hash) = (None, None);
    play.act(Do::Trigger { node: NodeId::new("b"), message, approve: true, hash });
    assert!(play.end("done").ends_with("completed"));
}
