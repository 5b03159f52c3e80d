//! Connections: opening, settings, and waiting for locks of other processes.
//!
//! Every connection treats its file as untrusted: no trigger or view of it is run, and its schema is compared with
//! ours before anything else is read.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::fault::{is_busy, is_full, is_read_only, open_error};
use super::image::Image;
use super::schema::{self, SchemaFault};
use super::{OpenError, Options};
use crate::notes::beside;

/// How long opening waits in all for other processes that open and create at once.
const OPEN_PATIENCE: Duration = Duration::from_secs(30);

/// The shortest and the longest pause between two looks at a lock.
const PAUSE_MICROS: std::ops::Range<u64> = 500..4_500;

/// The size of a page in a new file. A decision of an agent's turn takes about 2 KiB and more: on pages of 4 KiB, SQLite's
/// own size, there is room for one, and half of each page stays empty.
const PAGE_BYTES: u32 = 8 << 10;

/// The size of the log at which a checkpoint runs, in bytes.
///
/// While the log grows, every sync also writes its length, which costs nearly as much as the sync itself. After a
/// checkpoint the log is overwritten in place. A checkpoint costs three syncs.
const CHECKPOINT_BYTES: u32 = 3 << 20;

/// The size of the log's file after a checkpoint, in bytes.
const LOG_BYTES_KEPT: u32 = 32 << 20;

/// Memory for pages of one connection, in KiB.
const CACHE_KIB: u32 = 4_096;

/// The same of one that only reads: there are as many of them as there are readers at a time.
const READER_CACHE_KIB: u32 = 256;

/// Statements that a connection keeps prepared.
const STATEMENTS_KEPT: usize = 32;

/// How a file can be used, and further connections to it are opened.
#[derive(Debug, Clone)]
pub(super) enum Way {
    /// With other processes, by SQLite's locks.
    Shared,
    /// Read-only, as it is on disk: nothing can be written, so nothing can change.
    Immutable,
    /// A copy of the file and its log in memory.
    Image(Arc<Image>),
}

/// Opens an existing file for appending; makes the tables of an empty one. It must be private to its owner: SQLite
/// makes its other files with the same mode. `id` is the id of a new journal.
pub(super) fn for_writing(
    path: &Path,
    options: &Options,
    id: Option<&str>,
) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    patiently_opened(path, || {
        let mut connection = connect(path, flags, options.busy_timeout)?;
        // Looked at before anything is changed: a newer file stays as it is.
        let format = schema::format(&connection)?;
        // A file that has pages already keeps their size.
        connection.pragma_update(None, "page_size", PAGE_BYTES)?;
        // Set again: SQLite counted the pages that fit with the size that pages had before.
        connection.pragma_update(None, "cache_size", -i64::from(CACHE_KIB))?;
        let mode: String =
            connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
        if mode != "wal" {
            return Ok(Err(OpenError::Storage {
                path: path.to_owned(),
                what: "this file system does not let SQLite use a write-ahead log".to_owned(),
            }));
        }
        let page: u32 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_BYTES / page.max(512))?;
        connection.pragma_update(None, "journal_size_limit", LOG_BYTES_KEPT)?;
        if let Some(pages) = options.pages_max {
            connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
        }
        if format != schema::FORMAT {
            schema::begin(&mut connection, id)?;
        }
        // From here on the writer does its own waiting, so SQLite must not wait for locks.
        connection.busy_handler(None::<fn(i32) -> bool>)?;
        Ok(Ok(connection))
    })?
}

/// Opens an existing file for reading, in the way that works here; `None` if it has no tables
/// yet, as while another process makes it.
pub(super) fn for_reading(
    path: &Path,
    options: &Options,
) -> Result<Option<(Connection, Way)>, OpenError> {
    let patience = options.busy_timeout;
    let mut no_room = false;
    let shared = patiently_opened(path, || match probe(path, &Way::Shared, patience) {
        Err(SchemaFault::Sqlite(error)) if is_read_only(&error) || is_full(&error) => {
            no_room = is_full(&error);
            Ok(None)
        }
        result => result.map(Some),
    })?;
    // A full disk has no room for the files with which SQLite reads.
    if no_room {
        return only_looking(path, options);
    }
    let (way, probed) = match shared {
        Some(probed) => (Way::Shared, probed),
        None if log_is_empty(path) => {
            let probed = patiently_opened(path, || probe(path, &Way::Immutable, patience))?;
            (Way::Immutable, probed)
        }
        None => {
            let what = "its log holds events that only a process that may write here can read";
            return Err(OpenError::ReadOnly { path: path.to_owned(), what: what.to_owned() });
        }
    };
    let (connection, format) = probed;
    Ok((format != 0).then_some((connection, way)))
}

/// Opens a foreign file for reading, without making or changing any file; `None` if it has no tables.
pub(super) fn only_looking(
    path: &Path,
    options: &Options,
) -> Result<Option<(Connection, Way)>, OpenError> {
    let image = Image::of(path)
        .map_err(|error| OpenError::Storage { path: path.to_owned(), what: error.to_string() })?;
    let way = image.map_or(Way::Immutable, |image| Way::Image(Arc::new(image)));
    let (connection, format) = patiently_opened(path, || probe(path, &way, options.busy_timeout))?;
    Ok((format != 0).then_some((connection, way)))
}

