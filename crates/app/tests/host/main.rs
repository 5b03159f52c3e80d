//! Many runs in one process.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod ending;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;

use materia_app::cast::host::{Host, Setting, Submitted};
use materia_app::trust::{Cleared, Gate};
use materia_contract::{
    Answer, Behavior, Budget, CastStatus, Command, CommandId, Do, ErrorCode, GlobalMode,
    JOURNAL_VERSION_OF_PROJECT, Limits, Node, NodeId, Pace, Plan, Receipt, RunCreated, RunId,
    Trigger, TurnOutput,
};
use materia_engine::{
    BoxFuture, ClaimError, EngineError, Journal as _, NoObserver, Options, PostError, Runner,
    SystemClock, TurnFault, TurnJob, TurnReport, blocking, load, load_to_drive, replay,
};
use materia_journal::SqliteJournal;
use materia_kernel::Phase;

const PATIENCE: Duration = Duration::from_secs(20);

/// Performs turns of `work` after a while, and those of `wait` when they are stopped.
struct Slow(Duration);

impl Runner for Slow {
    fn run(&self, job: TurnJob) -> BoxFuture<'static, TurnReport> {
        let mut stop = job.control.stop.clone();
        let time = if job.node.as_str() == "wait" { Duration::from_hours(1) } else { self.0 };
        Box::pin(async move {
            let outcome = tokio::select! {
                () = tokio::time::sleep(time) => Ok(TurnOutput::default()),
                () = stop.asked() => Err(TurnFault {
                    code: ErrorCode::UtilityFailed,
                    message: "it was stopped".into(),
                    report: Box::default(),
                    withheld: false,
                }),
            };
            TurnReport { outcome, after: Duration::ZERO }
        })
    }
}

/// Settings of a run of these nodes, already approved.
fn setting(id: &RunId, names: &[&str]) -> Setting {
    let runner = Arc::new(Slow(Duration::from_millis(2)));
    Setting { runner, options: Options::default(), cleared: cleared(id, names) }
}

fn cleared(id: &RunId, names: &[&str]) -> Cleared {
    let gate = Gate::new(None, Path::new("/nowhere"));
    let mut warnings = Vec::new();
    let bare = gate.bare(id.clone(), row(names), &mut warnings);
    assert_eq!(bare.questions().len(), 1, "nobody has approved it");
    let trusted = bare.settle(|_| Ok::<(), ()>(()), &mut warnings).ok().unwrap();
    trusted.release().1
}

fn host(root: &Path) -> (Host, Arc<SqliteJournal>) {
    let journal = SqliteJournal::open(root, materia_journal::Options::default()).unwrap();
    let journal = Arc::new(journal);
    let host = Host::new(
        journal.clone(),
        Arc::new(NoObserver),
        Arc::new(SystemClock),
        &tokio::runtime::Handle::current(),
    );
    (host, journal)
}

/// These nodes one behind the other; whatever is called `asked` is started by people alone.
fn row(names: &[&str]) -> RunCreated {
    let edge = |from: &str, to: Option<&&str>| materia_contract::Edge {
        id: materia_contract::EdgeId::new(format!("{from}->{}", to.unwrap_or(&"end"))),
        when: materia_contract::Condition::Always,
        guard: None,
        to: to.map(NodeId::new),
        fails: false,
        max_traversals: None,
        delivery: materia_contract::Delivery::default(),
    };
    let nodes = names.iter().enumerate().map(|(index, name)| {
        let behavior =
            Behavior::Utility { command: vec!["x".into()], params: serde_json::Map::new() };
        let mut node = Node::new("m", behavior);
        node.edges = vec![edge(name, names.get(index + 1))];
        if *name == "asked" {
            node.trigger = Trigger::ManualOnly;
        }
        (NodeId::new(name), node)
    });
    let plan = Plan {
        loadout: "test".into(),
        entry: NodeId::new(names[0]),
        nodes: nodes.collect(),
        loops: indexmap::IndexMap::new(),
        limits: Limits::default(),
        budget: Budget::default(),
        doc_root: "docs".into(),
    };
    RunCreated {
        request: "go".into(),
        plan_hash: plan.hash(),
        plan,
        cwd: "{workspace}".into(),
        run_dir: "{runDir}".into(),
        pace: Pace::Auto,
        global_mode: GlobalMode::Implementation,
        virtual_time: false,
        script: None,
        from_cast_id: None,
        fork: None,
        timeline: 0,
        link: None,
        state: serde_json::Map::new(),
        agents: materia_contract::Answerers::default(),
        key: None,
        workspace: None,
        approved: None,
        journal_version: JOURNAL_VERSION_OF_PROJECT,
    }
}

fn say(id: &str, node: &str, text: &str) -> Command {
    let (node, text) = (Some(NodeId::new(node)), text.to_owned());
    Command { id: CommandId::parse(id).ok(), ..Command::person(Do::Say { node, text }) }
}

