//! The tables, and how older files are brought up to date.

use rusqlite::Connection;

/// One step per format, in order. A step that has been released is never edited.
const MIGRATIONS: &[&str] = &[FORMAT_1];

/// The format this version writes.
pub(super) const FORMAT: i64 = MIGRATIONS.len().cast_signed() as i64;

/// `runs` is a summary for lists, derived from the records when they are appended. `heads` is
/// apart from it because it changes with every append, and its rows are short. `events` has no
/// foreign key of its own: that of `heads`, written beside it, holds for both.
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
    run  INTEGER NOT NULL,
    seq  INTEGER NOT NULL,
    ts   INTEGER NOT NULL,
    wall INTEGER NOT NULL,
    type TEXT NOT NULL,
    node TEXT,
    data TEXT NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
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
";

/// What stands in the way of using a file as it is.
#[derive(Debug)]
pub(super) enum SchemaFault {
    /// SQLite said so.
    Sqlite(rusqlite::Error),
    /// A newer version has written it.
    Newer(i64),
    /// It says that it is empty, and is not.
    Foreign,
}

impl From<rusqlite::Error> for SchemaFault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// The format of the file: 0 for one without tables.
pub(super) fn format(connection: &Connection) -> Result<i64, SchemaFault> {
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > FORMAT {
        return Err(SchemaFault::Newer(found));
    }
    let empty = "SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)";
    if found < 0 || (found == 0 && !connection.query_row(empty, [], |row| row.get(0))?) {
        return Err(SchemaFault::Foreign);
    }
    Ok(found)
}

/// Brings the file to [`FORMAT`]. Of several processes at once, one does the work.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), SchemaFault> {
    if format(connection)? == FORMAT {
        return Ok(());
    }
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    // Another process may have done it while this one waited.
    let found = format(&transaction)?;
    let done = usize::try_from(found).expect("`format` lets no negative one pass");
    for step in &MIGRATIONS[done..] {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", FORMAT)?;
    transaction.commit()?;
    Ok(())
}
