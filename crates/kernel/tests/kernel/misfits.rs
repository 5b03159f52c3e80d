//! Events that cannot be applied: they name unknown things, or they are out of order.

use materia_contract::{
    Condition, Cron, EnvelopeKind, Event, EventBody, FollowUpCaptured, HandoffSent, Input,
    NextTick, NodeId, PayloadConsumed, RunId, Timer, TimerFired, Trigger, TurnCompleted,
    TurnOutput, Uuid,
};
use materia_kernel::{Rejection, Run, fits, object_place, step, take_with};

use crate::play::{NodeExt as _, Play, agent, created, keep, plan, recomputed, utility};

use Condition::Always;

fn event(play: &Play, node: Option<&str>, body: impl Into<EventBody>) -> Event {
    let (seq, node) = (play.run.seq() + 1, node.map(NodeId::new));
    Event { seq, ts: play.now, wall: play.now, node, body: body.into() }
}

/// Why an event cannot stand next in this run.
fn why(play: &Play, event: &Event) -> Option<String> {
    fits(&play.run, event).err().map(|misfit| misfit.to_string())
}

fn two() -> Play {
    Play::of(plan([("a", agent().edge(Always, "b")), ("b", utility())]))
}

fn completed(turn: u64, output: &str, object: Option<(usize, usize)>) -> TurnCompleted {
    let report = TurnOutput { output: output.into(), ..TurnOutput::default() };
    serde_json::from_value(serde_json::json!({
        "turn": turn, "visit": 1, "attempt": 1, "object": object, "output": report.output,
    }))
    .unwrap()
}

#[test]
fn a_cast_is_created_once_and_first() {
    let play = two();
    let again = event(&play, None, created(plan([("a", agent())])));
    assert!(why(&play, &again).unwrap().contains("the cast exists already"));
    let nothing = Play { run: Run::new(RunId::new("r")), now: 1 };
    let early = event(&nothing, Some("a"), completed(1, "{}", None));
    assert!(why(&nothing, &early).unwrap().contains("the cast does not exist yet"));
    let first = Event { seq: 1, ..event(&nothing, None, created(plan([("a", agent())]))) };
    assert_eq!(why(&nothing, &first), None);
}

#[test]
fn what_is_about_a_node_names_one_and_what_names_one_names_one_that_is_there() {
    let play = two();
    let consumed = PayloadConsumed { payload_id: Uuid::nil() };
    let nameless = event(&play, None, consumed);
    assert!(why(&play, &nameless).unwrap().contains("it names no node"));
    let captured = |target: &str| {
        let (turn, target) = (play.turns()[0], NodeId::new(target));
        FollowUpCaptured { turn, target, item: None, reason: "no".into() }
    };
    assert_eq!(why(&play, &event(&play, Some("a"), captured("b"))), None);
    let unknown = event(&play, Some("a"), captured("c"));
    assert!(why(&play, &unknown).unwrap().contains("the plan has no node `c`"));
    let sent = HandoffSent {
        to: NodeId::new("c"),
        ..serde_json::from_value(serde_json::json!({
            "payloadId": Uuid::nil(), "edgeId": "a->b", "to": "b", "turn": play.turns()[0],
            "kind": EnvelopeKind::Handoff, "preview": "",
        }))
        .unwrap()
    };
    assert!(why(&play, &event(&play, Some("a"), sent)).unwrap().contains("no node `c`"));
}

#[test]
fn an_object_stands_in_its_output_and_a_payload_was_delivered() {
    let mut play = two();
    let turn = play.turns()[0];
    let ended = |object| event(&play, Some("a"), completed(turn, "{}", object));
    assert_eq!(why(&play, &ended(Some((0, 2)))), None);
    assert_eq!(why(&play, &ended(None)), None);
    for outside in [(0, 3), (2, 1)] {
        let found = why(&play, &ended(Some(outside))).unwrap();
        assert!(found.contains("its object does not stand in its output"), "{found}");
    }
    let events = play.take(Input::report(turn, crate::play::outcome("{}")));
    let delivered = events.iter().find_map(|event| match &event.body {
        EventBody::PayloadConsumed(data) => Some(data.payload_id),
        _ => None,
    });
    // It was taken already, so it cannot be taken again; nor can one that never was.
    for payload_id in [delivered.unwrap(), Uuid::nil()] {
        let again = event(&play, Some("b"), PayloadConsumed { payload_id });
        assert!(why(&play, &again).unwrap().contains("its payload was not delivered"));
    }
}

#[test]
fn the_word_says_what_differs() {
    let mut run = Run::new(RunId::new("r"));
    let honest = keep(&mut run, 1_000, Input::Create(created(plan([("a", agent())])).into()));
    let forged = |change: &dyn Fn(&mut Event)| {
        let mut journal = honest.clone();
        change(journal.1.last_mut().unwrap());
        recomputed("r", &[journal]).unwrap_err().to_string()
    };
    let started = |event: &mut Event| {
        let EventBody::TurnStarted(data) = &mut event.body else { panic!("a turn starts last") };
        data.attempt = 9;
    };
    let differs = forged(&started);
    assert!(differs.contains("one with other data"), "{differs}");
    let later = forged(&|event: &mut Event| event.ts += 1);
    assert!(later.contains("one with other time"), "{later}");
    let other = forged(&|event: &mut Event| {
        event.body = TimerFired { timer: Timer::Tick, payload_id: None }.into();
    });
    assert!(other.contains("`turn.started`"), "{other}");
}

#[test]
fn the_object_of_an_output_is_found() {
    let text = "so: {\"satisfied\": true} it is";
    assert_eq!(object_place(&agent(), text), Some((4, 23)));
    assert_eq!(object_place(&agent(), "none"), Some((0, 4)));
    assert_eq!(object_place(&agent().text(), text), None);
}

#[test]
fn a_schedule_is_told_its_next_instant_and_no_other() {
    let mut node = utility().text();
    node.trigger = Trigger::Scheduled;
    node.cron = Some(Cron { expression: "* * * * *".into(), timezone: "UTC".into() });
    let create = || Input::Create(created(plan([("a", node.clone())])).into());
    let tick = |name: &str, at| NextTick { node: NodeId::new(name), at };
    let taken =
        |ticks: &[NextTick]| take_with(&mut Run::new(RunId::new("r")), 1_000, ticks, create());
    // One of another node, or one that has passed, tells nothing about this one.
    for ticks in [vec![], vec![tick("b", 2_000)], vec![tick("a", 1_000)]] {
        assert!(matches!(taken(&ticks), Err(Rejection::NoNextTick(node)) if node.as_str() == "a"));
    }
    let ticks = [tick("b", 3_000), tick("a", 500), tick("a", 2_000)];
    assert_eq!(taken(&ticks).unwrap().ticks, [tick("a", 2_000)]);
    let mut run = Run::new(RunId::new("r"));
    assert!(step(&mut run, 1_000, create()).is_err());
}
