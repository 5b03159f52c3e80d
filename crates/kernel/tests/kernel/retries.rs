//! Turns whose provider fails: which are tried again, and when.

use materia_contract::{
    Amount, Condition, ErrorCode, EventBody, FailureClass, RunId, TurnOutput, TurnUsage,
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
    step(&mut run, 0, Input::Create(Box::new(created(plan)))).unwrap();
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

#[test]
fn a_lost_session_is_begun_anew_at_once() {
    let (_, at) = waits_after(fault(FailureClass::SessionLost, None));
    assert_eq!(at, Some(1_000), "a fresh session needs no rest");
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
    step(&mut run, 0, Input::Create(Box::new(created(plan)))).unwrap();
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
