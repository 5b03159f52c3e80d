//! Every follower gets the events in the order on disk, with many runs and followers at once.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use materia_contract::{Folders, Record, RunCreated, RunId, TurnOutput};
use materia_engine::{
    BoxFuture, Committed, Observer, Options, Runner, SystemClock, TurnJob, TurnReport, World,
    blocking, cast,
};
use materia_journal::{Options as JournalOptions, SqliteJournal, Views};
use serde_json::{Value, json};
use tempfile::tempdir;

const RUNS: usize = 6;
const WORKERS: usize = 24;

/// One node that starts many, each of which feeds a last one.
fn created() -> RunCreated {
    let node = |edges: Vec<Value>| {
        json!({
            "materia": "m", "behavior": {"type": "utility", "command": ["x"], "params": {}},
            "parse": "text", "edges": edges, "routing": "all", "mode": "auto",
            "trigger": "on_any_input", "maxInFlight": 1, "consume": "all",
            "outputSelector": "message.final", "onInterrupt": "retry",
        })
    };
    let edge =
        |from: &str, to: &str| json!({"id": format!("{from}->{to}"), "when": "always", "to": to});
    let workers: Vec<String> = (0..WORKERS).map(|nth| format!("w{nth}")).collect();
    let mut nodes = serde_json::Map::new();
    nodes.insert("a".into(), node(workers.iter().map(|to| edge("a", to)).collect()));
    for worker in &workers {
        nodes.insert(worker.clone(), node(vec![edge(worker, "z")]));
    }
    nodes.insert("z".into(), node(Vec::new()));
    let created = json!({
        "request": "go", "planHash": "0", "cwd": "/p", "runDir": "/p/r",
        "pace": "AUTO", "globalMode": "IMPLEMENTATION", "journalVersion": 5,
        "plan": {
            "loadout": "L", "entry": "a", "docRoot": "docs", "nodes": nodes,
            "limits": {"maxRepairs": 1, "maxNoAdvanceCycles": 3, "maxConcurrentTurns": 64},
        },
    });
    serde_json::from_value(created).unwrap()
}

/// Turns that end in an order of their own.
struct Uneven;

impl Runner for Uneven {
    fn run(&self, job: TurnJob) -> BoxFuture<'static, TurnReport> {
        let millis = job.turn.wrapping_mul(7_919) % 11;
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            let outcome = Ok(TurnOutput { output: "done".into(), ..TurnOutput::default() });
            TurnReport { outcome, after: Duration::ZERO }
        })
    }
}

/// Hears what is committed, looks whether it is on disk already, and hands it to the views.
struct Followers {
    journal: Arc<SqliteJournal>,
    views: Views,
    heard: Mutex<BTreeMap<String, Vec<Record>>>,
}

impl Observer for Followers {
    fn committed(&self, news: &Committed) {
        let Committed { run, records, .. } = news;
        let before = records[0].seq - 1;
        let on_disk = blocking(&*self.journal).records(run, before, records.len()).unwrap();
        assert_eq!(on_disk, **records, "what is told is durable, and there in this order");
        self.heard.lock().unwrap().entry(run.to_string()).or_default().extend(records.to_vec());
        self.views.committed(news);
    }
}

/// Follows a run by reading, as another process would, until told that nothing more comes.
fn follow(root: &Path, run: &RunId, over: &AtomicBool) -> Vec<Record> {
    let mut seen: Vec<Record> = Vec::new();
    loop {
        let last_look = over.load(Ordering::SeqCst);
        let journal = SqliteJournal::open_existing(root).unwrap();
        if let Some(journal) = journal {
            // Small bites, so that a follower is often in the middle of what is being written.
            loop {
                let more = blocking(&journal).records(run, seen.len() as u64, 3).unwrap();
                if more.is_empty() {
                    break;
                }
                seen.extend(more);
            }
        }
        if last_look {
            return seen;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_follower_is_shown_the_order_on_disk() {
    let root = tempdir().unwrap();
    let journal = Arc::new(SqliteJournal::open(root.path(), JournalOptions::default()).unwrap());
    let followers = Arc::new(Followers {
        journal: Arc::clone(&journal),
        views: Views::start(root.path(), &Folders::default()),
        heard: Mutex::default(),
    });
    let world = World {
        journal: journal.clone(),
        observer: followers.clone(),
        runner: Arc::new(Uneven),
        clock: Arc::new(SystemClock),
    };
    let over = Arc::new(AtomicBool::new(false));
    let names: Vec<RunId> = (0..RUNS).map(|nth| RunId::new(format!("run-{nth}"))).collect();
    // Two that read each run from the outside, beside those that are told.
    let readers: Vec<_> = names
        .iter()
        .chain(&names)
        .map(|run| {
            let (root, run, over) = (root.path().to_owned(), run.clone(), Arc::clone(&over));
            let of = run.to_string();
            (of, std::thread::spawn(move || follow(&root, &run, &over)))
        })
        .collect();
    let runs: Vec<_> = names
        .iter()
        .map(|run| {
            let (world, run) = (world.clone(), run.clone());
            tokio::spawn(async move {
                let mut asks = tokio::sync::mpsc::unbounded_channel().1;
                cast(&world, run, created(), Options::default(), &mut asks).await.unwrap()
            })
        })
        .collect();
    for run in runs {
        assert_eq!(run.await.unwrap().status().word(), "completed");
    }
    over.store(true, Ordering::SeqCst);
    followers.views.flush().unwrap();
    let heard = followers.heard.lock().unwrap().clone();
    let disk = |run: &str| blocking(&*journal).records(&RunId::new(run), 0, 100_000).unwrap();
    for run in &names {
        let on_disk = disk(run.as_str());
        assert!(on_disk.len() > WORKERS * 6, "{}", on_disk.len());
        assert!(on_disk.iter().map(|record| record.seq).eq(1..=on_disk.len() as u64));
        assert!(on_disk.is_sorted_by_key(|record| record.ts), "logical time agrees");
        assert_eq!(heard[run.as_str()], on_disk, "who was told");
        let lines = std::fs::read_to_string(root.path().join(run.as_str()).join("events.jsonl"));
        let shown: Vec<u64> = lines
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap())
            .collect();
        assert!(shown.into_iter().eq(1..=on_disk.len() as u64), "the view");
    }
    for (run, reader) in readers {
        assert_eq!(reader.join().unwrap(), disk(&run), "who reads {run} from outside");
    }
}
