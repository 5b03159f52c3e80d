//! Storage limit of a run: it starts nothing above it, and goes on once there is room.

use materia_contract::{
    Budget, Condition, Do, Limits, Plan, StorageMeasured, TurnOutput, WaitReason,
};
use materia_kernel::{Input, Phase, TurnOutcome};

use crate::play::{NodeExt as _, Play, agent, plan, tell};

fn kept(used_mb: u64) -> Input {
    Input::Measured(StorageMeasured { used_mb, free_mb: 500, floor_mb: 64, disk: None })
}

/// Two sockets, one behind the other, in a run that may keep ten megabytes.
fn two() -> Play {
    let nodes = plan([("a", agent().edge(Condition::Always, "b")), ("b", agent())]);
    Play::of(Plan { limits: Limits { max_storage_mb: 10, ..nodes.limits }, ..nodes })
}

fn ended(play: &mut Play) -> String {
    let turn = play.turns()[0];
    tell(&play.take(Input::report(
        turn,
        TurnOutcome::Ended(TurnOutput { output: "{}".into(), ..TurnOutput::default() }),
    )))
}

fn waits_for_budget(play: &Play) -> Option<&str> {
    match play.run.phase() {
        Phase::Waiting(waiting) if waiting.reason == WaitReason::Budget => Some(&waiting.message),
        _ => None,
    }
}

#[test]
fn a_run_that_keeps_as_much_as_it_may_starts_nothing_more() {
    let mut play = two();
    // What is under way goes on to its end; nothing is lost.
    assert_eq!(tell(&play.take(kept(10))), "keeps 10 MB");
    assert_eq!(*play.run.phase(), Phase::Running);
    assert!(play.run.is_crowded());
    let told = ended(&mut play);
    assert!(told.ends_with("waiting: budget"), "{told}");
    let message = waits_for_budget(&play);
    assert_eq!(message, Some("the cast has spent its budget: 10 of 10 MB of storage"));
    // To resume it alone helps nothing.
    play.take(Input::resume(None));
    assert!(waits_for_budget(&play).is_some());
    assert_eq!(play.run.more_storage_mb(), Some(20));
    let budget = Budget { max_storage_mb: Some(20), ..Budget::default() };
    play.act(Do::Budget { budget });
    play.take(Input::resume(None));
    assert_eq!((play.run.phase(), play.turns().len()), (&Phase::Running, 1));
}

#[test]
fn a_disk_that_is_nearly_full_holds_the_run_until_there_is_room() {
    let mut play = two();
    let full = StorageMeasured { used_mb: 1, free_mb: 63, floor_mb: 64, disk: None };
    play.take(Input::Measured(full));
    ended(&mut play);
    let message = waits_for_budget(&play).unwrap();
    assert!(
        message.contains("63 MB are free on its disk, and 64 MB have to stay free"),
        "{message}"
    );
    assert_eq!(play.run.more_storage_mb(), None, "no budget makes room on a disk");
    assert_eq!(tell(&play.take(kept(1))), "keeps 1 MB", "it waits for a person all the same");
    assert!(waits_for_budget(&play).is_some() && !play.run.is_crowded());
    play.take(Input::resume(None));
    assert_eq!((play.run.phase(), play.turns().len()), (&Phase::Running, 1));
}

#[test]
fn the_bounds_are_exact_and_the_same_measure_is_no_news() {
    let mut play = two();
    play.take(kept(9));
    assert!(!play.run.is_crowded());
    assert!(play.take(kept(9)).is_empty());
    let floor = StorageMeasured { used_mb: 0, free_mb: 64, floor_mb: 64, disk: None };
    play.take(Input::Measured(floor));
    assert!(!play.run.is_crowded(), "the floor itself is free");
    let told = ended(&mut play);
    assert!(told.contains("b 1.1 started"), "{told}");
}
