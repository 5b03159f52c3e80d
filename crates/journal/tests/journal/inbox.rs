//! Commands and their receipts.

use materia_contract::RunId;
use materia_engine::{Answer, AppendError, Batch, Command, Journal, Posted, Receipt, blocking};
use materia_journal::{JOURNAL_FILE, Options, SqliteJournal};
use tempfile::tempdir;

use crate::story::{batch, decisions};

fn done(command: u64) -> Receipt {
    Receipt { command, answer: Answer::Done { first: 1, last: 0 } }
}

/// A batch that has nothing but a receipt.
fn answer(run: &RunId, after: u64, receipt: Receipt) -> Batch {
    Batch { receipt: Some(receipt), ..batch(run, after, Vec::new()) }
}

#[tokio::test]
async fn an_unreadable_command_is_in_nobodys_way() {
    let root = tempdir().unwrap();
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    let run = RunId::new("r");
    let before = blocking(&journal).post(&run, &Command::Stop).unwrap();
    let edit = rusqlite::Connection::open(root.path().join(JOURNAL_FILE)).unwrap();
    edit.execute_batch(
        r#"INSERT INTO inbox (run_id, command) VALUES
            ('r', 'no command'), ('r', '{"command":"fly"}'), ('r', CAST(x'ff' AS TEXT))"#,
    )
    .unwrap();
    let behind =
        blocking(&journal).post(&run, &Command::Abort { reason: "enough".into() }).unwrap();
    let waiting = blocking(&journal).commands(&run).unwrap();
    let numbers: Vec<u64> = waiting.iter().map(|posted| posted.number).collect();
    assert_eq!(numbers, [before, before + 1, before + 2, before + 3, behind]);
    assert_eq!(waiting[0].command, Ok(Command::Stop));
    assert!(waiting[1..4].iter().all(|posted| posted.command.is_err()), "{waiting:?}");
    // It is refused like any other.
    let reason = waiting[1].command.clone().unwrap_err();
    let refused = Receipt { command: before + 1, answer: Answer::Refused { reason } };
    journal.append(answer(&run, 0, refused.clone())).await.unwrap();
    assert_eq!(blocking(&journal).receipt(&run, before + 1).unwrap(), Some(refused));
    assert_eq!(blocking(&journal).commands(&run).unwrap().len(), 4);
    assert!(blocking(&journal).head(&run).unwrap().is_none(), "an answer makes no run");
    assert!(blocking(&journal).runs().unwrap().is_empty());
}

#[tokio::test]
async fn an_answer_alone_comes_at_the_end_of_the_run() {
    let root = tempdir().unwrap();
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    let run = RunId::new("r");
    journal.append(batch(&run, 0, decisions(&run, 1, 3).concat())).await.unwrap();
    let number = blocking(&journal).post(&run, &Command::Stop).unwrap();
    for after in [0, 2, 4] {
        let stale = journal.append(answer(&run, after, done(number))).await;
        assert!(matches!(stale, Err(AppendError::Conflict { actual: 3, .. })), "{stale:?}");
    }
    let unknown = journal.append(answer(&RunId::new("s"), 1, done(number))).await;
    assert!(matches!(unknown, Err(AppendError::Conflict { actual: 0, .. })), "{unknown:?}");
    assert_eq!(blocking(&journal).commands(&run).unwrap().len(), 1);
    journal.append(answer(&run, 3, done(number))).await.unwrap();
    assert!(blocking(&journal).commands(&run).unwrap().is_empty());
}

#[tokio::test]
async fn a_command_is_answered_once() {
    let root = tempdir().unwrap();
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    let run = RunId::new("r");
    let number = blocking(&journal).post(&run, &Command::Stop).unwrap();
    let all = decisions(&run, 2, 2);
    let with =
        |after, records| Batch { receipt: Some(done(number)), ..batch(&run, after, records) };
    journal.append(with(0, all[0].clone())).await.unwrap();
    let again = journal.append(with(2, all[1].clone())).await;
    assert!(matches!(again, Err(AppendError::Storage(_))), "{again:?}");
    assert_eq!(blocking(&journal).records(&run, 0, 10).unwrap(), all[0], "it takes effect once");
    journal.append(batch(&run, 2, all[1].clone())).await.unwrap();
}

