//! Rules of a journal: timers that were set, the answers of a script, the ids of a fork.

use indexmap::IndexMap;
use materia_contract::{
    Condition, Do, Event, EventBody, ForkedFrom, NodeId, RunCreated, RunId, RunPlace,
    ScriptBinding, Timer, TimerFired, Trigger, derived_id,
};
use materia_kernel::{Input, Run, step};

use crate::play::{
    Kept, NodeExt as _, Play, agent, created, keep, outcome, plan, recomputed, utility,
};

use Condition::Always;

fn begun(id: &str, created: RunCreated) -> (Play, Vec<Event>) {
    let mut run = Run::new(RunId::new(id));
    let events = step(&mut run, 1_000, Input::Create(created.into())).unwrap();
    (Play { run, now: 1_000 }, events)
}

#[test]
fn a_timer_that_was_never_set_cannot_have_fired() {
    let mut b = utility().text();
    b.trigger = Trigger::Scheduled;
    b.interval_ms = Some(10);
    let nodes = [("a", utility().text()), ("b", b), ("c", utility().text())];
    let mut run = Run::new(RunId::new("r"));
    let mut journal = vec![keep(&mut run, 1_000, Input::Create(created(plan(nodes)).into()))];
    let turn = journal[0].1.last().unwrap().seq;
    let seq = run.seq() + 1;
    for (node, timer) in [
        ("c", Timer::Tick),
        ("a", Timer::Tick),
        ("b", Timer::Retry { turn }),
        ("c", Timer::Retry { turn }),
    ] {
        let body = EventBody::TimerFired(TimerFired { timer, payload_id: None });
        let node = Some(NodeId::new(node));
        let fired = Event { seq, ts: 11_000, wall: 11_000, node, body };
        let (decided, _) = keep(&mut run.clone(), 11_000, Input::tick());
        let forged: Vec<Kept> = journal.iter().cloned().chain([(decided, vec![fired])]).collect();
        let refused = recomputed("r", &forged).err().map(|refused| refused.seq());
        assert_eq!(refused, Some(seq), "{:?}", forged.last());
    }
    // An instant too early, with everything else in order.
    let (mut early, events) = keep(&mut run.clone(), 11_000, Input::tick());
    early.at -= 1;
    let earlier = |event: &Event| Event { ts: event.ts - 1, ..event.clone() };
    let forged: Vec<Event> = events.iter().map(earlier).collect();
    let forged = [journal.clone(), vec![(early, forged)]].concat();
    assert_eq!(recomputed("r", &forged).err().map(|refused| refused.seq()), Some(seq));
    journal.push(keep(&mut run, 11_000, Input::tick()));
    assert!(recomputed("r", &journal).is_ok(), "the one that was set has fired");
}

/// The answers that the turns of these events take, by node.
fn taken(events: &[Event]) -> Vec<(String, String, u32)> {
    let started = events.iter().filter_map(|event| match &event.body {
        EventBody::TurnStarted(data) => Some((event.node.clone()?, data.script.clone()?)),
        _ => None,
    });
    started.map(|(node, entry)| (node.to_string(), entry.key, entry.index)).collect()
}

#[test]
fn turns_take_the_answers_of_their_list_one_after_the_other() {
    let a = agent().text().all().edge(Always, "b").edge(Always, "c");
    let b = agent().text().edge(Always, "d");
    let nodes = [("a", a), ("b", b), ("c", agent().text()), ("d", agent().text())];
    let mut asked = created(plan(nodes));
    let keys = [("a", "own"), ("b", "both"), ("c", "both"), ("d", "both")];
    let keys: IndexMap<NodeId, String> =
        keys.into_iter().map(|(node, key)| (NodeId::new(node), key.to_owned())).collect();
    asked.script = Some(ScriptBinding { path: "script.json".into(), keys });
    let entry = |node: &str, key: &str, index: u32| (node.to_owned(), key.to_owned(), index);
    let (mut play, events) = begun("r", asked);
    assert_eq!(taken(&events), [entry("a", "own", 0)]);
    let events = play.take(Input::report(play.turns()[0], outcome("go")));
    assert_eq!(taken(&events), [entry("b", "both", 0), entry("c", "both", 1)]);
    // What an interrupted attempt had taken is taken again, the oldest first.
    play.take(Input::Stopped { reports: Vec::new(), message: "for now".into() });
    let resume = Input::taken_up(Do::Resume { pace: None }, RunPlace::named());
    let events = play.take(resume);
    assert_eq!(taken(&events), [entry("b", "both", 0), entry("c", "both", 1)]);
    let events = play.take(Input::report(play.turns()[0], outcome("done")));
    assert_eq!(taken(&events), [entry("d", "both", 2)]);
}

#[test]
fn a_fork_keeps_the_ids_of_what_it_shares_and_gives_its_own_to_the_rest() {
    let (first, second, own) = (RunId::new("first"), RunId::new("second"), RunId::new("own"));
    let nodes = [("a", agent().text().edge(Always, "b")), ("b", agent().text())];
    let mut asked = created(plan(nodes));
    asked.fork = Some(ForkedFrom {
        cast_id: second.clone(),
        seq: 4,
        hash: "0".into(),
        written_by: vec![(first.clone(), 2), (second.clone(), 4)],
        started: None,
    });
    let (mut play, mut events) = begun("own", asked);
    let turn = play.turns()[0];
    events.extend(play.take(Input::report(turn, outcome("go"))));
    let request = events.iter().find_map(|event| match &event.body {
        EventBody::PayloadDelivered(data) => Some(data.payload_id),
        _ => None,
    });
    assert_eq!(request, Some(derived_id(&first, 1)), "the request is that of the first cast");
    let session = events.iter().find_map(|event| match &event.body {
        EventBody::TurnStarted(data) => Some((event.seq, data.session.as_ref()?.id)),
        _ => None,
    });
    assert_eq!(session, Some((4, derived_id(&second, 4))), "the last event that is shared");
    let sent = events.iter().find_map(|event| match &event.body {
        EventBody::HandoffSent(data) => Some((event.seq, data.payload_id)),
        _ => None,
    });
    let (seq, payload) = sent.unwrap();
    assert_eq!(payload, derived_id(&own, seq));
}
