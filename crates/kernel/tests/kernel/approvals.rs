//! Turns that wait for a person: when they are asked about, and what a person is told.

use materia_contract::{
    Act, Approval, Condition, Event, EventBody, NodeId, Plan, RunId, TurnOutput,
};
use materia_kernel::{Effect, Input, Phase, Run, TurnOutcome, outstanding, step};

use crate::play::{NodeExt as _, agent, created, plan};

/// `a` leads to `b`, and `b` to `c`; both wait for approval.
fn guarded() -> Plan {
    let mut plan = plan([
        ("a", agent().text().edge(Condition::Always, "b")),
        ("b", agent().text().edge(Condition::Always, "c")),
        ("c", agent().text()),
    ]);
    for node in ["b", "c"] {
        plan.nodes[node].approval = Some(Approval::Before);
    }
    plan
}

/// Answers the turn in flight.
fn answer(run: &mut Run, now: i64) -> Vec<Event> {
    let Some(Effect::StartTurn(turn)) = outstanding(run).next() else { panic!("nothing runs") };
    let output = TurnOutput { output: "done".into(), ..TurnOutput::default() };
    step(run, now, Input::report(turn, TurnOutcome::Ended(output))).unwrap()
}

fn asked(events: &[Event]) -> Vec<&str> {
    let asks = |event: &&Event| matches!(event.body, EventBody::ApprovalRequested(_));
    events.iter().filter(asks).filter_map(|event| event.node.as_ref()).map(NodeId::as_str).collect()
}

fn waiting(run: &Run) -> &str {
    let Phase::Waiting(waiting) = run.phase() else { panic!("{:?}", run.phase()) };
    &waiting.message
}

#[test]
fn a_person_is_asked_when_nothing_else_is_missing() {
    let mut run = Run::new(RunId::new("r"));
    let events = step(&mut run, 0, Input::Create(Box::new(created(guarded())))).unwrap();
    assert!(asked(&events).is_empty(), "nothing waits at a guarded node yet");
    assert_eq!(asked(&answer(&mut run, 1)), ["b"], "and nothing at `c` even now");
    assert!(waiting(&run).contains("waits for approval"), "{}", waiting(&run));

    step(&mut run, 2, Input::act(Act::Deny { node: NodeId::new("b") })).unwrap();
    assert!(waiting(&run).contains("was refused"), "{}", waiting(&run));
    let events = step(&mut run, 3, Input::act(Act::Approve { node: NodeId::new("b") })).unwrap();
    assert!(asked(&events).is_empty());
    assert_eq!(asked(&answer(&mut run, 4)), ["c"]);
}

#[test]
fn a_question_about_inputs_that_are_gone_keeps_nobody_waiting() {
    let mut plan = guarded();
    plan.nodes["b"].edges.clear();
    let mut run = Run::new(RunId::new("r"));
    step(&mut run, 0, Input::Create(Box::new(created(plan)))).unwrap();
    answer(&mut run, 1);
    // A turn by hand takes what the question was about.
    let act = Act::Trigger { node: NodeId::new("b"), message: None };
    step(&mut run, 2, Input::act(act)).unwrap();
    answer(&mut run, 3);
    assert_eq!(*run.phase(), Phase::Completed);
}
