use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use materia_contract::time::VIRTUAL_EPOCH;
use materia_contract::{
    CastStatus, ChainHash, Command, Do, EventBody, Folders, InterruptReason, NodeId, Outcome, Pace,
    PayloadConsumed, Record, RunId, WaitReason,
};
use materia_engine::{
    Batch, ClaimError, EngineError, Epoch, Journal as _, LoadError, MemoryJournal, Options,
    ReplayError, blocking, cast, load, replay, report, resume, why,
};
use materia_kernel::Phase;
use serde_json::{Value, json};

use crate::story::{COUNT_TO, Counter, counting, fan_out, quiet, stop, world};

fn id() -> RunId {
    RunId::new("r")
}

#[tokio::test]
async fn independent_turns_run_at_once() {
    let runner = Counter { delay: Duration::from_millis(20), ..Counter::default() };
    let world = world(Arc::new(MemoryJournal::default()), &runner);
    let phase = cast(&world, id(), fan_out(), Options::default(), &mut quiet()).await.unwrap();
    assert_eq!(phase, Phase::Completed);
    assert_eq!(runner.most_in_flight.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn simulated_time_costs_nothing_and_gives_the_same_log_each_time() {
    let log = async || {
        let runner = Counter { delay: Duration::from_hours(1), ..Counter::default() };
        let journal = MemoryJournal::default();
        let mut created = fan_out();
        created.virtual_time = true;
        let world = world(Arc::new(journal.clone()), &runner);
        cast(&world, id(), created, Options::default(), &mut quiet()).await.unwrap();
        blocking(&journal).records(&id(), 0, 1_000).unwrap()
    };
    let first = log().await;
    assert_eq!(first, log().await);
    assert_eq!(first[0].ts, VIRTUAL_EPOCH);
    let hours = (first.last().unwrap().wall - VIRTUAL_EPOCH) / 3_600_000_000;
    assert_eq!(hours, 2, "three turns of an hour run at once after one");
}

/// The events at which turns begin and end and the run comes to rest: what, where, in which second.
fn milestones(journal: &MemoryJournal) -> Vec<(String, String, i64)> {
    let records = blocking(journal).records(&id(), 0, 1_000).unwrap();
    let told = records.iter().filter(|record| {
        record.kind.starts_with("turn.") || (record.kind.starts_with("run.") && record.seq > 1)
    });
    let second = |record: &Record| {
        let since = record.wall - VIRTUAL_EPOCH;
        assert_eq!(since % 1_000_000, 0, "{} is not on a second", record.kind);
        since / 1_000_000
    };
    let node = |record: &Record| record.node.as_ref().map_or("", |node| node.as_str()).to_owned();
    told.map(|record| (record.kind.clone(), node(record), second(record))).collect()
}

#[tokio::test]
async fn the_simulation_ends_where_it_is_told() {
    // A turn takes a minute: the end comes in the middle of the second, or just when it ends.
    let within = [
        ("turn.started", "count", 0),
        ("turn.completed", "count", 60),
        ("turn.started", "count", 60),
        ("turn.interrupted", "count", 90),
        ("run.waiting", "", 90),
    ];
    let just_then = [
        ("turn.started", "count", 0),
        ("turn.completed", "count", 60),
        ("turn.started", "count", 60),
        ("turn.completed", "count", 120),
        ("turn.started", "count", 120),
        ("turn.interrupted", "count", 120),
        ("run.waiting", "", 120),
    ];
    for (seconds, expected, count) in [(90, &within[..], 1), (120, &just_then[..], 2)] {
        let runner = Counter { delay: Duration::from_mins(1), ..Counter::default() };
        let mut created = counting();
        created.virtual_time = true;
        let journal = MemoryJournal::default();
        let world = world(Arc::new(journal.clone()), &runner);
        let options = Options { run_for: Some(Duration::from_secs(seconds)), ..Options::default() };
        let phase = cast(&world, id(), created, options, &mut quiet()).await.unwrap();
        let Phase::Waiting(waiting) = phase else { panic!("{phase:?}") };
        assert_eq!((waiting.reason, waiting.node), (WaitReason::RunFor, None));
        let told = milestones(&journal);
        let told: Vec<_> = told.iter().map(|(kind, node, at)| (&**kind, &**node, *at)).collect();
        assert_eq!(told, expected, "after {seconds} s");
        let records = blocking(&journal).records(&id(), 0, 1_000).unwrap();
        let [.., interrupted, last] = &records[..] else { panic!("{records:?}") };
        assert_eq!(last.kind, "run.waiting", "nothing comes behind it");
        let EventBody::TurnInterrupted(data) = interrupted.event().unwrap().body else {
            panic!("{interrupted:?}")
        };
        assert_eq!(
            (data.reason, data.visit, data.attempt),
            (InterruptReason::RunFor, count + 1, 1)
        );
        let state = replay(&journal, &id(), None).unwrap().state;
        assert_eq!(Value::Object(state), json!({ "count": count }), "after {seconds} s");
    }
}

/// A run that was stopped in its first turn, and went on in another folder.
async fn stopped_and_resumed() -> MemoryJournal {
    let runner = Counter { delay: Duration::from_mins(10), ..Counter::default() };
    let journal = MemoryJournal::default();
    let (sender, mut asks) = tokio::sync::mpsc::unbounded_channel();
    sender.send(stop("later").into()).unwrap();
    let slow = world(Arc::new(journal.clone()), &runner);
    let phase = cast(&slow, id(), counting(), Options::default(), &mut asks).await.unwrap();
    let Phase::Waiting(waiting) = phase else { panic!("{phase:?}") };
    assert_eq!((waiting.reason, waiting.message.as_str()), (WaitReason::Interactive, "later"));
    let quick = world(Arc::new(journal.clone()), &Counter::default());
    let phase = resume(&quick, &id(), Options::default(), &mut quiet()).await.unwrap();
    assert_eq!(phase, Phase::Completed);
    journal
}

#[tokio::test]
async fn a_stop_interrupts_and_a_resume_finishes() {
    let folders = Folders { run_dir: "/new/r".into(), ..Folders::default() };
    let told = report(&stopped_and_resumed().await, &id(), &folders).unwrap();
    assert_eq!(told.run_dir, "/new/r");
    let visits: Vec<_> =
        told.visits.iter().map(|visit| (visit.visit, visit.attempt, visit.outcome)).collect();
    let done = Outcome::Completed;
    assert_eq!(visits[..3], [(1, 1, Outcome::Interrupted), (1, 2, done), (2, 1, done)]);
    assert_eq!(visits.len(), 1 + 6 + 1, "all that was left to do, and `last`");
    assert_eq!(told.state["count"], json!(COUNT_TO));
}

#[tokio::test]
async fn a_run_has_one_driver_and_one_beginning() {
    let journal = Arc::new(MemoryJournal::default());
    let world = world(journal.clone(), &Counter::default());
    let held = blocking(&*journal).claim(&id()).unwrap();
    let refused = cast(&world, id(), counting(), Options::default(), &mut quiet()).await;
    assert!(matches!(refused, Err(EngineError::Claim(ClaimError::Held { .. }))));
    drop(held);
    cast(&world, id(), counting(), Options::default(), &mut quiet()).await.unwrap();
    let again = cast(&world, id(), counting(), Options::default(), &mut quiet()).await;
    assert!(matches!(again, Err(EngineError::Exists(_))));
}

#[tokio::test]
async fn what_is_asked_while_a_run_comes_to_rest_is_heard() {
    let journal = Arc::new(MemoryJournal::default());
    let world = world(journal.clone(), &Counter::default());
    let mut created = counting();
    created.pace = Pace::Interactive;
    // It rests at once; what was posted before is taken all the same, and the run goes on.
    let auto = Command::person(Do::Mode { value: Pace::Auto });
    blocking(&*journal).post(&id(), &auto).unwrap();
    let phase = cast(&world, id(), created, Options::default(), &mut quiet()).await.unwrap();
    assert_eq!(phase, Phase::Completed);
    assert!(blocking(&*journal).commands(&id()).unwrap().is_empty());
}

#[tokio::test]
async fn what_does_not_fit_a_run_does_not_end_it() {
    let journal = Arc::new(MemoryJournal::default());
    let (sender, mut asks) = tokio::sync::mpsc::unbounded_channel();
    let node = Some(NodeId::new("nobody"));
    for what in [Do::Continue { node: None }, Do::Say { node, text: "hello".into() }] {
        sender.send(Command::person(what).into()).unwrap();
    }
    let world = world(journal.clone(), &Counter::default());
    let phase = cast(&world, id(), counting(), Options::default(), &mut asks).await.unwrap();
    assert_eq!(phase, Phase::Completed);
    assert!(asks.try_recv().is_err(), "both were heard");
    // And they have left nothing: the log is the same as without them.
    let kinds = |journal: &MemoryJournal| -> Vec<String> {
        let records = blocking(journal).records(&id(), 0, 1_000).unwrap();
        records.into_iter().map(|record| record.kind).collect()
    };
    assert_eq!(kinds(&journal), kinds(&finished().await));
}

async fn finished() -> MemoryJournal {
    let journal = MemoryJournal::default();
    let world = world(Arc::new(journal.clone()), &Counter::default());
    cast(&world, id(), counting(), Options::default(), &mut quiet()).await.unwrap();
    journal
}

#[tokio::test]
async fn replay_gives_the_state_at_any_event() {
    let journal = finished().await;
    let records = blocking(&journal).records(&id(), 0, 1_000).unwrap();
    let whole = replay(&journal, &id(), None).unwrap();
    assert_eq!(whole.last_seq, records.len() as u64);
    let mut changes = Vec::new();
    let mut expected = json!({});
    for record in &records {
        // The state as a reader of the log would keep it: what is merged takes its place.
        if record.kind == "state.patched" {
            let data: Value = serde_json::from_str(&record.data).unwrap();
            for (name, value) in data["merged"].as_object().unwrap() {
                expected[name] = value.clone();
            }
            changes.push((record.seq, expected.clone()));
        }
        let there = replay(&journal, &id(), Some(record.seq)).unwrap();
        assert_eq!(there.last_seq, record.seq);
        assert_eq!(Value::Object(there.state), expected, "at event {}", record.seq);
        let over = record.kind == "run.completed";
        let status = if over { CastStatus::Completed } else { CastStatus::Running };
        assert_eq!(there.status, status, "at event {}", record.seq);
    }
    // So that a log without any change does not pass for one that was followed.
    let six: Vec<_> = (1..=6).map(|nth| (8 * nth - 2, json!({ "count": nth }))).collect();
    assert_eq!(changes, six);
    assert_eq!(Value::Object(whole.state), json!({ "count": 6 }));
    assert_eq!(whole.status, CastStatus::Completed);
    let beyond = replay(&journal, &id(), Some(whole.last_seq + 1));
    assert!(matches!(beyond, Err(ReplayError::NoSuchEvent(_))));
    assert!(matches!(replay(&journal, &RunId::new("x"), None), Err(ReplayError::Unknown(_))));
}

#[tokio::test]
async fn replay_gives_the_status_on_both_sides_of_a_stop() {
    let journal = stopped_and_resumed().await;
    let records = blocking(&journal).records(&id(), 0, 1_000).unwrap();
    let mut expected = CastStatus::Running;
    for record in &records {
        expected = match record.kind.as_str() {
            "run.waiting" => CastStatus::Waiting,
            "run.resumed" => CastStatus::Running,
            "run.completed" => CastStatus::Completed,
            _ => expected,
        };
        let there = replay(&journal, &id(), Some(record.seq)).unwrap();
        assert_eq!(there.status, expected, "at event {}, {}", record.seq, record.kind);
    }
    let told = |kind: &str| records.iter().filter(|record| record.kind == kind).count();
    assert_eq!((told("run.waiting"), told("run.resumed"), told("run.completed")), (1, 1, 1));
}

/// A journal with one record changed.
async fn altered(change: impl FnOnce(&mut Vec<Record>)) -> MemoryJournal {
    let mut records = blocking(&finished().await).records(&id(), 0, 10_000).unwrap();
    change(&mut records);
    let journal = MemoryJournal::default();
    let records = records.into();
    let batch = Batch {
        run: id(),
        epoch: Epoch::default(),
        after: 0,
        records,
        receipt: None,
        verdict: None,
    };
    journal.append(batch).await.unwrap();
    journal
}

#[tokio::test]
async fn a_changed_byte_is_found_with_its_place() {
    let count = blocking(&finished().await).records(&id(), 0, 10_000).unwrap().len();
    for place in 0..count {
        let journal = altered(|records| {
            let data = &mut records[place].data;
            *data = data.replacen('"', "'", 1);
            if !data.contains('\'') {
                data.push(' ');
            }
        })
        .await;
        let error = replay(&journal, &id(), None).unwrap_err();
        assert!(
            matches!(error, ReplayError::Fault { seq, .. } if seq == place as u64 + 1),
            "place {place}: {error}"
        );
        let error = load(&journal, &id()).unwrap_err();
        assert!(matches!(error, LoadError::Damaged { .. }), "{error}");
    }
}

#[tokio::test]
async fn an_invented_event_is_found_though_its_hash_fits() {
    let journal = altered(|records| {
        let mut event = records[5].event().unwrap();
        event.body = PayloadConsumed { payload_id: materia_contract::derived_id(&id(), 1) }.into();
        event.node = Some(materia_contract::NodeId::new("count"));
        let mut head: ChainHash = records[4].hash;
        for (place, record) in records.iter_mut().enumerate().skip(5) {
            if place == 5 {
                record.kind = event.body.type_name().to_owned();
                record.data = event.body.data_json();
                record.node = event.node.as_ref().map(ToString::to_string);
            }
            record.hash = record.hash_after(head);
            head = record.hash;
        }
    })
    .await;
    let error = replay(&journal, &id(), None).unwrap_err();
    assert!(matches!(error, ReplayError::Fault { seq: 6, .. }), "{error}");
    assert!(error.to_string().contains("the same inputs give"), "{error}");
}

#[tokio::test]
async fn why_names_the_events() {
    let journal = finished().await;
    let kinds: Vec<String> = blocking(&journal)
        .records(&id(), 0, 1_000)
        .unwrap()
        .into_iter()
        .map(|record| record.kind)
        .collect();
    let kind = |seq: usize| kinds[seq - 1].as_str();
    let ran = why(&journal, &id(), "last", None).unwrap();
    assert!(ran.ran);
    assert_eq!(
        ran.sentence,
        "`last` ran (visit 1, attempt 1, event 51) because `count` completed with satisfied: true \
         (event 47) and sent it a payload over `count->last` (event 48); the turn completed \
         (event 52)."
    );
    let named = [kind(47), kind(48), kind(51), kind(52)];
    assert_eq!(named, ["route.selected", "handoff.sent", "turn.started", "turn.completed"]);
    let before = why(&journal, &id(), "last", Some(6)).unwrap();
    assert!(!before.ran);
    assert_eq!(
        before.sentence,
        "`last` has not run: `count`, from which `count->last` leads here, has sent nothing \
         (event 5)."
    );
    assert_eq!(kind(5), "turn.completed");
    assert!(why(&journal, &id(), "nobody", None).is_err());
}
