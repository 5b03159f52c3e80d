//! A turn that was not started, because it would have run something that is not approved.

use insta::assert_snapshot;
use materia_contract::{Condition, Do, InterruptReason, RunPlace, WaitReason};
use materia_kernel::{Effect, Input, Phase, Rejection, Run, outstanding, step};

use crate::play::{NodeExt as _, agent, created, outcome, plan, run, tell, utility};

use Condition::Always;

fn in_flight(run: &Run) -> Vec<u64> {
    let turns = outstanding(run).filter_map(|effect| match effect {
        Effect::StartTurn(turn) => Some(turn),
        Effect::WakeAt(_) | Effect::Publish => None,
    });
    turns.collect()
}

fn withheld(turn: u64) -> Input {
    Input::Withheld { reports: Vec::new(), turn, message: "`run.sh` changed".into(), files: None }
}

#[test]
fn the_run_waits_and_the_turn_runs_when_somebody_carries_it_on() {
    let (mut run, _) = run(created(plan([("a", utility())])), &[]);
    let turn = in_flight(&run)[0];
    assert_eq!(step(&mut run, 9, withheld(turn + 9)), Err(Rejection::StaleTurn { turn: turn + 9 }));
    let events = step(&mut run, 9, withheld(turn)).unwrap();
    let kinds: Vec<&str> = events.iter().map(|event| event.body.type_name()).collect();
    assert_eq!(kinds, ["turn.interrupted", "run.waiting"]);
    let Phase::Waiting(waiting) = run.phase() else { panic!("{:?}", run.phase()) };
    assert_eq!(waiting.reason, WaitReason::Trust);
    assert_eq!(waiting.node.as_ref().unwrap().as_str(), "a");
    assert_eq!(step(&mut run, 9, withheld(turn)), Err(Rejection::NotRunning));
    let resume = Input::taken_up(Do::Resume { pace: None }, RunPlace::named());
    assert_snapshot!(tell(&step(&mut run, 10, resume).unwrap()), @r"
    resumed
    a 1.2 started
    ");
    let turn = in_flight(&run)[0];
    let told = tell(&step(&mut run, 11, Input::report(turn, outcome("{}"))).unwrap());
    assert!(told.ends_with("completed"), "{told}");
}

#[test]
fn what_else_was_under_way_counts_where_it_came_to_its_end() {
    let nodes = [
        ("a", agent().all().edge(Always, "b").edge(Always, "c")),
        ("b", utility()),
        ("c", utility().edge(Always, "d")),
        ("d", utility()),
    ];
    let mut created = created(plan(nodes));
    created.plan.limits.max_concurrent_turns = 2;
    let (mut run, _) = run(created, &["{}"]);
    let [b, c] = in_flight(&run)[..] else { panic!("two turns run: {:?}", in_flight(&run)) };
    let report = |turn| materia_kernel::Report { turn, outcome: outcome("{}") };
    let input = Input::Withheld {
        reports: vec![report(b), report(c)],
        turn: b,
        message: "x".into(),
        files: None,
    };
    let events = step(&mut run, 9, input).unwrap();
    let kinds: Vec<&str> = events.iter().map(|event| event.body.type_name()).collect();
    // The turn that was not started has no report, whoever says so; nothing starts behind the other.
    assert_eq!(kinds.iter().filter(|kind| **kind == "turn.completed").count(), 1, "{kinds:?}");
    assert!(!kinds.contains(&"turn.started"), "{kinds:?}");
    let interrupted = events.iter().find_map(|event| match &event.body {
        materia_contract::EventBody::TurnInterrupted(data) => Some((data.turn, data.reason)),
        _ => None,
    });
    assert_eq!(interrupted, Some((b, InterruptReason::Trust)));
}
