//! Journals of other versions: decided by other rules, or stored without their inputs.

use std::collections::BTreeSet;
use std::sync::Arc;

use materia_contract::{
    CastStatus, ChainHash, Command, Decided, Do, Event, EventBody, ForkedFrom, OutputSelector,
    Record, RunId,
};
use materia_engine::{
    Batch, Begun, Epoch, ForkError, Journal, MemoryJournal, Options, ReplayError, Unfolding,
    blocking, cast, fork, forked, load_at, replay,
};
use serde_json::Value;

use crate::decisions::lively;
use crate::story::{Counter, counting, quiet, world};

fn id() -> RunId {
    RunId::new("r")
}

fn records(journal: &MemoryJournal, id: &RunId) -> Vec<Record> {
    blocking(journal).records(id, 0, 10_000).unwrap()
}

/// A journal with these records, hashed as they are now.
async fn of(records: Vec<Record>) -> MemoryJournal {
    kept(hashed(records)).await
}

fn hashed(mut records: Vec<Record>) -> Vec<Record> {
    let mut head = ChainHash::origin(&id());
    for record in &mut records {
        record.hash = record.hash_after(head);
        head = record.hash;
    }
    records
}

async fn kept(records: Vec<Record>) -> MemoryJournal {
    let journal = MemoryJournal::default();
    let (run, records) = (id(), records.into());
    let batch =
        Batch { run, epoch: Epoch::default(), after: 0, records, receipt: None, verdict: None };
    journal.append(batch).await.unwrap();
    journal
}

fn change(record: &mut Record, change: impl FnOnce(&mut Decided)) {
    let mut decided = Decided::read(record.input.as_deref().unwrap()).unwrap();
    change(&mut decided);
    record.input = Some(decided.text());
}

/// A lively run, decided by the rules before these up to some event.
async fn of_other_rules(upto: u64) -> MemoryJournal {
    let mut all = records(&lively().await, &id());
    for record in all.iter_mut().filter(|it| it.input.is_some() && it.seq <= upto) {
        change(record, |decided| decided.rules -= 1);
    }
    of(all).await
}

/// The last events of all decisions.
fn ends(records: &[Record]) -> BTreeSet<u64> {
    let begun = records.iter().skip(1).filter(|it| it.input.is_some()).map(|it| it.seq - 1);
    begun.chain(records.last().map(|it| it.seq)).collect()
}

