use std::path::Path;

use materia_contract::{Record, RunId};
use materia_engine::{Journal, ReadError};
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
        for after in (0..story.records.len()).step_by(20) {
            let to = story.records.len().min(after + 20);
            journal.append(story.batch(after, to)).await.unwrap();
        }
        stories.push(story);
    }
    stories
}

/// What reading one run came to.
#[derive(Debug, PartialEq)]
enum Seen {
    AsWritten,
    Refused,
    BrokenChain,
    SilentlyDifferent,
}

fn look(journal: &SqliteJournal, story: &Story) -> Seen {
    let count = story.records.len() + 10;
    match journal.read(&story.run, 0, count) {
        Err(ReadError::Damaged { .. } | ReadError::Storage(_)) => Seen::Refused,
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
    let records = journal.read(&stories[1].run, 0, 1_000).unwrap();
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
    let read = journal.read(&story.run, 0, 1_000);
    (story, read)
}

fn place(result: Result<Vec<Record>, ReadError>) -> String {
    match result {
        Err(ReadError::Damaged { place, .. }) => place,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn damage_is_named_by_its_place() {
    let (_, cut) =
        read_after("DELETE FROM events WHERE place > (1 << 40) + 70 AND place < 2 << 40").await;
    assert_eq!(place(cut), "event 71 of cast `one`");
    let (_, gap) = read_after("DELETE FROM events WHERE place = (1 << 40) + 5").await;
    assert_eq!(place(gap), "event 5 of cast `one`");
    let short = "UPDATE events SET hash = x'00' WHERE place = (1 << 40) + 9";
    let (_, short) = read_after(short).await;
    assert_eq!(place(short), "event 9 of cast `one`");
    let nonsense = "UPDATE events SET data = CAST(x'ff' AS TEXT) WHERE place = (1 << 40) + 3";
    let (_, nonsense) = read_after(nonsense).await;
    assert_eq!(place(nonsense), "event 3 of cast `one`");
}

#[tokio::test]
async fn a_changed_event_breaks_the_chain_at_its_place() {
    let changes = ["data = replace(data, 'one says', 'one said')", "ts = ts + 1", "type = 'x.y'"];
    for change in changes {
        let sql = format!("UPDATE events SET {change} WHERE place = (1 << 40) + 11");
        let (story, read) = read_after(&sql).await;
        assert_eq!(first_misfit(&story.run, &read.unwrap()), Some(11), "{change}");
    }
}

#[tokio::test]
async fn an_unknown_run_is_not_damage() {
    let root = tempdir().unwrap();
    written(root.path()).await;
    let journal = SqliteJournal::open_existing(root.path()).unwrap().unwrap();
    assert!(journal.read(&RunId::new("four"), 0, 10).unwrap().is_empty());
    assert!(journal.snapshot(&RunId::new("four")).unwrap().is_none());
}
