//! Agents that refuse to exit, or leave processes behind.

use std::time::{Duration, Instant};

use materia_contract::FailureClass;
use materia_engine::{Runner, StopSource, TurnFault};

use super::Driving;
use crate::stage::{eventually, runtime};

/// Fails unless the turn is over in good time.
fn in_time<T>(work: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let result = work();
    assert!(begun.elapsed() < Duration::from_secs(30), "took {:?}", begun.elapsed());
    result
}

fn idle(script: &str) -> TurnFault {
    let mut driving = Driving::new(script);
    driving.limits.idle = Duration::from_millis(400);
    in_time(|| driving.fault())
}

#[test]
fn silence_is_ended_and_told() {
    let fault = idle("init; delta 'hm'; exec sleep 60");
    assert_eq!(fault.report.class, Some(FailureClass::Transient));
    assert!(fault.message.contains("said nothing for too long"), "{}", fault.message);
    assert_eq!(fault.report.signal, Some(15));
}

#[test]
fn one_that_speaks_is_not_silent() {
    let mut driving =
        Driving::new("init; for i in 1 2 3 4 5 6; do sleep 0.2; delta $i; done; result ok");
    driving.limits.idle = Duration::from_millis(600);
    assert_eq!(driving.answer().output, "ok");
    let mut driving = Driving::new(
        "init; for i in 1 2 3 4 5 6; do sleep 0.2; echo retrying >&2; done; result ok",
    );
    driving.limits.idle = Duration::from_millis(600);
    assert_eq!(driving.answer().output, "ok");
}

#[test]
fn the_wall_stands_however_much_is_said() {
    let mut driving = Driving::new("init; while :; do delta x; sleep 0.05; done");
    driving.stage.job.timeout = Some(Duration::from_millis(600));
    let fault = in_time(|| driving.fault());
    assert_eq!(fault.report.class, Some(FailureClass::Permanent));
    assert!(fault.message.contains("took longer"), "{}", fault.message);
}

#[test]
fn one_that_ignores_every_polite_word_is_killed() {
    let fault = idle("trap '' TERM INT HUP; init; sleep 60 & sleep 60; sleep 60");
    assert_eq!(fault.report.signal, Some(9));
}

#[test]
fn tools_in_their_own_sessions_go_too() {
    let mut driving = Driving::new(
        "trap '' TERM
for i in 1 2 3; do
  setsid sh -c 'trap \"\" TERM INT; setsid sleep 60 & echo $! >> tools; echo $$ >> tools; sleep 60' &
done
until [ \"$(cat tools 2>/dev/null | wc -l)\" = 6 ]; do sleep 0.01; done
init; sleep 60",
    );
    driving.limits.idle = Duration::from_secs(2);
    in_time(|| driving.fault());
    // That nobody is left has been looked at; that somebody was there has to be, too.
    let tools = driving.read("tools");
    assert_eq!(tools.lines().count(), 6, "{tools}");
}

#[test]
fn a_grandchild_that_holds_the_stream_is_not_waited_for() {
    let driving = Driving::new("init; setsid sleep 60 & result done");
    let output = in_time(|| driving.answer());
    assert_eq!(output.output, "done");
}

#[test]
fn a_good_answer_stays_good_when_its_program_does_not_leave() {
    let driving = Driving::new("init; result done; trap '' TERM; sleep 60; sleep 60");
    let output = in_time(|| driving.answer());
    assert_eq!((output.output.as_str(), output.signal), ("done", Some(9)));
}

#[test]
fn an_agent_that_is_killed_from_outside_has_failed() {
    let driving = Driving::new("init; setsid sh -c 'sleep 60' & kill -KILL $$");
    let fault = in_time(|| driving.fault());
    assert_eq!((fault.report.class, fault.report.signal), (Some(FailureClass::Transient), Some(9)));
}

#[test]
fn a_supervisor_that_is_killed_takes_its_tree_along() {
    let driving = Driving::new("init; sleep 60 & kill -KILL $PPID; sleep 60");
    let fault = in_time(|| driving.report().outcome.unwrap_err());
    assert!(fault.message.contains("supervisor"), "{}", fault.message);
    eventually("an empty tree", || driving.processes().is_empty());
    let driving = Driving::new(
        "init; result good
until grep -q good .materia/run/sockets/*/*.transcript.jsonl; do sleep 0.02; done
sleep 60 & kill -KILL $PPID; sleep 60",
    );
    // Nobody knows whether it was at its end: an answer without the supervisor's word does not count.
    let fault = in_time(|| driving.report()).outcome.unwrap_err();
    assert!(fault.message.contains("has an unknown end"), "{}", fault.message);
    eventually("an empty tree", || driving.processes().is_empty());
}

#[test]
fn a_stop_ends_the_tree_before_the_turn_resolves() {
    let driving = Driving::new("init; setsid sleep 60 & touch up; sleep 60");
    let (source, stop) = StopSource::new();
    runtime().block_on(async {
        let turn = tokio::spawn(driving.runner().run(driving.job().stopped_by(stop)));
        while !driving.cwd().join("up").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(!driving.processes().is_empty());
        source.ask();
        assert!(turn.await.unwrap().outcome.is_err());
        driving.assert_tidy();
    });
}

#[test]
fn dropping_the_turn_ends_the_tree() {
    let driving = Driving::new("init; setsid sleep 60 & touch up; sleep 60");
    let (_source, stop) = StopSource::new();
    runtime().block_on(async {
        tokio::select! {
            _ = driving.runner().run(driving.job().stopped_by(stop)) => panic!("it sleeps for a minute"),
            () = async {
                while !driving.cwd().join("up").exists() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            } => {}
        }
    });
    eventually("an empty tree", || driving.processes().is_empty());
}
