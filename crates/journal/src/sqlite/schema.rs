//! The tables, and how older files are brought up to date. `docs/journal.md` tells others about them.

use rusqlite::{Connection, OptionalExtension as _};

use super::compare::{self, Object};
use crate::notes::{fresh_id, is_id};

/// One step per format, in order. A step that has been released is never edited.
const MIGRATIONS: &[&str] = &[FORMAT_1, FORMAT_2, FORMAT_3, FORMAT_4, FORMAT_5, FORMAT_6];

/// How many formats there have been.
pub(super) const FORMATS: usize = MIGRATIONS.len();

/// The format this version writes.
pub(super) const FORMAT: i64 = FORMATS.cast_signed() as i64;

/// `runs` is a summary for lists, derived from the records when they are appended. `heads` is
/// apart from it because it changes more often, and its rows are short. `events` has no
/// foreign key of its own: that of `heads`, written for each run, holds for both. Its key is run and
/// number in one integer (see [`place`]), so that a row is appended where the last one ended and
/// a prompt of a few kilobytes needs no page of its own; `log` shows both parts to people. `lag` is
/// how far the wall clock was behind logical time: mostly a few microseconds, and a byte long.
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
";

/// The unit is the decision: what it rests on and the events that followed, in one row whose place is
/// that of its first event. Event number i of a decision has the place and the logical time of the
/// first plus i, and its wall time. `hashes` comes before the texts, so that the end of a run is found
/// without reading through a megabyte of output. `events` keeps what was written without inputs.
///
/// Receipts have a number of their own because the oldest ones go, and a command may wait for long.
const FORMAT_2: &str = "
CREATE TABLE decisions (
    place  INTEGER PRIMARY KEY,
    ts     INTEGER NOT NULL,
    lag    INTEGER NOT NULL,
    hashes BLOB NOT NULL,
    input  TEXT NOT NULL,
    events TEXT NOT NULL
) STRICT;
DROP VIEW log;
CREATE VIEW log AS
    SELECT runs.id AS cast_id, place & 1099511627775 AS seq, ts, ts - lag AS wall, type, node, data, hash
    FROM events JOIN runs ON runs.run = place >> 40
    UNION ALL
    SELECT runs.id, (place & 1099511627775) + event.key, ts + event.key, ts - lag,
        event.value ->> 0, event.value ->> 1, event.value -> 2, substr(hashes, 1 + 32 * event.key, 32)
    FROM decisions JOIN runs ON runs.run = place >> 40 JOIN json_each(decisions.events) AS event;
CREATE TABLE chapters (
    place    INTEGER PRIMARY KEY,
    version  TEXT NOT NULL,
    bytes    BLOB NOT NULL,
    checksum BLOB NOT NULL
) STRICT;
CREATE TABLE receipts (
    id      INTEGER PRIMARY KEY,
    command INTEGER NOT NULL UNIQUE,
    run_id  TEXT NOT NULL,
    first   INTEGER,
    last    INTEGER,
    reason  TEXT
) STRICT;
CREATE INDEX inbox_by_run ON inbox (run_id);
";

