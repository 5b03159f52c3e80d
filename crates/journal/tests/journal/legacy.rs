//! Journals of the version before, whose events were kept without their inputs.

use std::path::Path;

use materia_contract::{ChainHash, CommandId, Do, Record, RunId};
use materia_engine::journal_contract::sample_records;
use materia_engine::{AppendError, Journal, blocking};
use materia_journal::{JOURNAL_FILE, Options, SqliteJournal};
use serde_json::json;
use tempfile::tempdir;

use crate::full::Mounted;
use crate::story::{Form, Story, batch};

/// The tables as that version made them.
const FORMAT_1: &str = "
CREATE TABLE runs (
    run       INTEGER PRIMARY KEY,
    id        TEXT NOT NULL UNIQUE,
    status    TEXT NOT NULL,
    loadout   TEXT NOT NULL,
    request   TEXT NOT NULL,
    started   INTEGER NOT NULL,
    from_cast TEXT
) STRICT;
CREATE TABLE heads (
    run  INTEGER PRIMARY KEY REFERENCES runs,
    seq  INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT;
CREATE TABLE events (
    place INTEGER PRIMARY KEY,
    ts    INTEGER NOT NULL,
    lag   INTEGER NOT NULL,
    type  TEXT NOT NULL,
    node  TEXT,
    data  TEXT NOT NULL,
    hash  BLOB NOT NULL
) STRICT;
CREATE VIEW log AS
    SELECT runs.id AS cast_id, place & 1099511627775 AS seq, ts, ts - lag AS wall, type, node, data, hash
    FROM events JOIN runs ON runs.run = place >> 40;
CREATE TABLE snapshots (
    run      INTEGER PRIMARY KEY REFERENCES runs,
    seq      INTEGER NOT NULL,
    hash     BLOB NOT NULL,
    version  TEXT NOT NULL,
    bytes    BLOB NOT NULL,
    checksum BLOB NOT NULL
) STRICT;
CREATE TABLE inbox (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id  TEXT NOT NULL,
    command TEXT NOT NULL
) STRICT;
PRAGMA user_version = 1;
";

/// A file as that version left it, with one run.
fn file_of_format_1(root: &Path) -> Story {
    let mut story = Story::begun_as("old", Form::Legacy);
    story.utility_turn(1, json!({}));
    story.agent_turn(1, "done");
    std::fs::create_dir_all(root).unwrap();
    let old = rusqlite::Connection::open(root.join(JOURNAL_FILE)).unwrap();
    let mode: String = old.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    old.execute_batch(FORMAT_1).unwrap();
    old.execute(
        "INSERT INTO runs VALUES (1, 'old', 'running', 'Greeting', 'greet', 1000, NULL)",
        [],
    )
    .unwrap();
    for record in &story.records {
        old.execute(
            "INSERT INTO events VALUES ((1 << 40) | ?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            rusqlite::params![
                record.seq.cast_signed(),
                record.ts,
                record.ts - record.wall,
                record.kind,
                record.node,
                record.data,
                record.hash.0,
            ],
        )
        .unwrap();
    }
    let last = story.records.last().unwrap();
    old.execute(
        "INSERT INTO heads VALUES (1, ?1, ?2)",
        rusqlite::params![last.seq.cast_signed(), last.hash.0],
    )
    .unwrap();
    let command = r#"{"command":"stop"}"#;
    old.execute("INSERT INTO inbox (run_id, command) VALUES ('old', ?1)", [command]).unwrap();
    story
}

/// Reads the run in bites of every size and compares.
fn reads(journal: &SqliteJournal, run: &RunId, records: &[Record]) {
    for after in 0..=records.len() {
        for limit in 0..=records.len() + 1 {
            let to = records.len().min(after + limit);
            let read = blocking(journal).records(run, after as u64, limit).unwrap();
            assert_eq!(read, records[after..to], "{after}, {limit}");
        }
    }
    let (head, last) = (blocking(journal).head(run).unwrap().unwrap(), records.last().unwrap());
    assert_eq!((head.seq, head.ts, head.hash), (last.seq, last.ts, last.hash));
}

