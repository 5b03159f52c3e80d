use std::path::Path;

use materia_contract::{Record, RunId};
use materia_engine::{Journal, ReadError, blocking};
use materia_journal::{JOURNAL_FILE, Options, SqliteJournal};
use tempfile::tempdir;

use crate::story::{Story, first_misfit};

/// A few runs of some length, closed.
async fn written(root: &Path) -> Vec<Story> {
    let journal = SqliteJournal::open(root, Options::default()).unwrap();
    let mut stories = Vec::new();
    for name in ["one", "two", "three"] {
        let mut story = Story::begun(name);
        for visit in 1..=40 {
            let extra = serde_json::json!({ "output": format!("{name} says {visit}") });
            story.utility_turn(visit, extra);
        }
        story.completed();
        for batch in story.batches(20) {
            journal.append(batch).await.unwrap();
        }
        stories.push(story);
    }
    stories
}

/// Result of reading one run.
#[derive(Debug, PartialEq)]
enum Seen {
    AsWritten,
    Refused,
    BrokenChain,
    SilentlyDifferent,
}

fn look(journal: &SqliteJournal, story: &Story) -> Seen {
    let count = story.records.len() + 10;
    match blocking(journal).records(&story.run, 0, count) {
        Err(ReadError::Damaged { .. } | ReadError::Storage(_) | ReadError::NoSuchPlace) => {
            Seen::Refused
        }
        Ok(records) if records == story.records => Seen::AsWritten,
        Ok(records) if first_misfit(&story.run, &records).is_some() => Seen::BrokenChain,
        Ok(_) => Seen::SilentlyDifferent,
    }
}

/// Small and good enough to pick places: the numbers need not be random, only scattered.
fn scattered(seed: &mut u64) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*seed >> 33).unwrap()
}

#[tokio::test]
async fn a_flipped_byte_is_never_read_as_if_nothing_were() {
    let root = tempdir().unwrap();
    let stories = written(root.path()).await;
    let whole = std::fs::read(root.path().join(JOURNAL_FILE)).unwrap();
    let other = tempdir().unwrap();
    let mut seed = 42;
    let mut noticed = 0;
    for _ in 0..500 {
        let at = scattered(&mut seed) % whole.len();
        let flip = 1 << (scattered(&mut seed) % 8);
        let mut bytes = whole.clone();
        bytes[at] ^= flip;
        std::fs::write(other.path().join(JOURNAL_FILE), bytes).unwrap();
        let Ok(Some(journal)) = SqliteJournal::open_existing(other.path()) else {
            noticed += 1;
            continue;
        };
        for story in &stories {
            let verdict = look(&journal, story);
            assert_ne!(verdict, Seen::SilentlyDifferent, "byte {at} ^ {flip}, cast {}", story.run);
            noticed += usize::from(verdict != Seen::AsWritten);
        }
    }
    assert!(noticed > 100, "most flips hit something: {noticed}");
}

#[tokio::test]
async fn a_flip_in_the_text_of_one_run_leaves_the_others_readable() {
    let root = tempdir().unwrap();
    let stories = written(root.path()).await;
    let path = root.path().join(JOURNAL_FILE);
    let mut bytes = std::fs::read(&path).unwrap();
    let needle = b"two says 17";
    let at = bytes.windows(needle.len()).position(|window| window == needle).unwrap();
    bytes[at + 9] ^= 1;
    std::fs::write(&path, bytes).unwrap();

    let journal = SqliteJournal::open_existing(root.path()).unwrap().unwrap();
    assert_eq!(look(&journal, &stories[0]), Seen::AsWritten);
    assert_eq!(look(&journal, &stories[2]), Seen::AsWritten);
    let records = blocking(&journal).records(&stories[1].run, 0, 1_000).unwrap();
    assert_eq!(first_misfit(&stories[1].run, &records), Some(1 + 17 * 2));
}

