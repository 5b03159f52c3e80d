//! Inputs of utilities: the journal stores them in parts, and the views show them whole.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use materia_contract::{Folders, RunCreated, RunId, TurnOutput};
use materia_engine::{
    BoxFuture, Committed, NoObserver, Observer, Options, Runner, SystemClock, TurnJob, TurnReport,
    Work, World, blocking, cast,
};
use materia_journal::{CatchUp, Options as JournalOptions, SqliteJournal, Views};
use serde_json::{Value, json};
use tempfile::tempdir;

/// Three utilities in a row, of which the first sets a variable.
fn created() -> RunCreated {
    let node = |parse: &str, edges: Value| {
        json!({
            "materia": "m", "parse": parse, "edges": edges, "routing": "first", "mode": "auto",
            "behavior": {"type": "utility", "command": ["x"], "params": {"deep": [1, {"a": "b"}]}},
            "trigger": "on_any_input", "maxInFlight": 1, "consume": "all",
            "outputSelector": "message.final", "onInterrupt": "retry",
        })
    };
    let edge =
        |from: &str, to: &str| json!([{"id": format!("{from}->{to}"), "when": "always", "to": to}]);
    let created = json!({
        "request": "go", "planHash": "0", "cwd": "/p", "runDir": "/p/r",
        "pace": "AUTO", "globalMode": "IMPLEMENTATION", "journalVersion": 5,
        "plan": {
            "loadout": "L", "entry": "a", "docRoot": "docs",
            "nodes": {
                "a": node("json", edge("a", "b")),
                "b": node("text", edge("b", "c")),
                "c": node("text", json!([])),
            },
            "limits": {"maxRepairs": 1, "maxNoAdvanceCycles": 3, "maxConcurrentTurns": 64},
        },
    });
    serde_json::from_value(created).unwrap()
}

/// The inputs of the utilities, by node.
type Read = BTreeMap<String, Value>;

#[derive(Default)]
struct Reader(std::sync::Mutex<Read>);

impl Runner for Reader {
    fn run(&self, job: TurnJob) -> BoxFuture<'static, TurnReport> {
        let Work::Utility { input, .. } = &job.work else { unreachable!("all are utilities") };
        self.0.lock().unwrap().insert(job.node.to_string(), (**input).clone());
        let output = match job.node.as_str() {
            "a" => json!({"state": {"found": ["x", {"y": 1.5}]}}).to_string(),
            _ => "done".to_owned(),
        };
        let outcome = Ok(TurnOutput { output, exit_code: Some(0), ..TurnOutput::default() });
        Box::pin(std::future::ready(TurnReport { outcome, after: Duration::ZERO }))
    }
}

/// Hands on what it hears, and keeps it.
struct Heard(Views, std::sync::Mutex<Vec<Committed>>);

impl Observer for Heard {
    fn committed(&self, news: &Committed) {
        self.1.lock().unwrap().push(news.clone());
        self.0.committed(news);
    }
}

fn inputs(folder: &Path) -> Read {
    let read = |node: &str| {
        let text =
            std::fs::read_to_string(folder.join("sockets").join(node).join("1-1.input.json"));
        (node.to_owned(), serde_json::from_str(&text.unwrap()).unwrap())
    };
    ["a", "b", "c"].map(read).into()
}

/// Runs the utilities to their end.
async fn ran(journal: Arc<SqliteJournal>, observer: Arc<dyn Observer>, run: &RunId) -> Read {
    let reader = Arc::new(Reader::default());
    let clock = Arc::new(SystemClock);
    let world = World { journal, observer, runner: reader.clone(), clock };
    let mut asks = tokio::sync::mpsc::unbounded_channel().1;
    let ended = cast(&world, run.clone(), created(), Options::default(), &mut asks).await.unwrap();
    assert_eq!(ended.status().word(), "completed");
    reader.0.lock().unwrap().clone()
}

