//! Blocking: lost leases, runs of other processes, and threads that must not block.

use std::future::poll_fn;
use std::task::Poll;
use std::time::{Duration, Instant};

use futures_util::{FutureExt as _, StreamExt as _};
use materia_contract::{Folders, Record, RunId};
use materia_engine::{
    AppendError, Batch, Committed, Epoch, Journal, Observer, blocking, may_block, on_own_thread,
};
use materia_journal::{JOURNAL_FILE, Options, SqliteJournal, Views};
use tempfile::tempdir;

use crate::processes::spawn;
use crate::story::{Story, batch, decisions};

fn open(root: &std::path::Path) -> SqliteJournal {
    SqliteJournal::open(root, Options::default()).unwrap()
}

#[tokio::test]
async fn a_holder_whose_lock_was_removed_cannot_write_any_more() {
    let root = tempdir().unwrap();
    let (old, new) = (open(root.path()), open(root.path()));
    let run = RunId::new("r");
    let told = decisions(&run, 3, 2);
    let under =
        |epoch, nth: usize| Batch { epoch, ..batch(&run, nth as u64 * 2, told[nth].clone()) };
    let lost = old.claim(&run).await.unwrap();
    old.append(under(lost.epoch(), 0)).await.unwrap();
    assert!(new.claim(&run).await.is_err(), "it is held");
    std::fs::remove_file(root.path().join("r/lock")).unwrap();
    let lease = new.claim(&run).await.unwrap();
    assert_eq!((lost.epoch(), lease.epoch()), (Epoch(1), Epoch(2)));
    // The old holder has its own file still, and is refused all the same.
    let refused = old.append(under(lost.epoch(), 1)).await;
    assert!(
        matches!(refused, Err(AppendError::Fenced { epoch: Epoch(1), newest: Epoch(2), .. })),
        "{refused:?}"
    );
    new.append(under(lease.epoch(), 1)).await.unwrap();
    assert_eq!(blocking(&old).records(&run, 0, 100).unwrap(), told[..2].concat());
}

#[tokio::test]
async fn what_another_process_writes_is_followed_to_the_end() {
    let root = tempdir().unwrap();
    let place = root.path().join("artifacts");
    let journal = open(&place);
    let run = RunId::new("followed");
    let mut tail = journal.tail(&run, 0);
    let mut child = spawn("processes::one_of_twenty", &place, run.as_str());
    let told = decisions(&run, 10, 3).concat();
    let mut seen: Vec<Record> = Vec::new();
    while seen.len() < told.len() {
        let next = tokio::time::timeout(Duration::from_secs(30), tail.next()).await;
        seen.extend(next.expect("it is heard").unwrap().unwrap());
    }
    assert_eq!(seen, told);
    assert!(child.wait().unwrap().success());
}

/// Polls a future twice, and says whether it is ready then. At the first poll an append may only let other tasks go ahead.
async fn poll_twice<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    let mut poll = async || poll_fn(|context| Poll::Ready(future.poll_unpin(context))).await;
    match poll().await {
        Poll::Pending => poll().await,
        ready @ Poll::Ready(_) => ready,
    }
}

#[tokio::test]
async fn nobody_stands_still_while_another_process_writes() {
    let root = tempdir().unwrap();
    let journal = open(root.path());
    let run = RunId::new("r");
    let told = decisions(&run, 2, 2);
    let lease = journal.claim(&run).await.unwrap();
    for (nth, alone) in [false, true].into_iter().enumerate() {
        let other = rusqlite::Connection::open(root.path().join(JOURNAL_FILE)).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let batch =
            Batch { epoch: lease.epoch(), ..batch(&run, nth as u64 * 2, told[nth].clone()) };
        let append = async {
            let mut append = journal.append(batch);
            // Also a run that has its thread to itself does not wait there for the other process.
            assert!(poll_twice(&mut append).await.is_pending(), "alone: {alone}");
            other.execute_batch("COMMIT").unwrap();
            append.await.unwrap();
        };
        if alone {
            on_own_thread(append).await;
        } else {
            append.await;
        }
    }
    assert_eq!(blocking(&journal).records(&run, 0, 100).unwrap(), told.concat());
}

#[tokio::test]
async fn only_who_has_a_thread_to_itself_commits_there() {
    let root = tempdir().unwrap();
    let delay = Some(Duration::from_millis(150));
    let slow = Options { commit_delay: delay, ..Options::default() };
    let journal = SqliteJournal::open(root.path(), slow).unwrap();
    let run = RunId::new("r");
    let told = decisions(&run, 2, 2);
    let lease = journal.claim(&run).await.unwrap();
    for (nth, alone) in [false, true].into_iter().enumerate() {
        let epoch = lease.epoch();
        let batch = Batch { epoch, ..batch(&run, nth as u64 * 2, told[nth].clone()) };
        let append = async {
            assert_eq!(may_block(), alone);
            let mut append = journal.append(batch);
            match poll_twice(&mut append).await {
                Poll::Ready(done) => {
                    assert!(alone, "the others go on meanwhile");
                    done.unwrap();
                }
                Poll::Pending => {
                    assert!(!alone, "it is done in place");
                    append.await.unwrap();
                }
            }
        };
        if alone {
            on_own_thread(append).await;
        } else {
            append.await;
        }
    }
    assert!(!may_block(), "for nobody else");
}

#[tokio::test]
async fn whoever_observes_never_keeps_the_thread_waiting() {
    let root = tempdir().unwrap();
    let views = Views::start(root.path(), &Folders::default());
    let mut story = Story::begun("r");
    let text = "x".repeat(1 << 20);
    for visit in 1..=6 {
        story.tell(
            Some("hello"),
            "turn.completed",
            serde_json::json!({"turn": 1, "visit": visit, "attempt": 1, "output": text}),
        );
    }
    let mut full = 0;
    for (record, event) in story.records.iter().zip(&story.events) {
        let records = [record.clone()].into();
        let news = Committed { run: story.run.clone(), records, events: [event.clone()].into() };
        // It takes everything at once, and says afterwards whether there is room for more.
        let begun = Instant::now();
        views.committed(&news);
        assert!(begun.elapsed() < Duration::from_secs(10));
        while let Some(room) = views.room() {
            full += 1;
            room.await;
        }
    }
    assert!(full > 0, "six megabytes were more than it holds");
    views.flush().unwrap();
}