/// Edits a closed journal by hand and reads one run.
async fn read_after(sql: &str) -> (Story, Result<Vec<Record>, ReadError>) {
    let root = tempdir().unwrap();
    let mut stories = written(root.path()).await;
    let edit = rusqlite::Connection::open(root.path().join(JOURNAL_FILE)).unwrap();
    edit.execute_batch(sql).unwrap();
    drop(edit);
    let journal = SqliteJournal::open_existing(root.path()).unwrap().unwrap();
    assert_eq!(look(&journal, &stories[2]), Seen::AsWritten);
    let story = stories.remove(0);
    let read = blocking(&journal).records(&story.run, 0, 1_000);
    (story, read)
}

fn place(result: Result<Vec<Record>, ReadError>) -> String {
    match result {
        Err(ReadError::Damaged { place, .. }) => place,
        other => panic!("{other:?}"),
    }
}

/// Where a read finds damage after an edit of the first run's row at `seq`.
async fn place_after(edit: &str, seq: u64) -> String {
    let sql = match edit {
        "delete" => format!("DELETE FROM decisions WHERE place = (1 << 40) + {seq}"),
        set => format!("UPDATE decisions SET {set} WHERE place = (1 << 40) + {seq}"),
    };
    place(read_after(&sql).await.1)
}

#[tokio::test]
async fn damage_in_a_decision_is_named_by_the_place_of_its_event() {
    let cut = "DELETE FROM decisions WHERE place > (1 << 40) + 70 AND place < 2 << 40";
    assert_eq!(place(read_after(cut).await.1), "event 72 of cast `one`");
    // Each decision but the first and the last has two events, the first of which is even.
    let edits = [
        ("delete", 6, 6),
        ("place = place + 1", 6, 6),
        ("hashes = x'00'", 8, 8),
        ("hashes = x''", 8, 8),
        ("hashes = substr(hashes, 1, 35)", 8, 8),
        ("hashes = substr(hashes, 5)", 8, 9),
        ("hashes = CAST(hashes || x'00000000' AS BLOB)", 8, 10),
        ("events = CAST(x'ff' AS TEXT)", 8, 8),
        ("events = ''", 8, 8),
        ("events = '[]'", 8, 8),
        ("events = json_array(events -> 0)", 8, 9),
        ("events = replace(events, '[\"turn.completed\"', '[5')", 8, 9),
        ("events = substr(events, 1, length(events) - 1)", 8, 9),
        ("events = substr(events, 1, length(events) - 3)", 8, 9),
        ("input = CAST(x'ff' AS TEXT)", 8, 8),
    ];
    for (edit, at, seq) in edits {
        let found = place_after(edit, at).await;
        assert_eq!(found, format!("event {seq} of cast `one`"), "{edit}");
    }
}

#[tokio::test]
async fn a_changed_event_breaks_the_chain_at_its_place() {
    let changes = [
        ("events = replace(events, 'one says', 'one said')", 11),
        ("events = replace(events, 'turn.completed', 'turn.failed')", 11),
        ("events = replace(events, '\"hello\"', 'null')", 10),
        ("ts = ts + 1", 10),
        ("lag = lag + 1", 10),
        ("input = input || ' '", 10),
        ("hashes = CAST(substr(hashes, 1, 4) || zeroblob(32) AS BLOB)", 11),
        ("hashes = zeroblob(36)", 10),
    ];
    for (change, seq) in changes {
        let sql = format!("UPDATE decisions SET {change} WHERE place = (1 << 40) + 10");
        let (story, read) = read_after(&sql).await;
        assert_eq!(first_misfit(&story.run, &read.unwrap()), Some(seq), "{change}");
    }
}

#[tokio::test]
async fn an_unknown_run_is_not_damage() {
    let root = tempdir().unwrap();
    written(root.path()).await;
    let journal = SqliteJournal::open_existing(root.path()).unwrap().unwrap();
    assert!(blocking(&journal).records(&RunId::new("four"), 0, 10).unwrap().is_empty());
    assert!(blocking(&journal).snapshot(&RunId::new("four")).unwrap().is_none());
    assert!(blocking(&journal).chapters(&RunId::new("four")).unwrap().is_empty());
}
