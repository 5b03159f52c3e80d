//! A driver process dies, and its turns live on elsewhere.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use materia_contract::{Command, Do, Folders, Outcome, Pace, RunId, TurnOutput};
use materia_engine::{
    BoxFuture, EngineError, MemoryJournal, NoObserver, Options, Runner, SystemClock, TurnJob,
    TurnOrder, TurnReport, World, blocking, carry_on, cast, load_to_drive, replay, report,
};
use materia_kernel::Phase;

use crate::story::{fan_out, quiet};

/// `a` ends at once; of the others only those in `alive` end, and only for whoever comes back to them.
#[derive(Clone, Default)]
struct Elsewhere {
    alive: BTreeSet<&'static str>,
    /// Turns that were started here, and turns that were found again.
    started: Arc<Mutex<Vec<String>>>,
    found: Arc<Mutex<Vec<String>>>,
    /// Whether turns that are started end by themselves.
    ends: bool,
    /// Whether something of a turn lives that cannot be ended.
    stuck: bool,
}

fn done(order: &TurnOrder, how: &str) -> TurnReport {
    let output = format!(r#"{{"state": {{"{}": "{how}"}}}}"#, order.node);
    let outcome = Ok(TurnOutput { output, ..TurnOutput::default() });
    TurnReport { outcome, after: Duration::ZERO }
}

impl Runner for Elsewhere {
    fn run(&self, job: TurnJob) -> BoxFuture<'static, TurnReport> {
        self.started.lock().unwrap().push(job.node.to_string());
        let ends = self.ends || job.node.as_str() == "a";
        Box::pin(async move {
            if !ends {
                std::future::pending::<()>().await;
            }
            done(&job, "started")
        })
    }

    fn clear(&self, _: &RunId, _: &Path) -> BoxFuture<'static, Result<(), String>> {
        let stuck = self.stuck.then(|| "process 7 is alive".to_owned());
        Box::pin(async move { stuck.map_or(Ok(()), Err) })
    }

    fn rejoin(&self, job: TurnJob) -> BoxFuture<'static, Option<BoxFuture<'static, TurnReport>>> {
        let lives = self.alive.contains(job.node.as_str());
        if lives {
            self.found.lock().unwrap().push(job.node.to_string());
        }
        let report = async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            done(&job, "found")
        };
        Box::pin(async move { lives.then(|| Box::pin(report) as BoxFuture<'static, TurnReport>) })
    }
}

fn id() -> RunId {
    RunId::new("c")
}

fn world(journal: &MemoryJournal, runner: &Elsewhere) -> World {
    World {
        journal: Arc::new(journal.clone()),
        observer: Arc::new(NoObserver),
        runner: Arc::new(runner.clone()),
        clock: Arc::new(SystemClock),
    }
}

/// A run whose process went away while `b`, `c` and `d` were in flight.
async fn left_behind() -> MemoryJournal {
    let (journal, runner) = (MemoryJournal::default(), Elsewhere::default());
    let world = world(&journal, &runner);
    let mut asks = quiet();
    let driven = cast(&world, id(), fan_out(), Options::default(), &mut asks);
    let gone = tokio::time::timeout(Duration::from_millis(200), driven).await;
    assert!(gone.is_err(), "it would go on for ever");
    assert_eq!(runner.started.lock().unwrap().len(), 4);
    journal
}

async fn carried_on(journal: &MemoryJournal, runner: &Elsewhere, pace: Option<Pace>) {
    let (world, command) = (world(journal, runner), Command::person(Do::Resume { pace }));
    let (lease, options) = (blocking(journal).claim(&id()).unwrap(), Options::default());
    let loaded = load_to_drive(journal, &id()).unwrap();
    let carried = carry_on(&world, lease, loaded, command, options, &mut quiet()).await;
    assert_eq!(carried.unwrap(), Phase::Completed);
    replay(journal, &id(), None).unwrap();
}

fn visits(journal: &MemoryJournal) -> Vec<(String, u32, Outcome)> {
    let visits = report(journal, &id(), &Folders::default()).unwrap().visits.into_iter();
    visits.map(|visit| (visit.socket.to_string(), visit.attempt, visit.outcome)).collect()
}

fn kinds(journal: &MemoryJournal) -> Vec<String> {
    let records = blocking(journal).records(&id(), 0, 1_000).unwrap();
    records.into_iter().map(|record| record.kind).collect()
}

#[tokio::test]
async fn turns_that_live_on_are_not_interrupted_and_their_reports_are_taken() {
    for pace in [None, Some(Pace::Auto)] {
        let journal = left_behind().await;
        let runner = Elsewhere { alive: ["b", "c", "d"].into(), ..Elsewhere::default() };
        carried_on(&journal, &runner, pace).await;
        assert!(runner.started.lock().unwrap().is_empty(), "nothing is started again");
        assert_eq!(*runner.found.lock().unwrap(), ["b", "c", "d"]);
        let done = |node: &str| (node.to_owned(), 1, Outcome::Completed);
        assert_eq!(visits(&journal), ["a", "b", "c", "d"].map(done));
        assert!(!kinds(&journal).contains(&"turn.interrupted".to_owned()));
        assert_eq!(report(&journal, &id(), &Folders::default()).unwrap().state["d"], "found");
    }
}

#[tokio::test]
async fn where_one_is_lost_all_run_again() {
    let all = ["b", "c", "d"];
    for alive in [&all[..2], &[]] {
        let journal = left_behind().await;
        let alive = alive.iter().copied().collect();
        let runner = Elsewhere { alive, ends: true, ..Elsewhere::default() };
        carried_on(&journal, &runner, None).await;
        assert_eq!(*runner.started.lock().unwrap(), all);
        let again = |node: &str| (node.to_owned(), 2, Outcome::Completed);
        assert_eq!(visits(&journal)[4..], all.map(again));
        let lost = kinds(&journal).iter().filter(|kind| *kind == "turn.interrupted").count();
        assert_eq!(lost, 3);
    }
}

/// Keeps what it is ordered to do as text, as a wire would have it.
struct Wire(Arc<Mutex<Vec<String>>>);

impl Runner for Wire {
    fn run(&self, job: TurnJob) -> BoxFuture<'static, TurnReport> {
        let sent = serde_json::to_string(&job.order).unwrap();
        let received: TurnOrder = serde_json::from_str(&sent).unwrap();
        assert_eq!(received, job.order);
        self.0.lock().unwrap().push(sent);
        let reported = serde_json::to_string(&done(&received, "there")).unwrap();
        Box::pin(async move { serde_json::from_str(&reported).unwrap() })
    }
}

