//! Future events without a person: ticks, the script's timeline, and idle runs.

use materia_contract::{
    Condition, Do, GlobalMode, Node, NodeMode, Plan, RunId, Trigger, WaitReason,
};
use materia_kernel::{
    Acting, Effect, Input, Moment, Phase, Rejection, Run, is_idle, outstanding, step,
};

use crate::play::{NodeExt as _, Play, created, plan, tell, utility};

use Condition::Always;

/// Runs by the clock.
fn ticking(interval_ms: u64) -> Node {
    let mut node = utility().text();
    node.trigger = Trigger::Scheduled;
    node.interval_ms = Some(interval_ms);
    node
}

fn wakes(play: &Play) -> Option<i64> {
    outstanding(&play.run).find_map(|effect| match effect {
        Effect::WakeAt(at) => Some(at),
        Effect::StartTurn(_) | Effect::Publish => None,
    })
}

fn refused(play: &Play) -> Rejection {
    step(&mut play.run.clone(), play.now, Input::Idle).unwrap_err()
}

#[test]
fn ticks_lie_on_a_grid_that_begins_with_the_run() {
    let mut play = Play::of(plan([("a", utility().text()), ("b", ticking(10))]));
    let start = play.run.created_at();
    assert_eq!(wakes(&play), Some(start + 10_000), "one interval after the beginning");
    play.now = start + 8_999;
    assert!(play.take(Input::tick()).is_empty(), "a microsecond too early");
    // Somebody comes late: the tick counts once, and the next one is on the grid again.
    play.now = start + 46_000;
    assert!(tell(&play.take(Input::tick())).contains("b 1.1 started"));
    assert_eq!(wakes(&play), Some(start + 50_000));
    play.now = start + 49_000;
    play.take(Input::tick());
    assert_eq!(wakes(&play), Some(start + 60_000), "on the grid, one interval on");
}

#[test]
fn a_clock_without_an_interval_never_ticks() {
    let mut play = Play::of(plan([("a", utility().text()), ("b", ticking(0))]));
    assert_eq!(wakes(&play), None);
    assert!(play.end("done").ends_with("completed"));
}

/// `b` has a clock, but only a person starts it.
fn by_hand() -> Plan {
    let mut b = ticking(10);
    b.mode = NodeMode::Interactive;
    plan([("a", utility().text()), ("b", b)])
}

#[test]
fn a_run_is_idle_where_its_clock_only_repeats_what_is_owed() {
    let mut play = Play::of(by_hand());
    assert!(!is_idle(&play.run), "a turn is in flight");
    play.end("done");
    assert!(!is_idle(&play.run), "the first tick is still to come");
    assert_eq!(refused(&play), Rejection::NotIdle);
    play.now = play.run.created_at() + 10_000;
    let told = tell(&play.take(Input::tick()));
    assert_eq!(told, "b fired Tick\ndelivered to b\nb timer Tick");
    assert!(is_idle(&play.run), "it owes a tick, and a second would be the same one");
    assert_eq!(tell(&play.take(Input::Idle)), "waiting: manual");
    let Phase::Waiting(waiting) = play.run.phase() else { panic!("{:?}", play.run.phase()) };
    assert_eq!(waiting.reason, WaitReason::Manual);
}

#[test]
fn ticks_that_nobody_took_are_one() {
    let mut play = Play::of(by_hand());
    play.end("done");
    let start = play.run.created_at();
    play.now = start + 10_000;
    play.take(Input::tick());
    play.now = start + 20_000;
    assert_eq!(tell(&play.take(Input::tick())), "b fired Tick\nb timer Tick");
}

#[test]
fn a_run_does_not_rest_before_the_end_of_its_timeline() {
    let mut asked = created(plan([("a", utility().text().edge(Always, "end"))]));
    asked.timeline = 2;
    let mut run = Run::new(RunId::new("r"));
    step(&mut run, 1_000, Input::Create(asked.into())).unwrap();
    let mut play = Play { run, now: 1_000 };
    assert!(play.end("done").ends_with("a routes to end"));
    for (index, value) in [(0, GlobalMode::Planning), (1, GlobalMode::Implementation)] {
        assert_eq!(*play.run.phase(), Phase::Running, "entry {index} is still to come");
        assert!(!is_idle(&play.run));
        assert_eq!(refused(&play), Rejection::NotIdle);
        assert_eq!(play.run.timeline_reached(), index);
        let acts =
            vec![Acting { timeline: Some(index), ..Acting::person(Do::GlobalMode { value }) }];
        play.take(Input::Moment(Moment { reports: Vec::new(), acts }));
        assert_eq!(play.run.global_mode(), value);
    }
    assert_eq!(*play.run.phase(), Phase::Completed);
}
