use std::path::Path;
use std::time::Duration;

use futures_util::future::join_all;
use materia_contract::{CastStatus, ChainHash, RunId};
use materia_engine::journal_contract::{holds, sample_records};
use materia_engine::{
    AppendError, Batch, Journal, MemoryJournal, Snapshot, Snapshots as _, blocking,
};
use materia_journal::{OpenError, Options, SqliteJournal};
use tempfile::tempdir;

use crate::story::{Story, batch, decisions};

fn open(root: &Path) -> SqliteJournal {
    SqliteJournal::open(root, Options::default()).unwrap()
}

fn samples(run: &RunId, after: u64, count: u64) -> Batch {
    batch(run, after, sample_records(run, after, count, ChainHash::origin(run)))
}

#[tokio::test]
async fn sqlite_keeps_the_contract() {
    let root = tempdir().unwrap();
    let place = root.path().join("made/on/the/way");
    holds(&open(&place), &open(&place)).await;
}

#[tokio::test]
async fn memory_keeps_the_contract() {
    let journal = MemoryJournal::default();
    holds(&journal, &journal.clone()).await;
}

#[tokio::test]
async fn batches_that_wait_share_a_commit() {
    let root = tempdir().unwrap();
    let options = Options { commit_delay: Some(Duration::from_millis(20)), ..Options::default() };
    let journal = SqliteJournal::open(root.path(), options).unwrap();
    let runs: Vec<_> = (0..100).map(|n| RunId::new(format!("run-{n}"))).collect();
    let appends = runs.iter().map(|run| journal.append(samples(run, 0, 3)));
    for result in join_all(appends).await {
        result.unwrap();
    }
    let stats = journal.stats();
    assert_eq!((stats.batches, stats.records), (100, 300));
    assert!(stats.commits <= 3, "{stats:?}");
    for run in &runs {
        assert_eq!(blocking(&journal).records(run, 0, 10).unwrap(), *samples(run, 0, 3).records);
    }
}

#[tokio::test]
async fn a_stale_batch_does_not_spoil_its_group() {
    let root = tempdir().unwrap();
    let options = Options { commit_delay: Some(Duration::from_millis(5)), ..Options::default() };
    let journal = SqliteJournal::open(root.path(), options).unwrap();
    let runs: Vec<_> = (0..20).map(|n| RunId::new(format!("run-{n}"))).collect();
    // Every third one claims to stand behind an event that is not there.
    let appends = runs.iter().enumerate().map(|(n, run)| {
        let after = if n % 3 == 0 { 7 } else { 0 };
        journal.append(samples(run, after, 2))
    });
    for (n, result) in join_all(appends).await.into_iter().enumerate() {
        if n % 3 == 0 {
            let error = result.unwrap_err();
            assert!(
                matches!(error, AppendError::Conflict { expected: 7, actual: 0, .. }),
                "{error}"
            );
            assert!(blocking(&journal).head(&runs[n]).unwrap().is_none());
        } else {
            result.unwrap();
            assert_eq!(blocking(&journal).head(&runs[n]).unwrap().unwrap().seq, 2);
        }
    }
}

#[tokio::test]
async fn the_same_place_can_be_taken_once() {
    let root = tempdir().unwrap();
    let (first, second) = (open(root.path()), open(root.path()));
    let run = RunId::new("r");
    first.append(samples(&run, 0, 1)).await.unwrap();
    // The second one has never heard of the run, and then believes in an old place.
    let records = decisions(&run, 4, 1);
    let at = |after: usize| batch(&run, after as u64, records[after].clone());
    assert!(matches!(second.append(at(0)).await, Err(AppendError::Conflict { actual: 1, .. })));
    second.append(at(1)).await.unwrap();
    assert!(matches!(first.append(at(1)).await, Err(AppendError::Conflict { actual: 2, .. })));
    first.append(at(2)).await.unwrap();
    second.append(at(3)).await.unwrap();
    assert_eq!(blocking(&first).records(&run, 0, 10).unwrap(), records.concat());
}

#[tokio::test]
async fn a_batch_with_a_gap_is_refused() {
    let root = tempdir().unwrap();
    let journal = open(root.path());
    let run = RunId::new("r");
    let mut batch = samples(&run, 0, 3);
    let ends = [&batch.records[0], &batch.records[2]];
    batch.records = ends.into_iter().cloned().collect();
    assert!(matches!(journal.append(batch).await, Err(AppendError::Storage(_))));
    assert!(blocking(&journal).head(&run).unwrap().is_none());
}

