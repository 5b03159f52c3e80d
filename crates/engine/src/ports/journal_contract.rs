//! Holds a journal to its contract. The tests of every implementation run all of it.

#![expect(clippy::missing_panics_doc, clippy::expect_used, reason = "it is a test")]

use materia_contract::{ChainHash, Event, NodeId, PayloadConsumed, Record, RunId, derived_id};

use super::{AppendError, Batch, ClaimError, Command, Journal, Snapshot};

/// Records that stand at places `after + 1 ..= after + count`, sealed behind `previous`.
#[must_use]
pub fn sample_records(run: &RunId, after: u64, count: u64, previous: ChainHash) -> Vec<Record> {
    let mut hash = previous;
    (after + 1..=after + count)
        .map(|seq| {
            let body = PayloadConsumed { payload_id: derived_id(run, seq) }.into();
            let ts = i64::try_from(seq).expect("small");
            let event = Event { seq, ts, wall: ts, node: Some(NodeId::new("a")), body };
            let record = Record::seal(&event, hash);
            hash = record.hash;
            record
        })
        .collect()
}

fn batch(run: &RunId, after: u64, records: Vec<Record>) -> Batch {
    Batch { run: run.clone(), after, records: records.into(), snapshot: None }
}

/// Runs the whole suite against an empty journal.
pub async fn holds(journal: &dyn Journal) {
    reads_what_was_appended(journal).await;
    refuses_a_stale_place(journal).await;
    keeps_runs_apart(journal).await;
    keeps_the_newest_snapshot(journal).await;
    lets_one_hold_a_run(journal);
    passes_commands_on_once(journal);
}

async fn reads_what_was_appended(journal: &dyn Journal) {
    let run = RunId::new("read");
    assert!(journal.head(&run).expect("head").is_none(), "an unknown run has no head");
    assert!(journal.read(&run, 0, 10).expect("read").is_empty(), "an unknown run has no records");
    let records = sample_records(&run, 0, 5, ChainHash::origin(&run));
    journal.append(batch(&run, 0, records[..2].to_vec())).await.expect("first batch");
    journal.append(batch(&run, 2, records[2..].to_vec())).await.expect("second batch");
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
    let records = sample_records(&run, 0, 2, ChainHash::origin(&run));
    for (after, record) in records.into_iter().enumerate() {
        let seq = after as u64 + 1;
        let snapshot = Snapshot { seq, hash: record.hash, version: "v".into(), bytes: vec![1, 2] };
        let batch = Batch {
            run: run.clone(),
            after: after as u64,
            records: [record].into(),
            snapshot: Some(snapshot.clone()),
        };
        journal.append(batch).await.expect("append");
        assert_eq!(journal.snapshot(&run).expect("snapshot"), Some(snapshot));
    }
}

fn lets_one_hold_a_run(journal: &dyn Journal) {
    let run = RunId::new("claim");
    let first = journal.claim(&run).expect("nobody holds it");
    assert!(matches!(journal.claim(&run), Err(ClaimError::Held { .. })), "one holder at a time");
    drop(first);
    drop(journal.claim(&run).expect("it was given up"));
}

fn passes_commands_on_once(journal: &dyn Journal) {
    let run = RunId::new("inbox");
    assert!(journal.take_commands(&run).expect("take").is_empty());
    let commands = [Command::Stop, Command::Abort { reason: "enough".into() }];
    for command in &commands {
        journal.post(&run, command).expect("post");
    }
    assert_eq!(journal.take_commands(&run).expect("take"), commands);
    assert!(journal.take_commands(&run).expect("take").is_empty(), "each is taken once");
}
