//! Turns whose provider fails: which are tried again, and when.

use materia_contract::{
    Amount, Cause, Condition, ErrorCode, Event, EventBody, FailureClass, RunId, TurnOutput,
    TurnStarted, TurnUsage,
};
use materia_kernel::{Effect, Input, Phase, Run, TurnOutcome, outstanding, step};

use crate::play::{NodeExt as _, agent, created, plan};

fn fault(class: FailureClass, retry_after_ms: Option<u64>) -> TurnOutcome {
    TurnOutcome::Faulted {
        code: ErrorCode::ProviderFailed,
        message: "the provider is busy".into(),
        report: TurnOutput { class: Some(class), retry_after_ms, ..TurnOutput::default() },
    }
}

/// Begins a run of one agent, fails its turn, and says when it is tried again.
fn waits_after(outcome: TurnOutcome) -> (Run, Option<i64>) {
    let mut run = Run::new(RunId::new("r"));
    let plan = plan([("a", agent().text())]);
    step(&mut run, 0, Input::Create(created(plan).into())).unwrap();
    let Some(Effect::StartTurn(turn)) = outstanding(&run).next() else { panic!("it starts") };
    let events = step(&mut run, 1_000, Input::report(turn, outcome)).unwrap();
    let at = events.iter().find_map(|event| match &event.body {
        EventBody::TurnFailed(data) => data.retry_at,
        _ => None,
    });
    (run, at)
}

#[test]
fn what_may_pass_is_tried_again_later_and_later_and_not_for_ever() {
    let (mut run, at) = waits_after(fault(FailureClass::Transient, None));
    let mut at = at.expect("a transient failure is tried again");
    assert_eq!(at, 1_000 + 2_000_000, "after two seconds");
    let mut waits = Vec::new();
    loop {
        assert_eq!(outstanding(&run).collect::<Vec<_>>(), [Effect::WakeAt(at)]);
        assert!(step(&mut run, at - 1, Input::tick()).unwrap().is_empty(), "not before its time");
        step(&mut run, at, Input::tick()).unwrap();
        let Some(Effect::StartTurn(turn)) = outstanding(&run).next() else { panic!("it starts") };
        let failed = fault(FailureClass::Transient, None);
        let events = step(&mut run, at, Input::report(turn, failed)).unwrap();
        let next = events.iter().find_map(|event| match &event.body {
            EventBody::TimerSet(data) => Some(data.at),
            _ => None,
        });
        let Some(next) = next else { break };
        waits.push(next - at);
        at = next;
    }
    assert_eq!(waits, [4_000_000, 8_000_000, 16_000_000]);
    assert!(matches!(run.phase(), Phase::Failed(_)), "{:?}", run.phase());
}

#[test]
fn only_what_may_pass_is_tried_again() {
    for class in [FailureClass::Auth, FailureClass::Permanent, FailureClass::Contract] {
        let (run, at) = waits_after(fault(class, None));
        assert_eq!(at, None, "{class:?}");
        assert!(matches!(run.phase(), Phase::Failed(_)), "{class:?}");
    }
    let (_, at) = waits_after(fault(FailureClass::RateLimit, Some(60_000)));
    assert_eq!(at, Some(1_000 + 60_000_000), "a provider that says when is believed");
    let (run, at) = waits_after(fault(FailureClass::RateLimit, Some(86_400_000)));
    assert_eq!(at, None, "nobody waits a day unasked");
    assert!(matches!(run.phase(), Phase::Failed(_)));
}

/// Fails the one turn in flight, and gives what follows.
fn fails(run: &mut Run, now: i64, class: FailureClass) -> Vec<Event> {
    let Some(Effect::StartTurn(turn)) = outstanding(run).next() else { panic!("it starts") };
    step(run, now, Input::report(turn, fault(class, None))).unwrap()
}

/// The turn that these events start.
fn started(events: &[Event]) -> TurnStarted {
    let found = events.iter().rev().find_map(|event| match &event.body {
        EventBody::TurnStarted(data) => Some(TurnStarted::clone(data)),
        _ => None,
    });
    found.expect("a turn starts")
}