async fn answered(host: &Host, run: &RunId, command: &Command) -> Receipt {
    match host.submit(run, command, PATIENCE).await.unwrap() {
        Submitted::Answered(receipt) => receipt,
        other @ (Submitted::Waits(_) | Submitted::Undriven) => panic!("nobody took it: {other:?}"),
    }
}

#[tokio::test]
async fn fifty_runs_are_driven_and_followed_without_gaps() {
    let root = tempfile::tempdir().unwrap();
    let (host, journal) = host(root.path());
    let ids: Vec<RunId> = (0..50).map(|nth| RunId::new(format!("run-{nth}"))).collect();
    let mut followers = Vec::new();
    for id in &ids {
        // Begun before the run is there, and from another place each time.
        let after = 3 * (followers.len() as u64 % 2);
        let mut following = host.follow(id, after);
        followers.push(tokio::spawn(async move {
            let mut seen = Vec::new();
            loop {
                let records = following.next().await.unwrap().unwrap();
                let ended = records.iter().any(|record| record.kind == "run.completed");
                seen.extend(records.into_iter().map(|record| record.seq));
                if ended {
                    return (after, seen);
                }
            }
        }));
    }
    let runs: Vec<_> = ids
        .iter()
        .map(|id| {
            let nodes = ["work", "more", "last"];
            host.begin(id.clone(), row(&nodes), setting(id, &nodes))
        })
        .collect();
    for run in runs {
        assert_eq!(run.rested().await.unwrap(), Phase::Completed);
    }
    assert!(host.runs().is_empty());
    for (id, follower) in ids.iter().zip(followers) {
        let (after, seen) = follower.await.unwrap();
        let last = blocking(&*journal).head(id).unwrap().unwrap().seq;
        assert_eq!(seen, (after + 1..=last).collect::<Vec<u64>>(), "{id}");
        replay(&*journal, id, None).unwrap();
    }
}

#[tokio::test]
async fn a_command_is_answered_once_whoever_sends_it_again() {
    let root = tempfile::tempdir().unwrap();
    let (host, journal) = host(root.path());
    let id = RunId::new("r");
    let run = host.begin(id.clone(), row(&["wait", "asked"]), setting(&id, &["wait", "asked"]));
    let first = answered(&host, &id, &say("k", "asked", "hello")).await;
    let Answer::Done { first: from, last } = first.answer else { panic!("{first:?}") };
    let records = blocking(&*journal).records(&id, from - 1, 1).unwrap();
    assert_eq!((records[0].kind.as_str(), from <= last), ("message.received", true));
    assert_eq!(answered(&host, &id, &say("k", "asked", "hello")).await, first);
    let other = host.submit(&id, &say("k", "asked", "bye"), PATIENCE).await;
    assert!(matches!(other, Err(PostError::OtherBody(_))), "{other:?}");
    let refused = answered(&host, &id, &say("k2", "nobody", "hello")).await;
    assert!(matches!(&refused.answer, Answer::Refused { reason } if reason.contains("nobody")));
    let late = Command { expected_seq: Some(1), ..say("k3", "asked", "hello") };
    let late = answered(&host, &id, &late).await;
    assert!(matches!(&late.answer, Answer::Refused { reason } if reason.contains("event 1")));
    // Resuming what is driven changes nothing about what is under way.
    let resume = answered(&host, &id, &Command::person(Do::Resume { pace: None })).await;
    assert!(matches!(resume.answer, Answer::Done { first, last } if last < first), "{resume:?}");
    // One who drives it already is not disturbed by a second.
    let again = host.begin(id.clone(), row(&["wait"]), setting(&id, &["wait"]));
    assert!(again.rested().await.is_err());
    answered(&host, &id, &say("k4", "asked", "still there?")).await;
    host.stop("enough").await;
    let Phase::Waiting(waiting) = run.rested().await.unwrap() else { panic!("it was stopped") };
    assert_eq!(waiting.message, "enough");
    let told = blocking(&*journal).records(&id, 0, 1_000).unwrap();
    let count = told.iter().filter(|record| record.kind == "message.received").count();
    assert_eq!(count, 2);
    // Where nobody drives it, whoever asks is told so, and nothing is left that nobody would look for.
    let undriven = host.submit(&id, &say("k5", "asked", "later"), PATIENCE).await.unwrap();
    assert_eq!(undriven, Submitted::Undriven);
    assert!(blocking(&*journal).commands(&id).unwrap().is_empty());
    replay(&*journal, &id, None).unwrap();
}