/// Opens one more connection for reading, to a file that was opened before.
pub(super) fn reader(path: &Path, way: &Way, patience: Duration) -> rusqlite::Result<Connection> {
    let connection = match probe(path, way, patience) {
        Ok((connection, _)) => connection,
        Err(SchemaFault::Sqlite(error)) => return Err(error),
        // It was ours when it was opened first.
        Err(
            SchemaFault::Newer(_)
            | SchemaFault::Earlier(_)
            | SchemaFault::Foreign
            | SchemaFault::Altered(_),
        ) => {
            return Err(rusqlite::Error::SqliteFailure(
                rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT),
                Some("its tables were altered while it was open".to_owned()),
            ));
        }
    };
    connection.pragma_update(None, "cache_size", -i64::from(READER_CACHE_KIB))?;
    Ok(connection)
}

fn bare_reader(path: &Path, way: &Way, patience: Duration) -> rusqlite::Result<Connection> {
    let read_only = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    match way {
        Way::Shared => {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            connect(path, flags, patience)
        }
        Way::Immutable => connect(Path::new(&immutable_uri(path)), read_only, patience),
        Way::Image(image) => tuned(image.connect()?, patience),
    }
}

fn probe(path: &Path, way: &Way, patience: Duration) -> Result<(Connection, i64), SchemaFault> {
    let connection = bare_reader(path, way, patience)?;
    let format = schema::format(&connection)?;
    Ok((connection, format))
}

fn connect(path: &Path, flags: OpenFlags, patience: Duration) -> rusqlite::Result<Connection> {
    tuned(Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NOFOLLOW)?, patience)
}

fn tuned(mut connection: Connection, patience: Duration) -> rusqlite::Result<Connection> {
    let mut since = Instant::now();
    connection.busy_handler(Some(move |tries: i32| {
        if tries == 0 {
            since = Instant::now();
        }
        let patient = since.elapsed() < patience;
        if patient {
            pause(tries.unsigned_abs());
        }
        patient
    }))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    distrust(&connection)?;
    // Otherwise SQLite plans a statement anew for every value that is bound to it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "cache_size", -i64::from(CACHE_KIB))?;
    Ok(connection)
}

/// Prevents SQL that is defined in the file from running, and changes of the schema that bypass SQLite. The view in
/// the file is for people; this program does not use it.
fn distrust(connection: &Connection) -> rusqlite::Result<()> {
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(setting, on)?;
    }
    connection.pragma_update(None, "cell_size_check", true)
}

/// Retries while other processes hold locks. SQLite gives up at once where waiting might deadlock, as on the switch
/// to WAL; nothing is held between two tries, so a retry is safe.
pub(super) fn patiently<T, E>(
    patience: Duration,
    busy: impl Fn(&E) -> bool,
    mut attempt: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    let since = Instant::now();
    let mut tries = 0;
    loop {
        match attempt() {
            Err(error) if busy(&error) && since.elapsed() < patience => pause(tries),
            result => return result,
        }
        tries += 1;
    }
}

fn patiently_opened<T>(
    path: &Path,
    attempt: impl FnMut() -> Result<T, SchemaFault>,
) -> Result<T, OpenError> {
    let busy = |fault: &SchemaFault| matches!(fault, SchemaFault::Sqlite(error) if is_busy(error));
    patiently(OPEN_PATIENCE, busy, attempt).map_err(|fault| match fault {
        SchemaFault::Sqlite(error) => open_error(path, &error),
        SchemaFault::Newer(found) => {
            OpenError::Newer { path: path.to_owned(), found, known: schema::FORMAT }
        }
        SchemaFault::Earlier(found) => {
            OpenError::Earlier { path: path.to_owned(), found, known: schema::FORMAT }
        }
        SchemaFault::Foreign => OpenError::Damaged {
            path: path.to_owned(),
            what: "it has tables but no format number".to_owned(),
        },
        SchemaFault::Altered(what) => OpenError::Altered { path: path.to_owned(), what },
    })
}

/// Sleeps a little, each process in its own rhythm, so that they do not meet again.
fn pause(tries: u32) {
    let seed = (u64::from(std::process::id()) << 32) | u64::from(tries);
    // The multiplier spreads neighbouring seeds over the whole range.
    let spread = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
    let micros = PAUSE_MICROS.start + spread % (PAUSE_MICROS.end - PAUSE_MICROS.start);
    std::thread::sleep(Duration::from_micros(micros));
}

fn log_is_empty(path: &Path) -> bool {
    std::fs::metadata(beside(path, "-wal")).map_or(true, |found| found.len() == 0)
}

fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            write!(uri, "%{byte:02X}").expect("memory takes everything");
        }
    }
    uri.push_str("?immutable=1");
    uri
}
