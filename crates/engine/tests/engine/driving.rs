use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use materia_contract::time::VIRTUAL_EPOCH;
use materia_contract::{
    Act, CastStatus, ChainHash, NodeId, Pace, PayloadConsumed, Record, RunId, WaitReason,
};
use materia_engine::{
    Ask, Batch, ClaimError, Command, EngineError, Journal as _, LoadError, MemoryJournal, Options,
    ReplayError, cast, load, replay, report, resume, why,
};
use materia_kernel::{Input, Phase};

use crate::story::{Counter, counting, fan_out, quiet, world};

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
        journal.read(&id(), 0, 1_000).unwrap()
    };
    let first = log().await;
    assert_eq!(first, log().await);
    assert_eq!(first[0].ts, VIRTUAL_EPOCH);
    let hours = (first.last().unwrap().wall - VIRTUAL_EPOCH) / 3_600_000_000;
    assert_eq!(hours, 2, "three turns of an hour run at once after one");
}

#[tokio::test]
async fn the_simulation_ends_where_it_is_told() {
    let runner = Counter { delay: Duration::from_mins(1), ..Counter::default() };
    let mut created = counting();
    created.virtual_time = true;
    let world = world(Arc::new(MemoryJournal::default()), &runner);
    let options = Options { run_for: Some(Duration::from_secs(90)), ..Options::default() };
    let phase = cast(&world, id(), created, options, &mut quiet()).await.unwrap();
    let Phase::Waiting(waiting) = phase else { panic!("{phase:?}") };
    assert_eq!(waiting.reason, WaitReason::RunFor);
}

#[tokio::test]
async fn a_stop_interrupts_and_a_resume_finishes() {
    let runner = Counter { delay: Duration::from_mins(10), ..Counter::default() };
    let journal = Arc::new(MemoryJournal::default());
    let (sender, mut asks) = tokio::sync::mpsc::unbounded_channel();
    sender.send(Ask::stop("later")).unwrap();
    let slow = world(journal.clone(), &runner);
    let phase = cast(&slow, id(), counting(), Options::default(), &mut asks).await.unwrap();
    assert!(matches!(phase, Phase::Waiting(_)), "{phase:?}");
    let quick = world(journal.clone(), &Counter::default());
    let (cwd, dir) = (Path::new("/new"), Path::new("/new/r"));
    let phase = resume(&quick, &id(), cwd, dir, Options::default(), &mut quiet()).await.unwrap();
    assert_eq!(phase, Phase::Completed);
    let told = report(journal.as_ref(), &id()).unwrap();
    assert_eq!(told.run_dir, "/new/r");
    assert_eq!((told.visits[0].attempt, told.visits[1].attempt), (1, 2));
}

#[tokio::test]
async fn a_run_has_one_driver_and_one_beginning() {
    let journal = Arc::new(MemoryJournal::default());
    let world = world(journal.clone(), &Counter::default());
    let held = journal.claim(&id()).unwrap();
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
    journal.post(&id(), &Command::Act { act: Act::Mode { value: Pace::Auto } }).unwrap();
    let phase = cast(&world, id(), created, Options::default(), &mut quiet()).await.unwrap();
    assert_eq!(phase, Phase::Completed);
    assert!(journal.commands(&id()).unwrap().is_empty());
}

#[tokio::test]
async fn what_does_not_fit_a_run_does_not_end_it() {
    let journal = Arc::new(MemoryJournal::default());
    let (sender, mut asks) = tokio::sync::mpsc::unbounded_channel();
    let node = Some(NodeId::new("nobody"));
    for input in [Input::Continue { node: None }, Input::Say { node, text: "hello".into() }] {
        sender.send(Ask::person(input)).unwrap();
    }
    let world = world(journal, &Counter::default());
    let phase = cast(&world, id(), counting(), Options::default(), &mut asks).await.unwrap();
    assert_eq!(phase, Phase::Completed);
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
    let whole = replay(&journal, &id(), None).unwrap();
    assert_eq!(whole.status, CastStatus::Completed);
    for at in 1..=whole.last_seq {
        let there = replay(&journal, &id(), Some(at)).unwrap();
        assert_eq!(there.last_seq, at);
    }
    let beyond = replay(&journal, &id(), Some(whole.last_seq + 1));
    assert!(matches!(beyond, Err(ReplayError::NoSuchEvent { .. })));
    assert!(matches!(replay(&journal, &RunId::new("x"), None), Err(ReplayError::Unknown(_))));
}

/// A journal with one record changed.
async fn altered(change: impl FnOnce(&mut Vec<Record>)) -> MemoryJournal {
    let mut records = finished().await.read(&id(), 0, 10_000).unwrap();
    change(&mut records);
    let journal = MemoryJournal::default();
    let records = records.into();
    let batch = Batch { run: id(), after: 0, records, snapshot: None, receipt: None };
    journal.append(batch).await.unwrap();
    journal
}

#[tokio::test]
async fn a_changed_byte_is_found_with_its_place() {
    let count = finished().await.read(&id(), 0, 10_000).unwrap().len();
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
    let ran = why(&journal, &id(), "last", None).unwrap();
    assert!(ran.ran && ran.sentence.contains("count->last"), "{}", ran.sentence);
    let before = why(&journal, &id(), "last", Some(6)).unwrap();
    assert!(!before.ran, "{}", before.sentence);
    assert!(why(&journal, &id(), "nobody", None).is_err());
}
