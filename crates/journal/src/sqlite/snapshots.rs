//! Snapshots and chapters. Both are caches: a damaged one counts as absent.

use materia_contract::RunId;
use materia_engine::{Chapter, Snapshot};
use rusqlite::{Connection, OptionalExtension, params};

use super::fault::{Fault, is_damage};
use super::{schema, walk};

/// The number of events between two kept states. Reading an earlier state folds at most about this many events.
const PAST_EVERY_EVENTS: u64 = 32_768;

/// Keeps a snapshot in the place of the one before it, now and then another one beside it, and its chapter for good.
pub(super) fn keep(connection: &Connection, key: i64, snapshot: &Snapshot) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO snapshots (run, seq, hash, version, bytes, checksum)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            key,
            snapshot.seq.cast_signed(),
            snapshot.hash.0,
            snapshot.version,
            snapshot.bytes,
            checksum(snapshot),
        ])?;
    let place = schema::place(key, snapshot.seq);
    keep_past(connection, key, snapshot)?;
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO chapters (place, version, bytes, checksum)
             VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![
            place,
            snapshot.version,
            snapshot.chapter,
            checksum_of_chapter(place, &snapshot.version, &snapshot.chapter),
        ])?;
    Ok(())
}

/// Keeps a snapshot for good, where the last one that was is far behind.
fn keep_past(connection: &Connection, key: i64, snapshot: &Snapshot) -> rusqlite::Result<()> {
    let last: Option<i64> = connection
        .prepare_cached("SELECT max(place) FROM past WHERE place >= ?1 AND place <= ?2")?
        .query_row([schema::place(key, 0), schema::place(key, u64::MAX)], |row| row.get(0))?;
    if snapshot.seq < last.map_or(0, schema::seq_at) + PAST_EVERY_EVENTS {
        return Ok(());
    }
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO past (place, hash, version, bytes, checksum)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![
            schema::place(key, snapshot.seq),
            snapshot.hash.0,
            snapshot.version,
            snapshot.bytes,
            checksum(snapshot),
        ])?;
    Ok(())
}

/// The newest snapshot at `seq` or before it. A damaged one is none: the records say the same.
pub(super) fn before(
    connection: &Connection,
    run: &RunId,
    seq: u64,
) -> Result<Option<Snapshot>, Fault> {
    if let Some(newest) = newest(connection, run)?.filter(|newest| newest.seq <= seq) {
        return Ok(Some(newest));
    }
    let mut statement = connection.prepare_cached(
        "SELECT place, hash, version, bytes, checksum FROM past
         WHERE place <= (SELECT run << 40 FROM runs WHERE id = ?1) + ?2
           AND place >> 40 = (SELECT run FROM runs WHERE id = ?1)
         ORDER BY place DESC LIMIT 1",
    )?;
    let seq = i64::try_from(seq).unwrap_or(i64::MAX).min((1 << 40) - 1);
    let found = statement
        .query_row(params![run.as_str(), seq], |row| {
            let snapshot = Snapshot {
                seq: schema::seq_at(row.get(0)?),
                hash: walk::hash(row.get_ref(1)?)?,
                version: row.get(2)?,
                bytes: row.get(3)?,
                chapter: Vec::new(),
            };
            Ok((snapshot, row.get::<_, Vec<u8>>(4)?))
        })
        .optional();
    let Some(Some((snapshot, sum))) = unless_damaged(found)? else { return Ok(None) };
    Ok((checksum(&snapshot)[..] == sum[..]).then_some(snapshot))
}

/// The newest snapshot. A damaged one is none: the records say the same.
pub(super) fn newest(connection: &Connection, run: &RunId) -> Result<Option<Snapshot>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, hash, version, bytes, checksum, run
         FROM snapshots JOIN runs USING (run) WHERE runs.id = ?1",
    )?;
    let found = statement
        .query_row([run.as_str()], |row| {
            let snapshot = Snapshot {
                seq: row.get::<_, i64>(0)?.unsigned_abs(),
                hash: walk::hash(row.get_ref(1)?)?,
                version: row.get(2)?,
                bytes: row.get(3)?,
                chapter: Vec::new(),
            };
            Ok((snapshot, row.get::<_, Vec<u8>>(4)?, row.get::<_, i64>(5)?))
        })
        .optional();
    let Some(Some((snapshot, sum, key))) = unless_damaged(found)? else { return Ok(None) };
    if checksum(&snapshot)[..] != sum[..] {
        return Ok(None);
    }
    let chapter = chapters_from(connection, key, snapshot.seq)?.pop();
    Ok(Some(Snapshot { chapter: chapter.map_or_else(Vec::new, |it| it.bytes), ..snapshot }))
}

/// All chapters, oldest first, but for those that are damaged.
pub(super) fn chapters(connection: &Connection, run: &RunId) -> Result<Vec<Chapter>, Fault> {
    let mut statement = connection.prepare_cached("SELECT run FROM runs WHERE id = ?1")?;
    let key = statement.query_row([run.as_str()], |row| row.get(0)).optional()?;
    key.map_or_else(|| Ok(Vec::new()), |key| chapters_from(connection, key, 0))
}

/// Those that end at `seq` or later.
fn chapters_from(connection: &Connection, key: i64, seq: u64) -> Result<Vec<Chapter>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT place, version, bytes, checksum FROM chapters
         WHERE place >= ?1 AND place <= ?2 ORDER BY place",
    )?;
    let mut rows = statement.query([schema::place(key, seq), schema::place(key, u64::MAX)])?;
    let mut chapters = Vec::new();
    // Where SQLite itself finds damage, what comes behind it cannot be reached.
    while let Some(Some(row)) = unless_damaged(rows.next())? {
        let place: i64 = row.get(0)?;
        let read = || -> rusqlite::Result<(String, Vec<u8>, Vec<u8>)> {
            Ok((row.get(1)?, row.get(2)?, row.get(3)?))
        };
        if let Ok((version, bytes, sum)) = read()
            && checksum_of_chapter(place, &version, &bytes)[..] == sum[..]
        {
            chapters.push(Chapter { seq: schema::seq_at(place), version, bytes });
        }
    }
    Ok(chapters)
}

/// `None` where what is stored makes no sense.
fn unless_damaged<T>(found: rusqlite::Result<T>) -> Result<Option<T>, Fault> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.sqlite_error_code().is_some() && !is_damage(&error) => {
            Err(Fault::Sqlite(error))
        }
        Err(_) => Ok(None),
    }
}

/// Checksum of a snapshot, which the hash chain does not cover.
fn checksum(snapshot: &Snapshot) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&snapshot.seq.to_le_bytes());
    hasher.update(&snapshot.hash.0);
    hasher.update(&(snapshot.version.len() as u64).to_le_bytes());
    hasher.update(snapshot.version.as_bytes());
    hasher.update(&snapshot.bytes);
    *hasher.finalize().as_bytes()
}

/// The same for a chapter; its place says of which run it is, and where it ends.
fn checksum_of_chapter(place: i64, version: &str, bytes: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&place.to_le_bytes());
    hasher.update(&(version.len() as u64).to_le_bytes());
    hasher.update(version.as_bytes());
    hasher.update(bytes);
    *hasher.finalize().as_bytes()
}