#[tokio::test]
async fn old_receipts_go_and_numbers_do_not_come_again() {
    let root = tempdir().unwrap();
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    let run = RunId::new("r");
    let edit = rusqlite::Connection::open(root.path().join(JOURNAL_FILE)).unwrap();
    edit.execute_batch(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10500)
         INSERT INTO inbox (run_id, command) SELECT 'r', '{\"command\":\"stop\"}' FROM n",
    )
    .unwrap();
    let waiting = blocking(&journal).commands(&run).unwrap();
    assert_eq!(waiting.len(), 10_500);
    // The oldest command is answered last, and its receipt is as new as any.
    let late = futures_util::future::join_all(
        waiting[1..].iter().map(|posted| journal.append(answer(&run, 0, done(posted.number)))),
    );
    assert!(late.await.into_iter().all(|result| result.is_ok()));
    journal.append(answer(&run, 0, done(waiting[0].number))).await.unwrap();
    assert_eq!(
        blocking(&journal).receipt(&run, waiting[0].number).unwrap(),
        Some(done(waiting[0].number))
    );
    let kept: i64 = edit.query_row("SELECT count(*) FROM receipts", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 10_000);
    assert!(blocking(&journal).commands(&run).unwrap().is_empty());
    let next = blocking(&journal).post(&run, &Command::Stop).unwrap();
    assert_eq!(next, waiting.last().unwrap().number + 1);
    assert_eq!(
        blocking(&journal).commands(&run).unwrap(),
        [Posted { number: next, command: Ok(Command::Stop) }]
    );
}

#[tokio::test]
async fn looking_for_commands_waits_for_no_writer() {
    let root = tempdir().unwrap();
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    let run = RunId::new("r");
    blocking(&journal).post(&run, &Command::Stop).unwrap();
    let other = rusqlite::Connection::open(root.path().join(JOURNAL_FILE)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE; DELETE FROM inbox").unwrap();
    assert_eq!(
        blocking(&journal).commands(&run).unwrap().len(),
        1,
        "what is not committed has not happened"
    );
    assert!(blocking(&journal).commands(&RunId::new("s")).unwrap().is_empty());
    other.execute_batch("COMMIT").unwrap();
    assert!(blocking(&journal).commands(&run).unwrap().is_empty());
}

#[tokio::test]
async fn a_damaged_chapter_is_left_out() {
    use materia_engine::{Snapshot, Snapshots as _};
    let root = tempdir().unwrap();
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    let run = RunId::new("r");
    for (nth, records) in (1..).zip(decisions(&run, 4, 1)) {
        let snapshot = Snapshot {
            seq: nth,
            hash: records[0].hash,
            version: "v".into(),
            bytes: vec![1; 100],
            chapter: vec![u8::try_from(nth).unwrap(); 50],
        };
        journal.keep(&run, snapshot).await;
        journal.append(batch(&run, nth - 1, records)).await.unwrap();
    }
    let edit = rusqlite::Connection::open(root.path().join(JOURNAL_FILE)).unwrap();
    let seqs = || -> Vec<u64> {
        blocking(&journal).chapters(&run).unwrap().into_iter().map(|chapter| chapter.seq).collect()
    };
    assert_eq!(seqs(), [1, 2, 3, 4]);
    edit.execute("UPDATE chapters SET bytes = zeroblob(50) WHERE place & 255 = 2", []).unwrap();
    assert_eq!(seqs(), [1, 3, 4]);
    edit.execute("UPDATE chapters SET version = 'w' WHERE place & 255 = 3", []).unwrap();
    assert_eq!(seqs(), [1, 4]);
    // Another run's, or another place's, is none of this run.
    edit.execute("UPDATE chapters SET place = place + 10 WHERE place & 255 = 1", []).unwrap();
    assert_eq!(seqs(), [4]);
    assert!(
        blocking(&journal)
            .snapshot(&run)
            .unwrap()
            .is_some_and(|snapshot| snapshot.chapter == [4; 50])
    );
    edit.execute("UPDATE chapters SET checksum = x'00'", []).unwrap();
    assert!(seqs().is_empty());
    let snapshot =
        blocking(&journal).snapshot(&run).unwrap().expect("it is not the chapter's fault");
    assert!(snapshot.chapter.is_empty());
}