/// Two hosts with a connection of their own each: what one drives the other sees and can tell.
#[tokio::test]
async fn a_run_that_another_drives_is_followed_and_told() {
    let root = tempfile::tempdir().unwrap();
    let (driver, _) = host(root.path());
    let (looker, journal) = host(root.path());
    let id = RunId::new("r");
    let mut following = looker.follow(&id, 0);
    let nodes = ["work", "wait", "asked"];
    let run = driver.begin(id.clone(), row(&nodes), setting(&id, &nodes));
    let first = following.next().await.unwrap().unwrap();
    let mut seen: Vec<u64> = first.into_iter().map(|record| record.seq).collect();
    let mut told = BTreeMap::new();
    while told.len() < 20 {
        let name = format!("k{}", told.len());
        let receipt = answered(&looker, &id, &say(&name, "asked", &name)).await;
        told.insert(name, receipt);
        if let Ok(records) = tokio::time::timeout(Duration::from_millis(20), following.next()).await
        {
            seen.extend(records.unwrap().unwrap().into_iter().map(|record| record.seq));
        }
    }
    assert!(matches!(blocking(&*journal).claim(&id), Err(ClaimError::Held { .. })));
    let abort = Command::person(Do::Abort { reason: None });
    assert!(matches!(answered(&looker, &id, &abort).await.answer, Answer::Done { .. }));
    assert_eq!(run.rested().await.unwrap(), Phase::Aborted);
    let last = blocking(&*journal).head(&id).unwrap().unwrap().seq;
    while seen.last() != Some(&last) {
        seen.extend(following.next().await.unwrap().unwrap().into_iter().map(|record| record.seq));
    }
    assert_eq!(seen, (1..=last).collect::<Vec<u64>>());
    for (name, receipt) in told {
        assert!(matches!(receipt.answer, Answer::Done { first, last } if first <= last), "{name}");
    }
}

#[tokio::test]
async fn everything_is_stopped_and_carried_on() {
    let root = tempfile::tempdir().unwrap();
    let ids: Vec<RunId> = (0..20).map(|nth| RunId::new(format!("run-{nth}"))).collect();
    {
        let (host, journal) = host(root.path());
        let runs: Vec<_> = ids
            .iter()
            .map(|id| {
                let nodes = ["wait", "last"];
                host.begin(id.clone(), row(&nodes), setting(id, &nodes))
            })
            .collect();
        for id in &ids {
            let mut following = host.follow(id, 0);
            while following
                .next()
                .await
                .unwrap()
                .unwrap()
                .iter()
                .all(|it| it.kind != "turn.started")
            {}
        }
        host.stop("the machine goes down").await;
        for run in runs {
            assert!(matches!(run.rested().await.unwrap(), Phase::Waiting(_)));
        }
        let kinds = |id: &RunId| -> Vec<String> {
            let records = blocking(&*journal).records(id, 0, 100).unwrap();
            records.into_iter().map(|record| record.kind).collect()
        };
        for id in &ids {
            let kinds = kinds(id);
            let end: Vec<&str> = kinds.iter().rev().take(3).map(String::as_str).collect();
            assert_eq!(end, ["run.waiting", "turn.interrupted", "mode.changed"], "{id}");
        }
    }
    // A host that stopped in good order has left nothing to carry on by itself.
    let (host, journal) = host(root.path());
    let left = blocking(&*journal).runs().unwrap();
    assert!(left.iter().all(|line| line.status != CastStatus::Running));
    // People can, and one that was left in the middle is.
    for id in &ids[..10] {
        let lease = journal.claim(id).await.unwrap();
        let resume = Command::person(Do::Resume { pace: None });
        let taken = load_to_drive(&*journal, id).unwrap();
        let patient = setting(id, &["wait", "last"]);
        drop(host.carry_on(lease, taken, resume, patient));
        let mut following = host.follow(id, 0);
        while following.next().await.unwrap().unwrap().iter().all(|it| it.kind != "run.resumed") {}
    }
    assert_eq!(host.runs().len(), 10);
    host.stop("once more").await;
    for id in &ids {
        assert!(matches!(load(&*journal, id).unwrap().0.phase(), Phase::Waiting(_)));
        replay(&*journal, id, None).unwrap();
    }
}

#[tokio::test]
async fn a_run_is_driven_only_with_the_leave_for_just_that_run() {
    let root = tempfile::tempdir().unwrap();
    let (host, journal) = host(root.path());
    let (id, other) = (RunId::new("r"), RunId::new("other"));
    let nodes = ["work", "last"];
    // The leave for another run, and for another plan under the same name.
    for wrong in [setting(&other, &nodes), setting(&id, &["work", "more"])] {
        let rested = host.begin(id.clone(), row(&nodes), wrong).rested().await;
        assert!(matches!(rested, Err(EngineError::NotApproved(_))), "{rested:?}");
    }
    assert!(blocking(&*journal).head(&id).unwrap().is_none(), "nothing was begun");
    let rested = host.begin(id.clone(), row(&["work", "asked"]), setting(&id, &["work", "asked"]));
    assert!(matches!(rested.rested().await.unwrap(), Phase::Waiting(_)));
    let before = blocking(&*journal).head(&id).unwrap().unwrap().seq;
    let lease = journal.claim(&id).await.unwrap();
    let taken = load_to_drive(&*journal, &id).unwrap();
    let resume = Command::person(Do::Resume { pace: None });
    let rested = host.carry_on(lease, taken, resume, setting(&id, &nodes)).rested().await;
    assert!(matches!(rested, Err(EngineError::NotApproved(_))), "{rested:?}");
    assert_eq!(blocking(&*journal).head(&id).unwrap().unwrap().seq, before);
}
