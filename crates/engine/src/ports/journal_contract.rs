//! Holds a journal to its contract. The tests of every implementation run all of it.

#![expect(clippy::missing_panics_doc, clippy::expect_used, reason = "it is a test")]

use materia_contract::{ChainHash, Event, NodeId, PayloadConsumed, Record, RunId, derived_id};

use super::{Answer, AppendError, Batch, ClaimError, Command, Journal, Posted, Receipt, Snapshot};

/// The records of one decision at places `after + 1 ..= after + count`, sealed behind `previous`.
#[must_use]
pub fn sample_records(run: &RunId, after: u64, count: u64, previous: ChainHash) -> Vec<Record> {
    let events: Vec<Event> = (after + 1..=after + count)
        .map(|seq| {
            let body = PayloadConsumed { payload_id: derived_id(run, seq) }.into();
            let ts = i64::try_from(seq).expect("small");
            let wall = i64::try_from(after).expect("small") + 1;
            Event { seq, ts, wall, node: Some(NodeId::new("a")), body }
        })
        .collect();
    let input = format!(r#"{{"at":{},"input":"idle"}}"#, after + 1);
    Record::seal_decision(input, &events, previous)
}

fn batch(run: &RunId, after: u64, records: Vec<Record>) -> Batch {
    Batch { run: run.clone(), after, records: records.into(), snapshot: None, receipt: None }
}

/// Runs the whole suite against an empty journal.
pub async fn holds(journal: &dyn Journal) {
    reads_what_was_appended(journal).await;
    refuses_a_stale_place(journal).await;
    keeps_runs_apart(journal).await;
    keeps_the_newest_snapshot(journal).await;
    lets_one_hold_a_run(journal);
    answers_each_command_once(journal).await;
}

async fn reads_what_was_appended(journal: &dyn Journal) {
    let run = RunId::new("read");
    assert!(journal.head(&run).expect("head").is_none(), "an unknown run has no head");
    assert!(journal.read(&run, 0, 10).expect("read").is_empty(), "an unknown run has no records");
    let mut records = sample_records(&run, 0, 2, ChainHash::origin(&run));
    journal.append(batch(&run, 0, records.clone())).await.expect("first batch");
    let second = sample_records(&run, 2, 3, records[1].hash);
    journal.append(batch(&run, 2, second.clone())).await.expect("second batch");
    records.extend(second);
    assert!(records[0].input.is_some() && records[1].input.is_none());
    assert_eq!(journal.read(&run, 0, 100).expect("read"), records);
    assert_eq!(journal.read(&run, 1, 2).expect("read"), records[1..3]);
    assert!(journal.read(&run, 5, 10).expect("read").is_empty());
    let head = journal.head(&run).expect("head").expect("the run is there");
    assert_eq!((head.seq, head.hash), (5, records[4].hash));
}

async fn refuses_a_stale_place(journal: &dyn Journal) {
    let run = RunId::new("stale");
    let records = sample_records(&run, 0, 2, ChainHash::origin(&run));
    journal.append(batch(&run, 0, records.clone())).await.expect("first");
    for after in [0, 1, 3] {
        let late = sample_records(&run, after, 1, records[1].hash);
        let error = journal.append(batch(&run, after, late)).await.expect_err("stale");
        assert!(
            matches!(&error, AppendError::Conflict { expected, actual: 2, .. } if *expected == after),
            "{error}"
        );
    }
    assert_eq!(journal.read(&run, 0, 10).expect("read"), records, "a refusal changes nothing");
}

async fn keeps_runs_apart(journal: &dyn Journal) {
    let runs = [RunId::new("apart-1"), RunId::new("apart-2")];
    let records = runs.each_ref().map(|run| sample_records(run, 0, 3, ChainHash::origin(run)));
    let appends = (0..2).map(|n| journal.append(batch(&runs[n], 0, records[n].clone())));
    for result in futures_util::future::join_all(appends).await {
        result.expect("both fit");
    }
    for (run, records) in runs.iter().zip(&records) {
        assert_eq!(&journal.read(run, 0, 10).expect("read"), records);
    }
}

async fn keeps_the_newest_snapshot(journal: &dyn Journal) {
    let run = RunId::new("snapshot");
    assert!(journal.snapshot(&run).expect("snapshot").is_none());
    assert!(journal.chapters(&run).expect("chapters").is_empty());
    let mut head = ChainHash::origin(&run);
    for after in 0..3 {
        let records = sample_records(&run, after, 1, head);
        head = records[0].hash;
        let snapshot = Snapshot {
            seq: after + 1,
            hash: head,
            version: "v".into(),
            bytes: vec![1, 2],
            chapter: vec![u8::try_from(after).expect("small")],
        };
        let batch = Batch { snapshot: Some(snapshot.clone()), ..batch(&run, after, records) };
        journal.append(batch).await.expect("append");
        assert_eq!(journal.snapshot(&run).expect("snapshot"), Some(snapshot));
    }
    let chapters = journal.chapters(&run).expect("chapters").into_iter();
    let told: Vec<(u64, Vec<u8>)> = chapters.map(|one| (one.seq, one.bytes)).collect();
    assert_eq!(told, [(1, vec![0]), (2, vec![1]), (3, vec![2])], "every chapter is kept");
}

fn lets_one_hold_a_run(journal: &dyn Journal) {
    let run = RunId::new("claim");
    let first = journal.claim(&run).expect("nobody holds it");
    assert!(matches!(journal.claim(&run), Err(ClaimError::Held { .. })), "one holder at a time");
    drop(first);
    drop(journal.claim(&run).expect("it was given up"));
}

async fn answers_each_command_once(journal: &dyn Journal) {
    let run = RunId::new("inbox");
    assert!(journal.commands(&run).expect("look").is_empty());
    let asked = [Command::Stop, Command::Abort { reason: "enough".into() }];
    let numbers = asked.each_ref().map(|command| journal.post(&run, command).expect("post"));
    let waiting = |from: usize| -> Vec<Posted> {
        let posted = numbers.iter().zip(&asked).skip(from);
        posted.map(|(number, it)| Posted { number: *number, command: Ok(it.clone()) }).collect()
    };
    assert_eq!(journal.commands(&run).expect("look"), waiting(0));
    assert_eq!(journal.commands(&run).expect("look"), waiting(0), "looking takes nothing away");
    assert_eq!(journal.receipt(&run, numbers[0]).expect("receipt"), None, "it waits");
    // The first is carried out: its events and its receipt are one commit.
    let records = sample_records(&run, 0, 2, ChainHash::origin(&run));
    let done = Receipt { command: numbers[0], answer: Answer::Done { first: 1, last: 2 } };
    let stale = Batch { receipt: Some(done.clone()), ..batch(&run, 1, records.clone()) };
    journal.append(stale).await.expect_err("a stale place");
    assert_eq!(
        journal.commands(&run).expect("look"),
        waiting(0),
        "what was refused answers nothing"
    );
    let first = Batch { receipt: Some(done.clone()), ..batch(&run, 0, records) };
    journal.append(first).await.expect("append");
    assert_eq!(journal.commands(&run).expect("look"), waiting(1));
    assert_eq!(journal.receipt(&run, numbers[0]).expect("receipt"), Some(done));
    // The second is refused: a receipt alone.
    let reason = "it has ended".to_owned();
    let refused = Receipt { command: numbers[1], answer: Answer::Refused { reason } };
    let alone = Batch { receipt: Some(refused.clone()), ..batch(&run, 2, Vec::new()) };
    journal.append(alone).await.expect("append");
    assert!(journal.commands(&run).expect("look").is_empty());
    assert_eq!(journal.receipt(&run, numbers[1]).expect("receipt"), Some(refused));
    let other = RunId::new("another");
    assert_eq!(journal.receipt(&other, numbers[1]).expect("receipt"), None, "of its own run only");
}
