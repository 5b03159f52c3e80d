//! The tables. `docs/reference/journal.md` describes them for other programs.

use rusqlite::{Connection, OptionalExtension as _};

use super::compare::{self, Object};
use crate::notes::{fresh_id, is_id};

/// The format that this version writes and reads.
pub(super) const FORMAT: i64 = 7;

/// `decisions` has one row a decision: it has the place of its first event (see [`place`]), so a row is appended
/// where the last one ended. Event number i of it has the place and the logical time of the first plus i, and its
/// wall time; `lag` is how far the wall clock was behind logical time: mostly a few microseconds, and a byte long.
/// `hashes` has the hash of the last event, and before it the first bytes of the hash of each other one: a reader derives
/// those, and the bytes tell which event was changed. It comes before the texts, so that the end of a run is found
/// without reading through a megabyte of output.
///
/// `runs` is a summary for lists, derived from the records when they are appended. `heads` is apart from it because
/// it changes more often, and its rows are short. `past` has folded states, now and then one of those that
/// `snapshots` had: what a run was at an event is folded from the one before it, and not from the beginning.
///
/// `inbox.name` is the id that the sender gave the command; without one it is `#` and the number of the row. `body` is
/// the hash of what it asks for. Receipts are kept by that id, as long as their run. `leases` goes by the cast's id,
/// for a run is claimed before it begins; it says who may write, and nothing about what a journal holds. `journal`
/// has its unpredictable id. The user's state folder notes it with the place.
const TABLES: &str = "
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
CREATE TABLE decisions (
    place  INTEGER PRIMARY KEY,
    ts     INTEGER NOT NULL,
    lag    INTEGER NOT NULL,
    hashes BLOB NOT NULL,
    input  TEXT NOT NULL,
    events TEXT NOT NULL
) STRICT;
CREATE VIEW log AS
    SELECT runs.id AS cast_id, (place & 1099511627775) + event.key AS seq, ts + event.key AS ts, ts - lag AS wall,
        event.value ->> 0 AS type, event.value ->> 1 AS node, event.value -> 2 AS data,
        iif(event.key = (length(hashes) - 32) / 4, substr(hashes, -32), NULL) AS hash
    FROM decisions JOIN runs ON runs.run = place >> 40 JOIN json_each(decisions.events) AS event;
CREATE TABLE snapshots (
    run      INTEGER PRIMARY KEY REFERENCES runs,
    seq      INTEGER NOT NULL,
    hash     BLOB NOT NULL,
    version  TEXT NOT NULL,
    bytes    BLOB NOT NULL,
    checksum BLOB NOT NULL
) STRICT;
CREATE TABLE past (
    place    INTEGER PRIMARY KEY,
    hash     BLOB NOT NULL,
    version  TEXT NOT NULL,
    bytes    BLOB NOT NULL,
    checksum BLOB NOT NULL
) STRICT;
CREATE TABLE chapters (
    place    INTEGER PRIMARY KEY,
    version  TEXT NOT NULL,
    bytes    BLOB NOT NULL,
    checksum BLOB NOT NULL
) STRICT;
CREATE TABLE inbox (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id  TEXT NOT NULL,
    command TEXT NOT NULL,
    name    TEXT,
    body    TEXT
) STRICT;
CREATE UNIQUE INDEX inbox_by_name ON inbox (run_id, name);
CREATE TABLE receipts (
    run_id  TEXT NOT NULL,
    command TEXT NOT NULL,
    body    TEXT,
    first   INTEGER,
    last    INTEGER,
    reason  TEXT,
    PRIMARY KEY (run_id, command)
) STRICT, WITHOUT ROWID;
CREATE TABLE leases (
    run_id TEXT PRIMARY KEY,
    epoch  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE journal (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    id   TEXT NOT NULL
) STRICT;
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

/// Reasons why a file cannot be used as it is.
#[derive(Debug)]
pub(super) enum SchemaFault {
    /// SQLite said so.
    Sqlite(rusqlite::Error),
    /// A newer version has written it.
    Newer(i64),
    /// An earlier version has written it that was never released.
    Earlier(i64),
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
    if format > 0 && format < FORMAT {
        return Err(SchemaFault::Earlier(format));
    }
    if format == FORMAT
        && let Some(what) = compare::with_own(&objects, in_memory)?
    {
        return Err(SchemaFault::Altered(what));
    }
    Ok(format)
}

/// The format version of the file, and all definitions in it.
fn look(connection: &Connection) -> rusqlite::Result<(i64, Vec<Object>)> {
    let format = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    Ok((format, compare::objects(connection)?))
}

/// Makes the tables, if there are none. Of several concurrent processes, one does the work. `id` is the id of the
/// new journal, if it was chosen before.
pub(super) fn begin(connection: &mut Connection, id: Option<&str>) -> Result<(), SchemaFault> {
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    // Another process may have done it meanwhile.
    if format(&transaction)? == FORMAT {
        return Ok(());
    }
    transaction.execute_batch(TABLES)?;
    let id = id.map_or_else(fresh_id, |id| Ok(id.to_owned()));
    let id = id.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    transaction.execute("INSERT INTO journal (only, id) VALUES (1, ?1)", [id])?;
    transaction.pragma_update(None, "user_version", FORMAT)?;
    transaction.commit()?;
    Ok(())
}

/// The id of a journal; `None` where it has none that can be read.
pub(super) fn journal_id(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let id = connection.query_row("SELECT id FROM journal WHERE only = 1", [], |row| row.get(0));
    Ok(id.optional()?.filter(|id: &String| is_id(id)))
}

/// A journal without casts, in memory.
pub(super) fn in_memory() -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(TABLES)?;
    Ok(connection)
}