#[tokio::test]
async fn an_order_and_its_report_are_data() {
    let (journal, sent) = (MemoryJournal::default(), Arc::default());
    let far = World {
        runner: Arc::new(Wire(Arc::clone(&sent))),
        ..world(&journal, &Elsewhere::default())
    };
    let folders = Folders { workspace: "/here".into(), ..Folders::default() };
    let options = Options { folders, ..Options::default() };
    let phase = cast(&far, id(), fan_out(), options, &mut quiet()).await.unwrap();
    assert_eq!(phase, Phase::Completed);
    let sent = sent.lock().unwrap();
    assert_eq!(sent.len(), 4);
    assert!(
        sent[0].contains(r#""node":"a""#) && sent[0].contains(r#""cwd":"/here""#),
        "{}",
        sent[0]
    );
    assert_eq!(report(&journal, &id(), &Folders::default()).unwrap().state["b"], "there");
}

#[tokio::test]
async fn who_loses_the_run_ends_its_turns_and_writes_nothing_more() {
    let (journal, runner) = (MemoryJournal::default(), Elsewhere::default());
    let here = world(&journal, &runner);
    let mut asks = quiet();
    let driven = cast(&here, id(), fan_out(), Options::default(), &mut asks);
    let lose = async {
        while runner.started.lock().unwrap().len() < 4 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        journal.take_away(&id());
        blocking(&journal).claim(&id()).unwrap()
    };
    let (ended, lease) = tokio::join!(driven, lose);
    assert!(matches!(ended, Err(EngineError::Lost(run)) if run == id()));
    let before = kinds(&journal);
    assert_eq!(before.last().unwrap(), "turn.started", "nothing was written about it");
    drop(lease);
    carried_on(&journal, &Elsewhere { ends: true, ..Elsewhere::default() }, None).await;
}

#[tokio::test]
async fn a_run_is_not_carried_on_beside_what_cannot_be_ended() {
    let journal = left_behind().await;
    let before = kinds(&journal);
    for what in [Do::Resume { pace: None }, Do::Abort { reason: None }, Do::Pause] {
        let runner = Elsewhere { stuck: true, ends: true, ..Elsewhere::default() };
        let lease = blocking(&journal).claim(&id()).unwrap();
        let loaded = load_to_drive(&journal, &id()).unwrap();
        let (world, command) = (world(&journal, &runner), Command::person(what));
        let carried =
            carry_on(&world, lease, loaded, command, Options::default(), &mut quiet()).await;
        let said = carried.unwrap_err().to_string();
        assert_eq!(said, "cast `c` is not carried on: process 7 is alive");
        assert!(runner.started.lock().unwrap().is_empty());
        assert_eq!(kinds(&journal), before, "nothing was written about it");
    }
    // Once it has gone, the run goes on.
    carried_on(&journal, &Elsewhere { ends: true, ..Elsewhere::default() }, None).await;
}