/// Which lease of a run is the newest. By the cast's id, for a run is claimed before it begins. It has no say in
/// what a journal holds: only who may write to it.
const FORMAT_3: &str = "
CREATE TABLE leases (
    run_id TEXT PRIMARY KEY,
    epoch  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
";

/// A command has an id of its own: `name` in the inbox, where its sender gave one; otherwise it is `#` and
/// the number of its row. `body` is the hash of what it asks for. Receipts are kept by that id, as long as
/// their run.
const FORMAT_4: &str = "
ALTER TABLE inbox ADD COLUMN name TEXT;
ALTER TABLE inbox ADD COLUMN body TEXT;
DROP INDEX inbox_by_run;
CREATE UNIQUE INDEX inbox_by_name ON inbox (run_id, name);
ALTER TABLE receipts RENAME TO receipts_3;
CREATE TABLE receipts (
    run_id  TEXT NOT NULL,
    command TEXT NOT NULL,
    body    TEXT,
    first   INTEGER,
    last    INTEGER,
    reason  TEXT,
    PRIMARY KEY (run_id, command)
) STRICT, WITHOUT ROWID;
INSERT INTO receipts SELECT run_id, '#' || command, NULL, first, last, reason FROM receipts_3;
DROP TABLE receipts_3;
";

/// Which journal it is: an id that nobody can guess, in one row. The user's state folder notes it with the place.
const FORMAT_5: &str = "
CREATE TABLE journal (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    id   TEXT NOT NULL
) STRICT;
";

/// The first format whose journals have an id.
const WITH_ID: i64 = 5;

/// Folded states of the past, now and then one of those that `snapshots` had: what a run was at an event is folded
/// from the one before it, and not from the beginning.
const FORMAT_6: &str = "
CREATE TABLE past (
    place    INTEGER PRIMARY KEY,
    hash     BLOB NOT NULL,
    version  TEXT NOT NULL,
    bytes    BLOB NOT NULL,
    checksum BLOB NOT NULL
) STRICT;
";

/// What one connection to a file of an older format that may not be changed sees in place of what is
/// missing there. Leases are for those who write.
const MISSING_IN_1: &str = "
CREATE TEMP TABLE decisions (place INTEGER PRIMARY KEY, ts, lag, hashes, input, events);
CREATE TEMP TABLE chapters (place INTEGER PRIMARY KEY, version, bytes, checksum);
CREATE TEMP TABLE receipts (run_id, command, body, first, last, reason);
";
const MISSING_IN_2_AND_3: &str = "
CREATE TEMP VIEW receipts AS
    SELECT run_id, '#' || command AS command, NULL AS body, first, last, reason FROM main.receipts;
";
const MISSING_BEFORE_6: &str = "
CREATE TEMP TABLE past (place INTEGER PRIMARY KEY, hash, version, bytes, checksum);
";
const MISSING_BEFORE_4: &str = "
CREATE TEMP VIEW inbox AS SELECT id, run_id, command, NULL AS name, NULL AS body FROM main.inbox;
";

/// Bits of a place that hold the number of an event.
const SEQ_BITS: u32 = 40;

/// The key of an event: its run in the upper bits, its number in the lower ones.
pub(super) fn place(run: i64, seq: u64) -> i64 {
    let seq = i64::try_from(seq).unwrap_or(i64::MAX).min((1 << SEQ_BITS) - 1);
    (run << SEQ_BITS) | seq
}

/// Whether a number can be the key of a run: it and the number of an event fit into a place.
pub(super) fn is_key(key: i64) -> bool {
    (1..1 << (63 - SEQ_BITS)).contains(&key)
}

/// The number of the event at a place.
pub(super) fn seq_at(place: i64) -> u64 {
    (place & ((1 << SEQ_BITS) - 1)).unsigned_abs()
}

/// What stands in the way of using a file as it is.
#[derive(Debug)]
pub(super) enum SchemaFault {
    /// SQLite said so.
    Sqlite(rusqlite::Error),
    /// A newer version has written it.
    Newer(i64),
    /// It says that it is empty, and is not.
    Foreign,
    /// Its tables are not those that a version of this program makes; what is different.
    Altered(String),
}

impl From<rusqlite::Error> for SchemaFault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// The format of the file: 0 for one without tables. It is the first thing that is asked of a file, and nothing
/// else is where its tables, indices and views are not to the letter those of that format: a trigger, or a view
/// in the place of a table, would decide what is read and written.
pub(super) fn format(connection: &Connection) -> Result<i64, SchemaFault> {
    // One moment: another process may be making the tables just now.
    let outside = connection.is_autocommit();
    if outside {
        connection.execute_batch("BEGIN")?;
    }
    let found = look(connection);
    if outside {
        // Where SQLite has ended it already, there is nothing to end.
        let _ = connection.execute_batch("ROLLBACK");
    }
    let (format, objects) = found?;
    if format > FORMAT {
        return Err(SchemaFault::Newer(format));
    }
    if format < 0 || (format == 0 && !objects.is_empty()) {
        return Err(SchemaFault::Foreign);
    }
    compare::with_own(format, &objects)?;
    Ok(format)
}

/// What the file says of its format, and everything that is defined in it.
fn look(connection: &Connection) -> rusqlite::Result<(i64, Vec<Object>)> {
    let format = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    Ok((format, compare::objects(connection)?))
}

/// Brings the file to [`FORMAT`]. Of several processes at once, one does the work. `id` is the journal's, if it
/// has none yet.
pub(super) fn migrate(connection: &mut Connection, id: Option<&str>) -> Result<(), SchemaFault> {
    if format(connection)? == FORMAT {
        return Ok(());
    }
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    // Another process may have done it while this one waited.
    let found = format(&transaction)?;
    make(&transaction, found, FORMAT)?;
    if found < WITH_ID {
        let id = id.map_or_else(fresh_id, |id| Ok(id.to_owned()));
        let id = id.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        transaction.execute("INSERT INTO journal (only, id) VALUES (1, ?1)", [id])?;
    }
    transaction.pragma_update(None, "user_version", FORMAT)?;
    transaction.commit()?;
    Ok(())
}

/// Makes what a format has and an earlier one has not.
pub(super) fn make(connection: &Connection, from: i64, to: i64) -> rusqlite::Result<()> {
    let place = |format: i64| usize::try_from(format).unwrap_or_default();
    for step in &MIGRATIONS[place(from)..place(to)] {
        connection.execute_batch(step)?;
    }
    Ok(())
}

/// The id of a journal of the present format; `None` where it has none that can be read.
pub(super) fn journal_id(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let id = connection.query_row("SELECT id FROM journal WHERE only = 1", [], |row| row.get(0));
    Ok(id.optional()?.filter(|id: &String| is_id(id)))
}

/// What a file of a format is made of, said by one that was made for it in memory.
pub(super) fn of_format(format: i64) -> rusqlite::Result<Vec<Object>> {
    let connection = Connection::open_in_memory()?;
    make(&connection, 0, format)?;
    compare::objects(&connection)
}

/// Lets a connection read a file of an older format that stays as it is.
pub(super) fn stand_in(connection: &Connection, format: i64) -> rusqlite::Result<()> {
    if format < 6 {
        connection.execute_batch(MISSING_BEFORE_6)?;
    }
    if format >= 4 {
        return Ok(());
    }
    connection.execute_batch(if format < 2 { MISSING_IN_1 } else { MISSING_IN_2_AND_3 })?;
    connection.execute_batch(MISSING_BEFORE_4)
}