#[tokio::test]
async fn it_is_read_and_carried_on() {
    let root = tempdir().unwrap();
    let mut story = file_of_format_1(root.path());
    let run = story.run.clone();
    let journal = SqliteJournal::open_existing(root.path()).unwrap().unwrap();
    reads(&journal, &run, &story.records);
    assert!(blocking(&journal).chapters(&run).unwrap().is_empty());
    let waiting = blocking(&journal).commands(&run).unwrap();
    let stop = waiting[0].command.as_ref().map(|command| &command.what);
    assert_eq!(stop, Ok(&Do::Stop { message: None }));
    assert_eq!(waiting[0].id, Some(CommandId::numbered(1)));

    // With decisions from now on.
    story.form = Form::Decided;
    let before = story.records.len();
    story.tell(None, "run.resumed", json!({"cwd": "/p", "runDir": "/p/r"}));
    story.utility_turn(2, json!({}));
    let between = story.records.len();
    story.utility_turn(3, json!({}));
    story.completed();
    let all = story.records.len();
    journal.append(story.batch(before, between)).await.unwrap();
    reads(&journal, &run, &story.records[..between]);
    journal.append(story.batch(between, all)).await.unwrap();
    reads(&journal, &run, &story.records);
    let look = rusqlite::Connection::open(root.path().join(JOURNAL_FILE)).unwrap();
    let count = |table: &str| -> u32 {
        look.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    };
    let counts = ["events", "decisions", "log"].map(|table| count(table) as usize);
    assert_eq!(counts, [before, 4, all]);

    // And never again without.
    story.form = Form::Legacy;
    story.tell(None, "run.resumed", json!({"cwd": "/p", "runDir": "/p/r"}));
    let refused = journal.append(story.batch(all, all + 1)).await;
    assert!(matches!(refused, Err(AppendError::Storage(_))), "{refused:?}");
    drop(journal);
    // Nor by somebody who has not written the decisions himself.
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    let refused = journal.append(story.batch(all, all + 1)).await;
    assert!(matches!(refused, Err(AppendError::Storage(_))), "{refused:?}");
    reads(&journal, &run, &story.records[..all]);
}

#[tokio::test]
async fn two_who_carry_it_on_cannot_both_succeed() {
    let root = tempdir().unwrap();
    let story = file_of_format_1(root.path());
    let (run, after) = (&story.run, story.records.len() as u64);
    let open = || SqliteJournal::open(root.path(), Options::default()).unwrap();
    let (one, other) = (open(), open());
    let undecided = |after: u64, previous: ChainHash| {
        let mut records = sample_records(run, after, 1, previous);
        records[0].input = None;
        records[0].hash = records[0].hash_after(previous);
        records
    };
    // Both write without decisions and take turns, so that each knows where it was last.
    let first = undecided(after, story.last_hash());
    one.append(batch(run, after, first.clone())).await.unwrap();
    let second = undecided(after + 1, first[0].hash);
    other.append(batch(run, after + 1, second.clone())).await.unwrap();
    let stale = sample_records(run, after + 1, 2, first[0].hash);
    let refused = one.append(batch(run, after + 1, stale)).await;
    let actual = after + 2;
    assert!(
        matches!(refused, Err(AppendError::Conflict { actual: found, .. }) if found == actual),
        "{refused:?}"
    );
    // One decides; the other, who knows only events without decisions, comes too late.
    let decided = sample_records(run, actual, 2, second[0].hash);
    one.append(batch(run, actual, decided)).await.unwrap();
    let refused = other.append(batch(run, actual, undecided(actual, second[0].hash))).await;
    assert!(matches!(refused, Err(AppendError::Conflict { .. })), "{refused:?}");
    let late = sample_records(run, actual, 2, second[0].hash);
    let refused = other.append(batch(run, actual, late)).await;
    assert!(matches!(refused, Err(AppendError::Conflict { .. })), "{refused:?}");
    assert_eq!(blocking(&one).records(run, 0, 100).unwrap().len() as u64, actual + 2);
}

#[tokio::test]
async fn a_fork_of_it_begins_without_decisions_and_goes_on_with_them() {
    let root = tempdir().unwrap();
    let mut story = Story::begun_as("fork", Form::Legacy);
    story.utility_turn(1, json!({}));
    story.form = Form::Decided;
    story.utility_turn(2, json!({}));
    story.utility_turn(3, json!({}));
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    journal.append(story.whole()).await.unwrap();
    assert_eq!((journal.stats().commits, journal.stats().decisions), (1, 2));
    reads(&journal, &story.run, &story.records);
}

#[tokio::test]
#[allow(clippy::print_stderr, reason = "whoever looks should know that it was skipped")]
async fn it_is_read_where_nothing_may_be_written() {
    use std::process::Command as Run;
    let root = tempdir().unwrap();
    let disk = root.path().join("disk");
    let story = file_of_format_1(&disk);
    let mount = |arguments: &[&str]| {
        let done = Run::new("mount").args(arguments).arg(&disk).output();
        done.is_ok_and(|output| output.status.success())
    };
    let source = disk.to_str().unwrap();
    if !mount(&["--bind", source]) {
        eprintln!("skipped: nothing can be mounted here");
        return;
    }
    let _mounted = Mounted(&disk);
    assert!(mount(&["-o", "remount,ro,bind"]));
    let journal = SqliteJournal::open_existing(&disk).unwrap().unwrap();
    reads(&journal, &story.run, &story.records);
    assert!(blocking(&journal).chapters(&story.run).unwrap().is_empty());
    assert_eq!(blocking(&journal).receipt(&story.run, &CommandId::numbered(1)).unwrap(), None);
    assert_eq!(blocking(&journal).commands(&story.run).unwrap().len(), 1);
    assert_eq!(blocking(&journal).runs().unwrap().len(), 1);
}
