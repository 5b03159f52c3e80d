//! Turns that wait for an approval.

use insta::assert_snapshot;
use materia_contract::{
    Approval, Budget, Condition, Consume, Do, Foreach, NodeBudgets, NodeId, Pace, Plan,
};
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

/// The same, and what is refused leads to `c`.
fn with_a_way_back() -> Plan {
    let b = utility().edge(Condition::Satisfied, "end").edge(Condition::NotSatisfied, "c");
    let mut plan =
        plan([("a", utility().text().edge(Always, "b")), ("b", b), ("c", utility().text())]);
    plan.nodes["b"].approval = Some(Approval::Before);
    plan
}

fn refuse(hash: Option<&str>, reason: Option<&str>, route: bool) -> Do {
    let (node, owned) = (NodeId::new("b"), |text: &str| text.to_owned());
    Do::Deny { node, hash: hash.map(owned), reason: reason.map(owned), route }
}

#[test]
fn an_answer_to_another_question_is_refused() {
    let mut play = Play::of(asking());
    play.end("first");
    let old = materia_kernel::question(&play.run, &NodeId::new("b")).unwrap().hash.to_owned();
    play.offer("a->b", "second");
    let new = materia_kernel::question(&play.run, &NodeId::new("b")).unwrap().hash.to_owned();
    assert_ne!(old, new);
    let yes = |hash: &str| Do::Approve { node: NodeId::new("b"), hash: Some(hash.to_owned()) };
    let said = play.refused(yes(&old));
    assert!(said.contains(&old) && said.contains(&new), "{said}");
    play.refused(refuse(Some(&old), None, false));
    assert!(play.act(yes(&new)).ends_with("b 1.1 started"));
}

#[test]
fn a_refusal_with_a_reason_is_kept_and_reversed() {
    let mut play = Play::of(asking());
    play.end("first");
    play.act(refuse(None, Some("not now"), false));
    let asked = materia_kernel::question(&play.run, &NodeId::new("b")).unwrap();
    assert_eq!((asked.denied, asked.reason), (true, Some("not now")));
    let Phase::Waiting(waiting) = play.run.phase() else { panic!("it waits") };
    assert!(waiting.message.contains("not now"), "{}", waiting.message);
    play.refused(refuse(None, None, true));
    assert!(play.act(approve("b")).ends_with("b 1.1 started"));
}

#[test]
fn a_refusal_that_leads_on_is_answered_by_the_runtime() {
    let mut play = Play::of(with_a_way_back());
    play.end("first");
    let told = play.act(refuse(None, Some("no tests"), true));
    assert!(told.contains("b 1.1 started\nb 1.1 completed\nb routes to c"), "{told}");
    assert!(told.contains("follow-up for c: no tests"), "{told}");
    assert!(told.ends_with("c 1.1 started"), "{told}");
    assert!(materia_kernel::question(&play.run, &NodeId::new("b")).is_none());
}

#[test]
fn nothing_starts_by_hand_that_was_asked_and_not_allowed() {
    let by_hand = |approve| {
        let (node, message, hash) = (NodeId::new("b"), Some("now".to_owned()), None);
        Do::Trigger { node, message, approve, hash }
    };
    let mut play = Play::of(asking());
    play.end("first");
    assert!(play.refused(by_hand(false)).contains("waits for approval"));
    play.act(refuse(None, None, false));
    assert!(play.refused(by_hand(false)).contains("was refused"));
    let told = play.act(by_hand(true));
    assert!(told.contains("b approved") && told.ends_with("b 1.1 started"), "{told}");
}

#[test]
fn a_refused_list_is_answered_once_for_all_its_elements() {
    let mut graph = with_a_way_back();
    let items = "state.list".parse().unwrap();
    graph.nodes["b"].foreach = Some(Foreach { items, alias: "entry".into(), cursor: "at".into() });
    graph.nodes["c"] = utility().text().edge(Always, "b");
    // Whatever the list is by now: nothing is run for any of its elements, so none is looked for.
    let mut play = Play::of(graph);
    assert!(play.end("first").ends_with("b asks for approval\nwaiting: approval"));
    let told = play.act(refuse(None, Some("not these"), true));
    assert!(told.contains("b 1.1 started") && told.ends_with("c 1.1 started"), "{told}");
    assert!(!told.contains("at "), "no element was entered: {told}");
    // The next question is a new one, and what was taken for the first is not taken again.
    assert!(play.end("second").ends_with("b asks for approval\nwaiting: approval"));
    let told = play.act(refuse(None, None, true));
    assert!(told.contains("b 2.1 started") && told.ends_with("c 2.1 started"), "{told}");
}

#[test]
fn a_question_that_could_not_be_acted_upon_is_not_what_a_run_waits_for() {
    let mut play = Play::of(asking());
    assert!(play.end("first").ends_with("waiting: approval"));
    // It may not spend anything any more: consent would start nothing.
    let budgets = NodeBudgets { turns: Some(0), ..NodeBudgets::default() };
    play.act(Do::NodeBudget { node: NodeId::new("b"), budgets });
    let told = play.resume();
    assert!(told.ends_with("waiting: budget"), "{told}");
}
