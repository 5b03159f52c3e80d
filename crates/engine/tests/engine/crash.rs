//! A crash at every event: the run ends as if undisturbed, and reported turns do not run again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use materia_contract::{CastStatus, Folders, RunId};
use materia_engine::{EngineError, MemoryJournal, Options, blocking, cast, replay, report, resume};
use materia_kernel::Phase;

use crate::story::{Breaking, COUNT_TO, Counter, counting, quiet, world};

/// Casts, crashes at append `at`, and resumes, crashing again `further` times on the way.
async fn crashing(at: usize, stores_first: bool, further: usize) -> (MemoryJournal, Counter) {
    let memory = MemoryJournal::default();
    let runner = Counter::default();
    let run = RunId::new("c");
    let breaking = |at| {
        let appends = AtomicUsize::new(0);
        Arc::new(Breaking { inner: memory.clone(), at, stores_first, appends, disk: None })
    };
    let mut ended = cast(
        &world(breaking(at), &runner),
        run.clone(),
        counting(),
        Options::default(),
        &mut quiet(),
    )
    .await;
    for nth in 0..=further {
        match ended {
            Ok(phase) => {
                assert_eq!(phase, Phase::Completed);
                break;
            }
            Err(EngineError::Drive(_)) => {}
            Err(other) => panic!("{other}"),
        }
        let journal = breaking(if nth < further { 1 } else { usize::MAX });
        if blocking(&memory).head(&run).unwrap().is_none() {
            let world = world(journal, &runner);
            ended = cast(&world, run.clone(), counting(), Options::default(), &mut quiet()).await;
            continue;
        }
        let world = world(journal, &runner);
        ended = resume(&world, &run, Options::default(), &mut quiet()).await;
        if let Err(EngineError::Drive(materia_engine::DriveError::Rejected(_))) = &ended {
            // The last append was stored although it seemed to fail: the run is over.
            ended = Ok(Phase::Completed);
        }
    }
    (memory, runner)
}

/// How often an undisturbed run appends.
async fn appends() -> usize {
    let (inner, appends) = (MemoryJournal::default(), AtomicUsize::new(0));
    let counted =
        Arc::new(Breaking { inner, at: usize::MAX, stores_first: false, appends, disk: None });
    let world = world(counted.clone(), &Counter::default());
    cast(&world, RunId::new("c"), counting(), Options::default(), &mut quiet()).await.unwrap();
    counted.appends.load(Ordering::SeqCst)
}

#[tokio::test]
async fn a_crash_at_any_append_changes_nothing_but_the_attempts() {
    let run = RunId::new("c");
    // The beginning, and the end of each of seven turns.
    assert_eq!(appends().await, 8);
    for further in 0..4 {
        for stores_first in [false, true] {
            // Also just behind the last one, where nothing is left to break.
            for at in 0..=8 {
                let (journal, runner) = crashing(at, stores_first, further).await;
                let told = report(&journal, &run, &Folders::default()).unwrap();
                let context = format!("at {at}, stored {stores_first}, further {further}");
                assert_eq!(told.status, CastStatus::Completed, "{context}");
                assert_eq!(told.state["count"], serde_json::json!(COUNT_TO), "{context}");
                let completed: Vec<_> = told
                    .visits
                    .iter()
                    .filter(|visit| visit.outcome == materia_contract::Outcome::Completed)
                    .map(|visit| (visit.socket.to_string(), visit.visit))
                    .collect();
                let mut expected: Vec<_> = (1..=6).map(|n| ("count".to_owned(), n)).collect();
                expected.push(("last".to_owned(), 1));
                assert_eq!(completed, expected, "{context}");
                replay(&journal, &run, None).unwrap();
                let performed = runner.performed.lock().unwrap();
                for visit in &told.visits {
                    let done = (visit.socket.to_string(), visit.visit, visit.attempt);
                    let times = performed.iter().filter(|turn| **turn == done).count();
                    assert!(times <= 1, "{context}: {done:?} was performed {times} times");
                }
            }
        }
    }
}