#[tokio::test]
async fn the_list_follows_the_events() {
    let root = tempdir().unwrap();
    let journal = open(root.path());
    let (mut first, mut second) = (Story::begun("first"), Story::begun("second"));
    journal.append(first.whole()).await.unwrap();
    second.completed();
    journal.append(second.whole()).await.unwrap();
    let lines = blocking(&journal).runs().unwrap();
    let seen: Vec<_> = lines.iter().map(|line| (line.cast_id.as_str(), line.status)).collect();
    assert_eq!(seen, [("second", CastStatus::Completed), ("first", CastStatus::Running)]);
    assert_eq!((lines[1].loadout.as_str(), lines[1].request.as_str()), ("Greeting", "greet"));
    assert_eq!(lines[1].started_at, "1970-01-01T00:00:00.001Z");

    let reason = serde_json::json!({"reason": "approval", "message": "?"});
    first.tell(None, "run.waiting", reason);
    journal.append(first.batch(1, 2)).await.unwrap();
    assert_eq!(blocking(&journal).runs().unwrap()[1].status, CastStatus::Waiting);
}

#[tokio::test]
async fn all_that_was_handed_in_is_there_after_closing() {
    let root = tempdir().unwrap();
    let journal = open(root.path());
    let run = RunId::new("r");
    // Handed in, and not waited for.
    drop(journal.append(samples(&run, 0, 500)));
    drop(journal);
    let names: Vec<_> = std::fs::read_dir(root.path()).unwrap().flatten().collect();
    assert_eq!(names.len(), 1, "closing leaves no log behind: {names:?}");
    let journal = SqliteJournal::open_existing(root.path()).unwrap().unwrap();
    assert_eq!(blocking(&journal).records(&run, 0, 1_000).unwrap().len(), 500);
    let mut seen = Vec::new();
    journal
        .for_each(&run, 490, &mut |record| {
            seen.push(record.clone());
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(seen, blocking(&journal).records(&run, 490, 100).unwrap());
    // A journal that was opened for reading can be written to as well.
    let more = sample_records(&run, 500, 1, seen[9].hash);
    journal.append(batch(&run, 500, more)).await.unwrap();
    assert_eq!(blocking(&journal).head(&run).unwrap().unwrap().seq, 501);
}

#[test]
fn looking_for_a_journal_makes_none() {
    let root = tempdir().unwrap();
    let nowhere = root.path().join("nowhere");
    assert!(SqliteJournal::open_existing(&nowhere).unwrap().is_none());
    assert!(!nowhere.exists());
    // As while another process is making it.
    std::fs::write(root.path().join("journal.db"), "").unwrap();
    assert!(SqliteJournal::open_existing(root.path()).unwrap().is_none());
}

#[test]
fn what_cannot_be_opened_says_why() {
    let root = tempdir().unwrap();
    let file = root.path().join("file");
    std::fs::write(&file, "x").unwrap();
    for result in [
        SqliteJournal::open(&file, Options::default()).map(|_| ()),
        SqliteJournal::open_existing(&file).map(|_| ()),
    ] {
        assert!(matches!(result, Err(OpenError::Folder { .. })), "{result:?}");
    }

    std::fs::write(root.path().join("journal.db"), "this is no database at all").unwrap();
    let refused = SqliteJournal::open(root.path(), Options::default()).map(|_| ());
    assert!(matches!(refused, Err(OpenError::Damaged { .. })), "{refused:?}");

    let newer = root.path().join("newer");
    drop(open(&newer));
    let edit = rusqlite::Connection::open(newer.join("journal.db")).unwrap();
    edit.pragma_update(None, "user_version", 99).unwrap();
    drop(edit);
    for result in [
        SqliteJournal::open(&newer, Options::default()).map(|_| ()),
        SqliteJournal::open_existing(&newer).map(|_| ()),
    ] {
        assert!(matches!(result, Err(OpenError::Newer { found: 99, .. })), "{result:?}");
    }
}

#[tokio::test]
async fn a_damaged_snapshot_is_none() {
    let root = tempdir().unwrap();
    let journal = open(root.path());
    let run = RunId::new("r");
    let batch = samples(&run, 0, 1);
    let hash = batch.records[0].hash;
    let (bytes, chapter) = (vec![7; 100], vec![8; 10]);
    journal.keep(&run, Snapshot { seq: 1, hash, version: "v".into(), bytes, chapter }).await;
    journal.append(batch).await.unwrap();
    assert!(blocking(&journal).snapshot(&run).unwrap().is_some());
    let edit = rusqlite::Connection::open(root.path().join("journal.db")).unwrap();
    edit.execute("UPDATE snapshots SET bytes = zeroblob(100)", []).unwrap();
    assert_eq!(blocking(&journal).snapshot(&run).unwrap(), None);
}
