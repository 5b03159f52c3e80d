//! A journal of the first program with this format: every later one must read it.
//!
//! `tests/golden.sql` is its dump, without the caches: a cast in the project folder (journal version 5) and one with
//! a workspace (6).

use std::path::Path;
use std::sync::Arc;

use materia_contract::{ChainHash, EventBody, Record, RunId};
use materia_engine::{Journal, blocking, load, replay};
use materia_journal::{JOURNAL_FILE, OpenError, Options, SqliteJournal};
use rusqlite::Connection;
use tempfile::tempdir;

use crate::story::batch;

const CASTS: [(&str, u64, &str); 2] = [
    ("folder", 59, "944af9eb41c76e2721e98418106a01d5cc0a27c7e29c30049ae0ae0332dc0bd7"),
    ("workspace", 58, "99d55f8ebe7c8928c11b1e29164ea0235b52336ea3b59b96d966a997eb2c58c4"),
];

/// A row of `decisions`.
type Row = (i64, i64, i64, Vec<u8>, String, String);

/// Makes the file of the dump.
fn golden(root: &Path) {
    let file = Connection::open(root.join(JOURNAL_FILE)).unwrap();
    file.execute_batch(include_str!("../golden.sql")).unwrap();
}

fn records(journal: &SqliteJournal, cast: &str) -> Vec<Record> {
    blocking(journal).records(&RunId::new(cast), 0, 10_000).unwrap()
}

/// Everything that a file defines, and its decisions.
fn contents(root: &Path) -> (Vec<String>, Vec<Row>) {
    let file = Connection::open(root.join(JOURNAL_FILE)).unwrap();
    let mut defined =
        file.prepare("SELECT ifnull(sql, name) FROM sqlite_schema ORDER BY 1").unwrap();
    let defined = defined.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let all = "SELECT place, ts, lag, hashes, input, events FROM decisions ORDER BY place";
    let mut rows = file.prepare(all).unwrap();
    let row = |row: &rusqlite::Row<'_>| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
    };
    let rows = rows.query_map([], row).unwrap().map(Result::unwrap).collect();
    (defined, rows)
}

#[tokio::test]
async fn it_is_read_decided_again_and_written_again_byte_for_byte() {
    let (root, other) = (tempdir().unwrap(), tempdir().unwrap());
    golden(root.path());
    let journal = SqliteJournal::open_existing(root.path()).unwrap().unwrap();
    let again = SqliteJournal::open(other.path(), Options::default()).unwrap();
    for (cast, events, hash) in CASTS {
        let run = RunId::new(cast);
        let found = replay(&journal, &run, None).unwrap();
        assert_eq!((found.events, found.undecided), (events, 0), "{cast}");
        assert_eq!(found.last_hash.to_string(), hash, "{cast}");
        assert_eq!(load(&journal, &run).unwrap().1, found.last_hash, "{cast}");
        again.append(batch(&run, 0, records(&journal, cast))).await.unwrap();
    }
    drop((journal, again));
    assert_eq!(contents(root.path()), contents(other.path()));
}

#[test]
fn earlier_formats_are_refused_by_name() {
    for format in 1..7 {
        let root = tempdir().unwrap();
        golden(root.path());
        let file = Connection::open(root.path().join(JOURNAL_FILE)).unwrap();
        file.pragma_update(None, "user_version", format).unwrap();
        drop(file);
        for refused in [
            SqliteJournal::open(root.path(), Options::default()).map(|_| ()),
            SqliteJournal::open_existing(root.path()).map(|_| ()),
        ] {
            let error = refused.unwrap_err();
            assert!(matches!(error, OpenError::Earlier { .. }), "{error}");
            let told = format!(
                "earlier, unreleased version of materia (format {format}; this one reads 7): look at it with that version, or move it away"
            );
            assert!(error.to_string().ends_with(&told), "{error}");
        }
    }
}

#[tokio::test]
async fn a_run_of_an_earlier_version_is_refused_by_name() {
    let root = tempdir().unwrap();
    golden(root.path());
    let journal = SqliteJournal::open_existing(root.path()).unwrap().unwrap();
    let run = RunId::new("before");
    let mut head = ChainHash::origin(&run);
    let mut earlier = Vec::new();
    for decision in records(&journal, "folder").chunk_by(|_, next| next.input.is_none()) {
        let mut events: Vec<_> = decision.iter().map(|record| record.event().unwrap()).collect();
        if let EventBody::RunCreated(created) = &mut events[0].body {
            Arc::make_mut(created).journal_version = 4;
        }
        earlier.extend(Record::seal_decision(decision[0].input.clone().unwrap(), &events, head));
        head = earlier.last().unwrap().hash;
    }
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    journal.append(batch(&run, 0, earlier)).await.unwrap();
    let told = "unreleased version of materia (journal version 4; this one reads 5 and 6)";
    for error in [
        load(&journal, &run).unwrap_err().to_string(),
        replay(&journal, &run, None).unwrap_err().to_string(),
    ] {
        assert!(error.contains(told), "{error}");
    }
    // The others of the same journal are read as ever.
    replay(&journal, &RunId::new("folder"), None).unwrap();
}