/// The event at which a replay finds a fault.
fn fault(journal: &MemoryJournal) -> u64 {
    match replay(journal, &id(), None) {
        Err(ReplayError::Fault { seq, .. }) => seq,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_event_that_is_wrong_is_named_whichever_part_of_replay_finds_it() {
    let whole = records(&lively().await, &id());
    for place in 0..whole.len() {
        let seq = whole[place].seq;
        let mut unreadable = whole.clone();
        unreadable[place].data = "7".to_owned();
        assert_eq!(fault(&of(unreadable.clone()).await), seq, "no data of any event");
        let mut and_broken = hashed(unreadable);
        if let Some(next) = and_broken.get_mut(place + 1) {
            next.wall += 1;
            assert_eq!(fault(&kept(and_broken).await), seq, "and the chain breaks behind it");
        }
        let mut spaced = whole.clone();
        spaced[place].data.push(' ');
        assert_eq!(fault(&of(spaced).await), seq, "other bytes of the same data");
    }
}

#[tokio::test(start_paused = true)]
async fn what_other_rules_have_decided_is_read_and_not_judged() {
    let whole = replay(&lively().await, &id(), None).unwrap();
    let journal = of_other_rules(u64::MAX).await;
    let read = replay(&journal, &id(), None).unwrap();
    assert_eq!((read.undecided, read.events), (whole.events, whole.events));
    assert_eq!((&read.state, read.status), (&whole.state, whole.status));
    // By these rules nothing could come of such an input.
    let mut strange = records(&journal, &id());
    let first = Decided::read(strange[0].input.as_deref().unwrap()).unwrap().input;
    let second = strange.iter_mut().skip(1).find(|it| it.input.is_some()).unwrap();
    change(second, |decided| decided.input = first);
    replay(&of(strange).await, &id(), None).unwrap();
}

/// A fork never ends inside a decision that cannot be taken again; everywhere else it does as it is told.
#[tokio::test(start_paused = true)]
async fn a_fork_ends_inside_a_decision_only_if_these_rules_have_taken_it() {
    let last = replay(&lively().await, &id(), None).unwrap().events;
    let middle = last / 2;
    for upto in [0, middle, last] {
        let journal = of_other_rules(upto).await;
        let original = records(&journal, &id());
        let ends = ends(&original);
        let begins = |at: u64| ends.range(..at).next_back().map_or(1, |end| end + 1);
        for at in 1..=last {
            let copy = RunId::new(format!("fork-{at}"));
            let forked = fork(Arc::new(journal.clone()), &id(), at, &copy, Epoch::default()).await;
            let end = *ends.range(at..).next().unwrap();
            if begins(at) <= upto && end != at {
                let Err(ForkError::Unsettled { at: asked, next, .. }) = forked else {
                    panic!("{upto}: at {at}: {forked:?}")
                };
                assert_eq!((asked, next), (at, end), "{upto}: at {at}");
                continue;
            }
            forked.unwrap_or_else(|error| panic!("{upto}: at {at}: {error}"));
            let shared = records(&journal, &copy);
            if end == at {
                // Nothing was cut, so nothing is said to be.
                let inputs = |records: &[Record]| -> Vec<_> {
                    records.iter().map(|it| it.input.clone()).collect()
                };
                assert_eq!(inputs(&shared), inputs(&original[..shared.len()]), "at {at}");
                assert_eq!(shared.len() as u64, at);
            }
            let from = origin(&shared);
            assert_eq!((from.seq, &from.cast_id), (at, &id()));
            let place = usize::try_from(at).unwrap() - 1;
            assert_eq!(from.hash, original[place].hash.to_string(), "{upto}: at {at}");
        }
    }
}

/// A fork must be at an event of the run. Its wall-clock start is recorded, except in simulated time.
#[tokio::test(start_paused = true)]
async fn a_fork_begins_inside_its_original_and_says_when() {
    let journal = lively().await;
    let last = replay(&journal, &id(), None).unwrap().events;
    for asked in [0, last + 1] {
        let copy = RunId::new(format!("fork-{asked}"));
        let refused = fork(Arc::new(journal.clone()), &id(), asked, &copy, Epoch::default()).await;
        let is_told = matches!(refused, Err(ForkError::NoSuchEvent(ref no)) if no.last == last);
        assert!(is_told, "at {asked}: {refused:?}");
    }
    let begun = Begun { at: Some(77), key: None };
    for simulated in [false, true] {
        let journal = of(altered(&records(&journal, &id()), |body| {
            if let EventBody::RunCreated(created) = body {
                Arc::make_mut(created).virtual_time = simulated;
            }
        }))
        .await;
        let copy = RunId::new("copy");
        let forked = forked(&journal, &id(), 1, &copy, &begun).unwrap();
        let created = forked.loaded().run().created().unwrap();
        let started = created.fork.as_ref().unwrap().started;
        assert_eq!(started, (!simulated).then_some(77));
    }
}

fn origin(records: &[Record]) -> ForkedFrom {
    let EventBody::RunCreated(created) = records[0].event().unwrap().body else {
        panic!("a run begins with its creation")
    };
    created.fork.clone().unwrap()
}

/// Who has written what: a fork of a fork names those from whom it has its events, and nobody else.
#[tokio::test(start_paused = true)]
async fn a_fork_of_a_fork_names_those_who_have_written_what_it_shares() {
    let journal = MemoryJournal::default();
    let world = world(Arc::new(journal.clone()), &Counter::default());
    cast(&world, id(), counting(), Options::default(), &mut quiet()).await.unwrap();
    let ends: Vec<u64> = ends(&records(&journal, &id())).into_iter().collect();
    let forked = async |from: &str, at: u64, to: &str| {
        let (from, to) = (RunId::new(from), RunId::new(to));
        fork(Arc::new(journal.clone()), &from, at, &to, Epoch::default()).await.unwrap();
        origin(&records(&journal, &to)).written_by
    };
    let (r, b) = (id(), RunId::new("b"));
    assert_eq!(forked("r", ends[2], "b").await, [(r.clone(), ends[2])]);
    materia_engine::resume(&world, &b, Options::default(), &mut quiet()).await.unwrap();
    let by_b = *self::ends(&records(&journal, &b)).range(ends[2] + 1..).next().unwrap();
    assert_eq!(forked("b", ends[1], "c").await, [(r.clone(), ends[2])]);
    assert_eq!(forked("b", ends[2], "d").await, [(r.clone(), ends[2])]);
    assert_eq!(forked("b", by_b, "e").await, [(r.clone(), ends[2]), (b, by_b)]);
    assert_eq!(forked("e", ends[2], "f").await, [(r, ends[2])]);
}

/// The inputs of all turns, read from the first event or from behind some event.
fn inputs(journal: &MemoryJournal, from: u64) -> Vec<(u64, Arc<Value>)> {
    let mut unfolding = match from {
        0 => Unfolding::new(id()),
        _ => Unfolding::behind(load_at(journal, &id(), from).unwrap()),
    };
    let behind = records(journal, &id()).into_iter().skip(usize::try_from(from).unwrap());
    behind
        .filter_map(|record| {
            let event: Event = record.event().unwrap();
            unfolding.see(&event).map(|input| (event.seq, input))
        })
        .collect()
}

/// A run that counts and hands the object of its answers on.
async fn counted() -> MemoryJournal {
    let journal = MemoryJournal::default();
    let world = world(Arc::new(journal.clone()), &Counter::default());
    let mut created = counting();
    created.plan.nodes["count"].output_selector = OutputSelector::StructuredOutput;
    created.plan_hash = created.plan.hash();
    cast(&world, id(), created, Options::default(), &mut quiet()).await.unwrap();
    journal
}

/// The same journal with other data in its events.
fn altered(records: &[Record], change: impl Fn(&mut EventBody)) -> Vec<Record> {
    let alter = |record: &Record| {
        let mut event = record.event().unwrap();
        change(&mut event.body);
        let sealed = Record::seal_decision(String::new(), &[event], ChainHash::origin(&id()));
        Record { data: sealed[0].data.clone(), ..record.clone() }
    };
    records.iter().map(alter).collect()
}

/// A journal is folded as recorded, even where the present rules would decide otherwise.
#[tokio::test]
async fn a_journal_is_read_by_what_it_says_and_not_by_the_rules_of_today() {
    let inner = altered(&records(&counted().await, &id()), |body| {
        if let EventBody::TurnCompleted(data) = body
            && let Some(start) = data.report.output.find("{\"count\"")
        {
            let end = data.report.output.find('}').unwrap() + 1;
            data.object = Some((start, end));
        }
    });
    let journal = of(inner).await;
    let last = records(&journal, &id()).len() as u64;
    for from in 0..last {
        for (seq, input) in inputs(&journal, from).iter().filter(|(seq, _)| *seq > 4) {
            assert!(input["inputs"][0]["structured"]["count"].is_u64(), "{from}, {seq}: {input}");
        }
    }
}

/// A command that ends turns and is refused loses nothing of what they had come to by then.
#[tokio::test]
async fn what_has_ended_is_kept_though_the_order_to_stop_is_refused() {
    let (journal, counter) = (MemoryJournal::default(), Counter::default());
    let world = world(Arc::new(journal.clone()), &counter);
    let (sender, mut asks) = tokio::sync::mpsc::unbounded_channel();
    let late = Command { expected_seq: Some(1), ..Command::person(Do::Stop { message: None }) };
    sender.send(Box::new(late.into())).unwrap();
    let phase = cast(&world, id(), counting(), Options::default(), &mut asks).await.unwrap();
    assert_eq!(phase.status(), CastStatus::Completed);
    let mut performed = counter.performed.lock().unwrap().clone();
    let all = performed.len();
    performed.dedup();
    assert_eq!(performed.len(), all, "{performed:?}");
    replay(&journal, &id(), None).unwrap();
}
