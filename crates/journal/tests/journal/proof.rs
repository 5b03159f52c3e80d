//! A journal can be checked from `docs/reference/journal.md` alone, by an independent program.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use materia_contract::RunId;
use materia_engine::{Journal, blocking};
use materia_journal::{FileBlobs, JOURNAL_FILE, Options, SqliteJournal};
use serde_json::{Value, json};
use tempfile::tempdir;

use crate::inputs::run_of_utilities;
use crate::story::Story;

/// The other program's report of each cast, and whether it succeeded. `None` where there is no Python.
#[allow(clippy::print_stderr, reason = "whoever looks should know that it was skipped")]
fn checked(root: &Path) -> Option<(Vec<Value>, bool)> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check_journal.py");
    let run = Command::new("python3").arg("-B").arg(script).arg(root.join(JOURNAL_FILE)).output();
    let Ok(output) = run else {
        eprintln!("skipped: there is no python3 here");
        return None;
    };
    let said = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!lines.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    Some((lines, output.status.success()))
}

/// Three casts, of which one is real. Gives how many events and decisions that one has.
async fn written(root: &Path) -> (usize, usize) {
    let journal = Arc::new(SqliteJournal::open(root, Options::default()).unwrap());
    let real = RunId::new("real");
    run_of_utilities(Arc::clone(&journal), &real).await;
    let records = blocking(&*journal).records(&real, 0, 1_000).unwrap();
    let decisions = records.iter().filter(|record| record.input.is_some()).count();
    for name in ["one", "other"] {
        let mut story = Story::begun(name);
        story.utility_turn(1, json!({"output": "ü \"quoted\"\n".repeat(400)}));
        story.agent_turn(1, "{\"satisfied\": true}");
        story.completed();
        journal.append(story.whole()).await.unwrap();
    }
    (records.len(), decisions)
}

#[tokio::test]
async fn others_can_check_a_journal() {
    let root = tempdir().unwrap();
    let (events, decisions) = written(root.path()).await;
    let Some((casts, good)) = checked(root.path()) else { return };
    assert!(good, "{casts:?}");
    let line = |cast: &str, events: usize, decisions: usize, inputs: usize| {
        json!({
            "cast": cast, "events": events, "decisions": decisions,
            "inputs": inputs, "inputsSkipped": 0, "blobs": 0,
        })
    };
    assert_eq!(casts[0], line("real", events, decisions, 3));
    assert_eq!(casts[1..], [line("one", 6, 5, 0), line("other", 6, 5, 0)]);
}

#[tokio::test]
async fn others_can_check_long_texts_and_find_what_was_changed_in_them() {
    let root = tempdir().unwrap();
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    let mut story = Story::begun("long");
    let honest = json!({"$blob": "said", "$$blob": ["too"]});
    story.utility_turn(1, json!({"output": "ü \"quoted\"\n".repeat(6_000), "workItems": [honest]}));
    story.completed();
    let batch = story.whole();
    let blobs: Vec<_> = batch.records.iter().flat_map(materia_contract::Record::blobs).collect();
    assert_eq!(blobs.len(), 1);
    let hash = journal.blobs().put(blobs[0].text.clone().into_bytes()).await.unwrap();
    journal.append(batch).await.unwrap();
    let Some((casts, good)) = checked(root.path()) else { return };
    assert!(good, "{casts:?}");
    assert_eq!(casts[0]["blobs"], 1);
    let path = FileBlobs::of(root.path()).path(hash);
    std::fs::write(&path, "another text").unwrap();
    let (casts, good) = checked(root.path()).unwrap();
    assert!(!good);
    assert_eq!(casts[0]["wrong"], format!("event 3: the blob {hash} was altered"));
    std::fs::remove_file(&path).unwrap();
    let (casts, _) = checked(root.path()).unwrap();
    assert_eq!(casts[0]["wrong"], format!("event 3: the blob {hash} is missing"));
}

#[tokio::test]
async fn others_find_what_was_changed() {
    let edits = [
        ("UPDATE decisions SET events = replace(events, 'params', 'Params')", "real", "event 1:"),
        ("UPDATE decisions SET input = input || ' ' WHERE place & 255 = 6", "one", "event 6:"),
        ("UPDATE decisions SET ts = ts + 1 WHERE place & 255 = 4", "one", "event 4:"),
        ("DELETE FROM decisions WHERE place & 255 = 4", "other", "event 4:"),
        ("DELETE FROM decisions WHERE place & 255 = 6", "other", "event 6:"),
        ("UPDATE heads SET hash = zeroblob(32)", "one", "event 6:"),
    ];
    for (edit, cast, place) in edits {
        let root = tempdir().unwrap();
        written(root.path()).await;
        let open = rusqlite::Connection::open(root.path().join(JOURNAL_FILE)).unwrap();
        open.execute_batch(edit).unwrap();
        drop(open);
        let Some((casts, good)) = checked(root.path()) else { return };
        assert!(!good, "{edit}");
        let line = casts.iter().find(|line| line["cast"] == cast).unwrap();
        let wrong = line["wrong"].as_str().unwrap_or_default();
        assert!(wrong.starts_with(place), "{edit}: {line}");
    }
}
