//! Commands and their receipts.

use materia_contract::{Answer, Command, CommandId, Do, Receipt, RunId};
use materia_engine::{AppendError, Batch, Journal, Posted, blocking};
use materia_journal::{JOURNAL_FILE, Options, SqliteJournal};
use tempfile::tempdir;

use crate::story::{batch, decisions};

fn done(command: &CommandId) -> Receipt {
    let answer = Answer::Done { first: 1, last: 0 };
    Receipt { command: command.clone(), body: None, answer }
}

fn stop() -> Command {
    Command::person(Do::Stop { message: None })
}

fn post(journal: &SqliteJournal, run: &RunId) -> CommandId {
    blocking(journal).post(run, &stop()).unwrap().id
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
    let before = post(&journal, &run);
    let edit = rusqlite::Connection::open(root.path().join(JOURNAL_FILE)).unwrap();
    edit.execute_batch(
        r#"INSERT INTO inbox (run_id, command) VALUES
            ('r', 'no command'), ('r', '{"command":"fly"}'), ('r', CAST(x'ff' AS TEXT))"#,
    )
    .unwrap();
    let abort = Command::person(Do::Abort { reason: Some("enough".into()) });
    let behind = blocking(&journal).post(&run, &abort).unwrap().id;
    let waiting = blocking(&journal).commands(&run).unwrap();
    let ids: Vec<&str> =
        waiting.iter().map(|posted| posted.id.as_ref().unwrap().as_str()).collect();
    assert_eq!(ids, [before.as_str(), "#2", "#3", "#4", behind.as_str()]);
    assert_eq!(waiting[0].command, Ok(Command { id: Some(before), ..stop() }));
    assert!(waiting[1..4].iter().all(|posted| posted.command.is_err()), "{waiting:?}");
    // It is refused like any other.
    let reason = waiting[1].command.clone().unwrap_err();
    let second = CommandId::numbered(2);
    let refusal = Answer::Refused { reason };
    let refused = Receipt { command: second.clone(), body: None, answer: refusal };
    journal.append(answer(&run, 0, refused.clone())).await.unwrap();
    assert_eq!(blocking(&journal).receipt(&run, &second).unwrap(), Some(refused));
    assert_eq!(blocking(&journal).commands(&run).unwrap().len(), 4);
    assert!(blocking(&journal).head(&run).unwrap().is_none(), "an answer makes no run");
    assert!(blocking(&journal).runs().unwrap().is_empty());
}

#[tokio::test]
async fn an_refusalalone_comes_at_the_end_of_the_run() {
    let root = tempdir().unwrap();
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    let run = RunId::new("r");
    journal.append(batch(&run, 0, decisions(&run, 1, 3).concat())).await.unwrap();
    let id = post(&journal, &run);
    for after in [0, 2, 4] {
        let stale = journal.append(answer(&run, after, done(&id))).await;
        assert!(matches!(stale, Err(AppendError::Conflict { actual: 3, .. })), "{stale:?}");
    }
    let unknown = journal.append(answer(&RunId::new("s"), 1, done(&id))).await;
    assert!(matches!(unknown, Err(AppendError::Conflict { actual: 0, .. })), "{unknown:?}");
    assert_eq!(blocking(&journal).commands(&run).unwrap().len(), 1);
    journal.append(answer(&run, 3, done(&id))).await.unwrap();
    assert!(blocking(&journal).commands(&run).unwrap().is_empty());
}

#[tokio::test]
async fn a_command_is_answered_once() {
    let root = tempdir().unwrap();
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    let run = RunId::new("r");
    let id = post(&journal, &run);
    let all = decisions(&run, 2, 2);
    let with = |after, records| Batch { receipt: Some(done(&id)), ..batch(&run, after, records) };
    journal.append(with(0, all[0].clone())).await.unwrap();
    let again = journal.append(with(2, all[1].clone())).await;
    assert!(matches!(again, Err(AppendError::Storage(_))), "{again:?}");
    assert_eq!(blocking(&journal).records(&run, 0, 10).unwrap(), all[0], "it takes effect once");
    journal.append(batch(&run, 2, all[1].clone())).await.unwrap();
}

#[tokio::test]
async fn receipts_stay_and_numbers_do_not_come_again() {
    let root = tempdir().unwrap();
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    let run = RunId::new("r");
    let edit = rusqlite::Connection::open(root.path().join(JOURNAL_FILE)).unwrap();
    edit.execute_batch(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10500)
         INSERT INTO inbox (run_id, command) SELECT 'r', '{\"do\":\"stop\"}' FROM n",
    )
    .unwrap();
    let waiting = blocking(&journal).commands(&run).unwrap();
    assert_eq!(waiting.len(), 10_500);
    let id = |nth: usize| waiting[nth].id.clone().unwrap();
    let all = (0..waiting.len()).rev().map(|nth| journal.append(answer(&run, 0, done(&id(nth)))));
    let all = futures_util::future::join_all(all).await;
    assert!(all.into_iter().all(|result| result.is_ok()));
    for nth in [0, 5_000, 10_499] {
        assert_eq!(blocking(&journal).receipt(&run, &id(nth)).unwrap(), Some(done(&id(nth))));
    }
    assert!(blocking(&journal).commands(&run).unwrap().is_empty());
    let next = post(&journal, &run);
    assert_eq!(next, CommandId::numbered(10_501));
    let expected: Posted = Command { id: Some(next), ..stop() }.into();
    assert_eq!(blocking(&journal).commands(&run).unwrap(), [expected]);
}

/// Two processes that send the same at once leave it once.
#[test]
fn one_id_is_left_once_however_many_send_it() {
    let root = tempdir().unwrap();
    let run = RunId::new("r");
    let open = || SqliteJournal::open(root.path(), Options::default()).unwrap();
    drop(open());
    let command = Command { id: CommandId::parse("same").ok(), ..stop() };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let journal = open();
                for _ in 0..20 {
                    assert_eq!(blocking(&journal).post(&run, &command).unwrap().receipt, None);
                }
            });
        }
    });
    assert_eq!(blocking(&open()).commands(&run).unwrap(), [command.clone().into()]);
}

#[tokio::test]
async fn looking_for_commands_waits_for_no_writer() {
    let root = tempdir().unwrap();
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    let run = RunId::new("r");
    post(&journal, &run);
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