#[test]
fn a_lost_session_is_begun_anew_at_once_and_counts_as_no_retry() {
    let mut run = Run::new(RunId::new("r"));
    let mut nodes = plan([("a", agent().text())]);
    nodes.limits.max_retries = 0;
    let first = started(&step(&mut run, 0, Input::Create(created(nodes).into())).unwrap());
    let events = fails(&mut run, 1, FailureClass::SessionLost);
    let EventBody::TurnFailed(failed) = &events[0].body else { panic!("{events:?}") };
    assert!(failed.session_lost && failed.retry_at.is_none() && !failed.repair);
    let again = started(&events);
    assert_eq!((again.visit, again.attempt), (1, 2));
    assert!(matches!(again.cause, Cause::Retry { .. }));
    let (before, now) = (first.session.unwrap(), again.session.unwrap());
    assert!(now.id != before.id && !now.resume, "a session that nobody used");
    assert_eq!(first.prompt, again.prompt, "it had everything already");
    // A fresh one cannot be lost: that is a failure like any other, and there are no retries here.
    let events = fails(&mut run, 2, FailureClass::SessionLost);
    let EventBody::TurnFailed(failed) = &events[0].body else { panic!("{events:?}") };
    assert!(!failed.session_lost);
    assert!(matches!(run.phase(), Phase::Failed(_)), "{:?}", run.phase());
}

#[test]
fn whoever_goes_on_in_a_session_that_is_gone_is_told_everything_and_then_the_tick() {
    let mut run = Run::new(RunId::new("r"));
    let judge = agent().edge(Condition::NotSatisfied, "a").edge(Condition::Satisfied, "end");
    let nodes = plan([("a", agent().text().edge(Condition::Always, "b")), ("b", judge)]);
    let first = started(&step(&mut run, 0, Input::Create(created(nodes).into())).unwrap());
    for answer in ["built", r#"{"satisfied": false, "context": "no test"}"#] {
        let Some(Effect::StartTurn(turn)) = outstanding(&run).next() else { panic!("it starts") };
        step(&mut run, 1, Input::report(turn, crate::play::outcome(answer))).unwrap();
    }
    let Some(Effect::StartTurn(turn)) = outstanding(&run).next() else { panic!("it starts") };
    let tick = run.turn(turn).unwrap().clone();
    assert!(tick.session.as_ref().is_some_and(|session| session.resume));
    let again = started(&fails(&mut run, 2, FailureClass::SessionLost));
    let prompt = again.prompt.unwrap();
    let names: Vec<&str> = again.layers.iter().map(|layer| &*layer.name).collect();
    assert_eq!(names, ["materia", "request", "incoming", "followUp", "mode", "tick"]);
    assert!(prompt.starts_with("Do it.") && prompt.contains("# Request\nplease"), "{prompt}");
    assert!(prompt.contains("\"kind\": \"tick\"") && prompt.contains("no test"), "{prompt}");
    assert_eq!(again.layers.last().unwrap().end, prompt.len(), "no byte without a layer");
    assert_eq!(again.consumed, tick.consumed);
    assert_ne!(again.session.as_ref().unwrap().id, first.session.unwrap().id);
    // The next turn goes on in the new session.
    for answer in ["built", r#"{"satisfied": false, "context": "still none"}"#] {
        let Some(Effect::StartTurn(turn)) = outstanding(&run).next() else { panic!("it starts") };
        step(&mut run, 3, Input::report(turn, crate::play::outcome(answer))).unwrap();
    }
    let Some(Effect::StartTurn(turn)) = outstanding(&run).next() else { panic!("it starts") };
    let session = run.turn(turn).unwrap().session.clone().unwrap();
    assert_eq!((session.id, session.resume), (again.session.unwrap().id, true));
}

#[test]
fn a_provider_may_ask_for_an_hour_and_no_more() {
    let hour = 3_600_000;
    assert_eq!(waits_after(fault(FailureClass::RateLimit, Some(hour))).1, Some(3_600_001_000));
    assert_eq!(waits_after(fault(FailureClass::RateLimit, Some(hour + 1))).1, None);
}

#[test]
fn what_a_turn_used_is_added_up() {
    let mut run = Run::new(RunId::new("r"));
    let plan = plan([("a", agent().text().edge(Condition::Always, "a"))]);
    step(&mut run, 0, Input::Create(created(plan).into())).unwrap();
    for _ in 0..2 {
        let Some(Effect::StartTurn(turn)) = outstanding(&run).next() else { panic!("it starts") };
        let used = TurnUsage {
            input_tokens: Some(30),
            output_tokens: Some(4),
            cost: Some(Amount::from_millionths(500_000)),
        };
        let output = TurnOutput { usage: Some(used), ..TurnOutput::default() };
        step(&mut run, 9, Input::report(turn, TurnOutcome::Ended(output))).unwrap();
    }
    assert_eq!(
        (run.usage().tokens, run.usage().cost),
        (68, Some(Amount::from_millionths(1_000_000)))
    );
}