/// The same, for those who only need such a run.
pub(crate) async fn run_of_utilities(journal: Arc<SqliteJournal>, run: &RunId) {
    ran(journal, Arc::new(NoObserver), run).await;
}

#[tokio::test]
async fn files_show_what_a_utility_has_read() {
    let root = tempdir().unwrap();
    let journal = Arc::new(SqliteJournal::open(root.path(), JournalOptions::default()).unwrap());
    let heard = Arc::new(Heard(
        Views::start(root.path(), &Folders::default()),
        std::sync::Mutex::default(),
    ));
    let run = RunId::new("cast");
    let read = ran(journal.clone(), heard.clone(), &run).await;
    heard.0.flush().unwrap();
    assert_eq!(read["b"]["state"], json!({"found": ["x", {"y": 1.5}]}));
    let folder = root.path().join(run.as_str());
    assert_eq!(inputs(&folder), read, "while the run goes on");
    let kept = blocking(&*journal).records(&run, 0, 1_000).unwrap();
    let in_parts = |data: &str| data.contains(r#""state":"state""#);
    assert_eq!(kept.iter().filter(|record| in_parts(&record.data)).count(), 3, "kept in parts");

    // Made anew from the journal, by views that were told of so much and no more.
    let events = kept.len() as u64;
    let all = heard.1.lock().unwrap().clone();
    for told in 0..=all.len() {
        std::fs::remove_dir_all(&folder).unwrap();
        let views = Views::start(root.path(), &Folders::default());
        for news in &all[..told] {
            views.committed(news);
        }
        views.flush().unwrap();
        let behind = events - all[..told].iter().map(|news| news.records.len() as u64).sum::<u64>();
        let done = views.catch_up(&*journal, &run).unwrap();
        match (told, behind) {
            (0, _) => assert!(matches!(done, CatchUp::Rebuilt { .. }), "{done:?}"),
            (_, 0) => assert_eq!(done, CatchUp::Current),
            (_, behind) => assert_eq!(done, CatchUp::Appended { events: behind }),
        }
        assert_eq!(inputs(&folder), read, "told {told}");
    }
    std::fs::remove_file(folder.join("events.jsonl")).unwrap();
    std::fs::remove_dir_all(folder.join("sockets")).unwrap();
    let verified = Views::start(root.path(), &Folders::default()).verify(&*journal, &run).unwrap();
    assert!(matches!(verified, CatchUp::Rebuilt { .. }), "{verified:?}");
    assert_eq!(inputs(&folder), read, "verified");
}

/// Looks for its own files when it is started.
struct Looks {
    folder: std::path::PathBuf,
    found: std::sync::Mutex<Read>,
}

impl Runner for Looks {
    fn run(&self, job: TurnJob) -> BoxFuture<'static, TurnReport> {
        let file = self.folder.join("sockets").join(job.node.as_str()).join("1-1.input.json");
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| format!("\"{error}\""));
        let found = serde_json::from_str(&text).unwrap();
        self.found.lock().unwrap().insert(job.node.to_string(), found);
        Reader::default().run(job)
    }
}

#[tokio::test]
async fn a_program_starts_once_its_files_say_what_it_was_given() {
    let root = tempdir().unwrap();
    let journal = Arc::new(SqliteJournal::open(root.path(), JournalOptions::default()).unwrap());
    let observer = Arc::new(Views::start(root.path(), &Folders::default()));
    let run = RunId::new("cast");
    let folder = root.path().join(run.as_str());
    let looks = Arc::new(Looks { folder: folder.clone(), found: std::sync::Mutex::default() });
    let clock = Arc::new(SystemClock);
    let world = World { journal, observer: observer.clone(), runner: looks.clone(), clock };
    let mut asks = tokio::sync::mpsc::unbounded_channel().1;
    cast(&world, run, created(), Options::default(), &mut asks).await.unwrap();
    observer.flush().unwrap();
    assert_eq!(*looks.found.lock().unwrap(), inputs(&folder));
}
