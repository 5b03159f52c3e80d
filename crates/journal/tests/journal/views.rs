use std::fs;
use std::path::{Path, PathBuf};

use materia_contract::Folders;
use materia_engine::{Journal, MemoryJournal, Observer};
use materia_journal::{CatchUp, CatchUpError, Options, SqliteJournal, Views};
use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::story::Story;

/// A journal and views in a folder, with a story of two turns told to the journal.
struct Stage {
    root: TempDir,
    journal: MemoryJournal,
    story: Story,
}

impl Stage {
    async fn set() -> Self {
        let mut story = Story::begun("cast");
        story.utility_turn(1, json!({}));
        story.agent_turn(1, " {\"satisfied\": true}\n");
        story.completed();
        let journal = MemoryJournal::default();
        journal.append(story.whole()).await.unwrap();
        Self { root: tempdir().unwrap(), journal, story }
    }

    fn observe(&self, views: &Views, from: usize, to: usize) {
        views.committed(&self.story.news(from, to));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join("cast").join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Every file and what it holds, but for the lock.
    fn files(&self) -> Vec<(PathBuf, String)> {
        fn walk(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                if entry.path().is_dir() {
                    walk(&entry.path(), found);
                } else {
                    found.push((entry.path(), fs::read_to_string(entry.path()).unwrap()));
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.root.path().join("cast"), &mut found);
        found.sort();
        found
    }

    fn catch_up(&self) -> CatchUp {
        let views = Views::start(self.root.path(), &Folders::default());
        let done = views.catch_up(&self.journal, &self.story.run).unwrap();
        assert_eq!(views.catch_up(&self.journal, &self.story.run).unwrap(), CatchUp::Current);
        done
    }

    fn verify(&self) -> CatchUp {
        Views::start(self.root.path(), &Folders::default())
            .verify(&self.journal, &self.story.run)
            .unwrap()
    }
}

#[tokio::test]
async fn turns_leave_their_files() {
    let stage = Stage::set().await;
    let views = Views::start(stage.root.path(), &Folders::default());
    for n in 0..stage.story.records.len() {
        stage.observe(&views, n, n + 1);
    }
    views.flush().unwrap();

    let input: Value = serde_json::from_str(&stage.text("sockets/hello/1-1.input.json")).unwrap();
    assert_eq!(input, json!({"params": {"n": 1}}));
    assert_eq!(stage.text("sockets/hello/1-1.stdout"), "out 1\n");
    assert_eq!(stage.text("sockets/hello/1-1.stderr"), "note\n");
    let meta: Value = serde_json::from_str(&stage.text("sockets/hello/1-1.meta.json")).unwrap();
    assert_eq!(
        meta,
        json!({
            "socket": "hello", "visit": 1, "attempt": 1,
            "command": ["echo", "hi"], "outcome": "completed", "exitCode": 0,
            "durationMs": 5, "startedSeq": 2, "endedSeq": 3,
            "stdout": {"bytes": 6, "dropped": 0, "truncated": false},
            "stderr": {"bytes": 5, "dropped": 0, "truncated": false},
        })
    );
    assert_eq!(stage.text("sockets/ask/1-1.prompt.txt"), "Do it.\n");
    assert_eq!(stage.text("sockets/ask/1-1.output.txt"), " {\"satisfied\": true}\n");
    assert_eq!(stage.text("sockets/ask/1-1.output.json"), "{\"satisfied\": true}");
    let meta: Value = serde_json::from_str(&stage.text("sockets/ask/1-1.meta.json")).unwrap();
    assert_eq!((&meta["socket"], &meta["usage"]), (&json!("ask"), &json!({"inputTokens": 3})));

    let lines: Vec<Value> = stage
        .text("events.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 6);
    let keys: Vec<_> = lines[1].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["seq", "ts", "type", "nodeId", "data", "hash"]);
    assert_eq!(lines[3]["data"]["prompt"], "Do it.\n");
    assert_eq!(lines[5]["hash"], stage.story.last_hash().to_string()[..8]);

    let manifest: Value = serde_json::from_str(&stage.text("manifest.json")).unwrap();
    assert_eq!(
        manifest,
        json!({
            "castId": "cast", "status": "completed", "loadout": "Greeting", "request": "greet",
            "startedAt": "1970-01-01T00:00:00.001Z", "lastSeq": 6,
            "lastHash": stage.story.last_hash().to_string(),
            "contents": ["events.jsonl", "sockets/ask/", "sockets/hello/"],
        })
    );
}

#[tokio::test]
async fn text_is_no_json_and_an_interrupted_turn_has_only_its_meta() {
    let mut stage = Stage::set().await;
    stage.story = Story::begun("cast");
    stage.story.agent_turn(1, "[1]");
    let start = json!({
        "visit": 2, "attempt": 1, "item": null, "cause": {"kind": "input"}, "consumed": [],
        "input": {},
    });
    let turn = stage.story.tell(Some("hello"), "turn.started", start);
    let end = json!({"turn": turn, "visit": 2, "attempt": 1, "reason": "crash"});
    stage.story.tell(Some("hello"), "turn.interrupted", end);
    let views = Views::start(stage.root.path(), &Folders::default());
    stage.observe(&views, 0, stage.story.records.len());
    views.flush().unwrap();
    assert!(!stage.path("sockets/ask/1-1.output.json").exists());
    let meta: Value = serde_json::from_str(&stage.text("sockets/hello/2-1.meta.json")).unwrap();
    assert_eq!((&meta["outcome"], &meta["message"]), (&json!("interrupted"), &json!("crash")));
    assert!(!stage.path("sockets/hello/2-1.stdout").exists());
}

#[tokio::test]
async fn raw_bytes_of_the_runner_are_left_alone() {
    let mut stage = Stage::set().await;
    stage.story = Story::begun("cast");
    stage.story.utility_turn(1, json!({"output": "\u{fffd}", "lossy": true}));
    fs::create_dir_all(stage.path("sockets/hello")).unwrap();
    fs::write(stage.path("sockets/hello/1-1.stdout"), b"\xff").unwrap();
    let views = Views::start(stage.root.path(), &Folders::default());
    stage.observe(&views, 0, stage.story.records.len());
    views.flush().unwrap();
    assert_eq!(fs::read(stage.path("sockets/hello/1-1.stdout")).unwrap(), b"\xff");
    assert_eq!(stage.text("sockets/hello/1-1.stderr"), "note\n");
}

#[tokio::test]
async fn what_a_kill_left_out_is_made_good() {
    let stage = Stage::set().await;
    assert!(matches!(stage.catch_up(), CatchUp::Rebuilt { events: 6, .. }));
    let whole = stage.files();
    // Killed behind every event: views know so much of it and no more.
    for told in 1..=stage.story.records.len() {
        fs::remove_dir_all(stage.path("")).unwrap();
        let views = Views::start(stage.root.path(), &Folders::default());
        stage.observe(&views, 0, told);
        drop(views);
        let expected = match 6 - told as u64 {
            0 => CatchUp::Current,
            events => CatchUp::Appended { events },
        };
        assert_eq!(stage.catch_up(), expected);
        assert_eq!(stage.files(), whole, "told {told}");
    }
}

#[tokio::test]
async fn lines_that_differ_are_made_anew() {
    let stage = Stage::set().await;
    stage.catch_up();
    let whole = stage.files();
    let good = stage.text("events.jsonl");
    let file = stage.path("events.jsonl");

    fs::write(&file, &good[..good.len() - 20]).unwrap();
    assert_eq!(stage.catch_up(), CatchUp::Appended { events: 1 });
    assert_eq!(stage.files(), whole, "a torn line");

    fs::write(&file, format!("{good}not an event\n")).unwrap();
    assert!(matches!(stage.catch_up(), CatchUp::Rebuilt { .. }));
    assert_eq!(stage.files(), whole, "a foreign line");

    fs::write(&file, good.replace("run.completed", "run.complexed")).unwrap();
    assert!(matches!(stage.catch_up(), CatchUp::Rebuilt { .. }));
    assert_eq!(stage.files(), whole, "another last line");

    fs::write(&file, good.replace("out 1", "out 2")).unwrap();
    assert_eq!(stage.catch_up(), CatchUp::Current, "the end alone is looked at");
    assert!(matches!(stage.verify(), CatchUp::Rebuilt { .. }));
    assert_eq!(stage.files(), whole, "another line in the middle");

    fs::write(&file, &good[..good.len() / 2]).unwrap();
    assert!(matches!(stage.verify(), CatchUp::Appended { .. }));
    assert_eq!(stage.files(), whole, "half of it");
    assert_eq!(stage.verify(), CatchUp::Current);
}

#[tokio::test]
async fn a_file_that_knows_more_than_the_journal_is_kept_aside() {
    let mut stage = Stage::set().await;
    stage.catch_up();
    let good = stage.text("events.jsonl");
    stage.story.tell(None, "run.resumed", json!({"cwd": "/p", "runDir": "/p/r"}));
    let views = Views::start(stage.root.path(), &Folders::default());
    views.catch_up(&stage.journal, &stage.story.run).unwrap();
    stage.observe(&views, 6, 7);
    views.flush().unwrap();
    let longer = stage.text("events.jsonl");
    assert_eq!(longer.lines().count(), 7);
    drop(views);
    for _ in 0..2 {
        fs::write(stage.path("events.jsonl"), &longer).unwrap();
        assert!(matches!(stage.verify(), CatchUp::Rebuilt { .. }));
        assert_eq!(stage.text("events.jsonl"), good);
        assert_eq!(stage.text("events.longer.jsonl"), longer);
    }
}

#[tokio::test]
async fn a_damaged_journal_does_not_overwrite_good_views() {
    let root = tempdir().unwrap();
    let stage = Stage::set().await;
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    journal.append(stage.story.whole()).await.unwrap();
    let views = Views::start(root.path(), &Folders::default());
    views.catch_up(&journal, &stage.story.run).unwrap();
    let file = root.path().join("cast/events.jsonl");
    let good = fs::read_to_string(&file).unwrap();
    let edit = rusqlite::Connection::open(root.path().join("journal.db")).unwrap();
    edit.execute("UPDATE decisions SET events = replace(events, 'out 1', 'out 2')", []).unwrap();
    let result = views.verify(&journal, &stage.story.run);
    assert!(matches!(result, Err(CatchUpError::Chain { seq: 3, .. })), "{result:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), good);
}

#[tokio::test]
async fn a_link_in_the_way_is_reported_once_and_never_followed() {
    let stage = Stage::set().await;
    let outside = stage.root.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::create_dir_all(stage.path("sockets")).unwrap();
    std::os::unix::fs::symlink(&outside, stage.path("sockets/hello")).unwrap();
    let views = Views::start(stage.root.path(), &Folders::default());
    stage.observe(&views, 0, 1);
    stage.observe(&views, 1, 6);
    let problem = views.flush().unwrap_err().to_string();
    assert!(problem.contains("sockets/hello") && problem.contains("symbolic link"), "{problem}");
    views.flush().unwrap();
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    assert_eq!(stage.text("events.jsonl").lines().count(), 1, "no line without its files");

    fs::remove_file(stage.path("sockets/hello")).unwrap();
    assert_eq!(
        views.catch_up(&stage.journal, &stage.story.run).unwrap(),
        CatchUp::Appended { events: 5 }
    );
}

#[tokio::test]
async fn what_has_the_name_of_a_file_of_ours_gives_way_and_is_never_written_to() {
    let stage = Stage::set().await;
    let outside = stage.root.path().join("outside");
    fs::write(&outside, "mine").unwrap();
    fs::create_dir_all(stage.path("sockets/hello")).unwrap();
    std::os::unix::fs::symlink(&outside, stage.path("sockets/hello/1-1.stdout")).unwrap();
    fs::hard_link(&outside, stage.path("sockets/hello/1-1.stderr")).unwrap();
    std::os::unix::fs::symlink(&outside, stage.path("events.jsonl")).unwrap();
    std::os::unix::fs::symlink(&outside, stage.path("manifest.json")).unwrap();
    let views = Views::start(stage.root.path(), &Folders::default());
    stage.observe(&views, 0, 6);
    views.flush().unwrap();
    assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
    for name in ["sockets/hello/1-1.stdout", "sockets/hello/1-1.stderr", "events.jsonl"] {
        let found = fs::symlink_metadata(stage.path(name)).unwrap();
        assert!(found.is_file(), "{name}");
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o777, 0o600);
    }
    assert_eq!(stage.verify(), CatchUp::Current);
}

#[tokio::test]
async fn a_run_goes_on_after_catching_up() {
    let mut stage = Stage::set().await;
    let views = Views::start(stage.root.path(), &Folders::default());
    stage.observe(&views, 0, 2);
    views.catch_up(&stage.journal, &stage.story.run).unwrap();
    stage.story.tell(None, "run.resumed", json!({"cwd": "/p", "runDir": "/p/r"}));
    stage.story.utility_turn(2, json!({}));
    stage.journal.append(stage.story.batch(6, 9)).await.unwrap();
    stage.observe(&views, 6, 9);
    views.flush().unwrap();
    assert_eq!(stage.text("events.jsonl").lines().count(), 9);
    let manifest: Value = serde_json::from_str(&stage.text("manifest.json")).unwrap();
    assert_eq!((&manifest["status"], &manifest["lastSeq"]), (&json!("running"), &json!(9)));
    let meta: Value = serde_json::from_str(&stage.text("sockets/hello/2-1.meta.json")).unwrap();
    assert_eq!(meta["command"], json!(["echo", "hi"]));
    drop(views);
    assert_eq!(stage.verify(), CatchUp::Current);
}

#[test]
fn more_runs_than_open_files() {
    let root = tempdir().unwrap();
    let views = Views::start(root.path(), &Folders::default());
    let mut stories: Vec<_> = (0..300).map(|n| Story::begun(&format!("cast-{n}"))).collect();
    for visit in 1..=3 {
        for story in &mut stories {
            let from = if visit == 1 { 0 } else { story.records.len() };
            story.utility_turn(visit, json!({}));
            views.committed(&story.news(from, story.records.len()));
        }
    }
    views.flush().unwrap();
    for story in &stories {
        let file = root.path().join(story.run.as_str()).join("events.jsonl");
        assert_eq!(fs::read_to_string(file).unwrap().lines().count(), 7);
    }
}
