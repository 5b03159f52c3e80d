//! Order of everything that happens at one instant (D7): turns end, payloads arrive, timers fire, modes change.

use insta::assert_snapshot;
use materia_contract::{
    Condition, Delivery, DeliveryMode, Do, EventBody, GlobalMode, NodeId, Offered, Pace,
    TimelineEntry, Trigger,
};
use materia_kernel::{Input, order_timeline};

use crate::play::{NodeExt as _, Play, agent, outcome, plan, prompt_of, utility};

use Condition::Always;

#[test]
fn what_arrives_at_the_deadline_of_a_quiet_period_wins_over_it() {
    let mut a = utility().text().edge(Always, "b");
    let quiet = Delivery { debounce_ms: Some(10), ..Delivery::of(DeliveryMode::Debounce) };
    a.edges[0].delivery = quiet;
    let mut play = Play::of(plan([("a", a), ("b", utility().text())]));
    play.offer("a->b", "first");
    play.now += 9_000;
    assert_snapshot!(play.offer("a->b", "at the deadline"), @r#"
    sent over a->b
    b superseded over a->b
    b timer Debounce { edge_id: EdgeId("a->b") }
    "#);
}

#[test]
fn a_change_of_the_pace_comes_after_the_timers_of_its_instant() {
    let mut a = utility().text();
    (a.trigger, a.interval_ms) = (Trigger::Scheduled, Some(10));
    let mut play = Play::of(plan([("a", a)]));
    play.now += 9_000;
    assert_snapshot!(play.act(Do::Mode { value: Pace::Interactive }), @r"
    a fired Tick
    delivered to a
    a timer Tick
    mode Pace(Interactive) (person)
    ");
}

#[test]
fn a_timeline_is_put_in_the_order_in_which_it_takes_effect() {
    let offer = |message: &str| Do::Offer {
        edge: "a->b".into(),
        payload: Offered { message: Some(message.into()), ..Offered::default() },
    };
    let slow = Do::Mode { value: Pace::Interactive };
    let trigger = Do::trigger(NodeId::new("a"), None);
    let at = |at_ms: u64, act: &Do| TimelineEntry { at_ms, act: act.clone() };
    let mut timeline = [
        at(5, &Do::Crash),
        at(5, &slow),
        at(5, &offer("one")),
        at(5, &trigger),
        at(5, &offer("two")),
        at(1, &Do::Crash),
        at(1, &slow),
    ];
    order_timeline(&mut timeline);
    let ordered = [
        at(1, &slow),
        at(1, &Do::Crash),
        at(5, &offer("one")),
        at(5, &trigger),
        at(5, &offer("two")),
        at(5, &slow),
        at(5, &Do::Crash),
    ];
    assert_eq!(timeline, ordered, "equal ones stay as they were written");
}

#[test]
fn a_person_may_change_what_turns_write_and_the_next_one_is_told() {
    let mut play = Play::of(plan([("a", agent().text().edge(Always, "b")), ("b", agent().text())]));
    let planning = || Do::GlobalMode { value: GlobalMode::Planning };
    assert_eq!(play.act(planning()), "mode Global(Planning) (person)");
    assert_eq!(play.act(planning()), "", "it is so already");
    assert_eq!(play.run.global_mode(), GlobalMode::Planning);
    let turn = play.turns()[0];
    assert_eq!(play.run.turn(turn).unwrap().global_mode, GlobalMode::Planning, "from now on");
    let events = play.take(Input::report(turn, outcome("done")));
    assert!(events.iter().any(|event| matches!(
        &event.body,
        EventBody::TurnStarted(data) if data.global_mode == Some(GlobalMode::Planning)
    )));
    let prompt = prompt_of(&events, "b");
    assert!(prompt.contains("# Mode: Planning\nThe code is read-only."), "{prompt}");
}
