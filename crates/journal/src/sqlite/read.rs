//! Reading back, with an eye for damage.
//!
//! A row that has the wrong shape, a row that is missing, and an end that comes too early are
//! all reported with their place. A row that is merely *different* is the business of the
//! hash chain.

use std::ops::ControlFlow;

use materia_contract::time::wall_time;
use materia_contract::{CastLine, CastStatus, ChainHash, Record, RunId};
use materia_engine::{Head, Snapshot};
use rusqlite::types::{FromSqlError, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::fault::{Fault, is_damage};
use super::schema;

/// Room that is made at once for what a read asks for, in records.
const RESERVE_MAX: usize = 1_024;

/// A run as the tables know it.
struct Known {
    key: i64,
    /// The place and hash of its last record when this was read; it may have grown since.
    seq: u64,
    hash: ChainHash,
}

pub(super) fn records(
    connection: &Connection,
    run: &RunId,
    after: u64,
    limit: usize,
) -> Result<Vec<Record>, Fault> {
    let mut records = Vec::with_capacity(limit.min(RESERVE_MAX));
    visit_each(connection, run, after, Some(limit), &mut |record| {
        records.push(std::mem::replace(record, blank()));
        ControlFlow::Continue(())
    })?;
    Ok(records)
}

/// Visits the records after `after`, at most `limit` of them.
pub(super) fn for_each(
    connection: &Connection,
    run: &RunId,
    after: u64,
    limit: Option<usize>,
    visit: &mut dyn FnMut(&Record) -> ControlFlow<()>,
) -> Result<(), Fault> {
    visit_each(connection, run, after, limit, &mut |record| visit(record))
}

/// The same, for a visitor that may keep what it is shown.
fn visit_each(
    connection: &Connection,
    run: &RunId,
    after: u64,
    limit: Option<usize>,
    visit: &mut dyn FnMut(&mut Record) -> ControlFlow<()>,
) -> Result<(), Fault> {
    let Some(known) = known(connection, run)? else {
        return Ok(());
    };
    let limit = limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
    let mut statement = connection.prepare_cached(
        "SELECT place, ts, lag, type, node, data, hash FROM events
         WHERE place > ?1 AND place <= ?2 ORDER BY place LIMIT ?3",
    )?;
    let (from, to) = (schema::place(known.key, after), schema::place(known.key, u64::MAX));
    let mut rows = statement.query(params![from, to, limit])?;
    let mut record = blank();
    let mut last = after;
    let mut left = limit;
    while left != 0 {
        let next = rows.next().map_err(|error| beyond(run, last, error))?;
        let Some(row) = next else {
            break;
        };
        let place = last + 1;
        fill(&mut record, row).map_err(|error| Fault::at(run, place, error.to_string()))?;
        if record.seq != place {
            return Err(Fault::at(run, place, format!("event {} is in its place", record.seq)));
        }
        known.agrees(run, record.seq, record.hash)?;
        last = place;
        left -= 1;
        if visit(&mut record).is_break() {
            return Ok(());
        }
    }
    if left != 0 && last < known.seq {
        return Err(Fault::at(run, last + 1, "it is missing"));
    }
    Ok(())
}

impl Known {
    /// Whether the record at the head is the one that was written there.
    fn agrees(&self, run: &RunId, seq: u64, hash: ChainHash) -> Result<(), Fault> {
        if seq == self.seq && hash != self.hash {
            return Err(Fault::at(run, seq, "its hash is not the one noted as the run's last"));
        }
        Ok(())
    }
}

/// Damage that shows when SQLite tries to go on from `last`.
fn beyond(run: &RunId, last: u64, error: rusqlite::Error) -> Fault {
    if is_damage(&error) {
        Fault::at(run, last + 1, error.to_string())
    } else {
        Fault::Sqlite(error)
    }
}

fn blank() -> Record {
    Record {
        seq: 0,
        ts: 0,
        wall: 0,
        kind: String::new(),
        node: None,
        data: String::new(),
        hash: ChainHash([0; 32]),
    }
}

/// Overwrites `record` with a row, in the memory it already has.
fn fill(record: &mut Record, row: &Row<'_>) -> Result<(), FromSqlError> {
    let value = |column| row.get_ref(column).map_err(FromSqlError::other);
    record.seq = schema::seq_at(value(0)?.as_i64()?);
    record.ts = value(1)?.as_i64()?;
    record.wall = record.ts.wrapping_sub(value(2)?.as_i64()?);
    copy(&mut record.kind, value(3)?)?;
    match value(4)?.as_str_or_null()? {
        Some(node) => {
            let held = record.node.get_or_insert_default();
            held.clear();
            held.push_str(node);
        }
        None => record.node = None,
    }
    copy(&mut record.data, value(5)?)?;
    record.hash = hash(value(6)?)?;
    Ok(())
}

fn copy(held: &mut String, value: ValueRef<'_>) -> Result<(), FromSqlError> {
    held.clear();
    held.push_str(value.as_str()?);
    Ok(())
}

fn hash(value: ValueRef<'_>) -> Result<ChainHash, FromSqlError> {
    let bytes = value.as_blob()?;
    ChainHash::from_bytes(bytes)
        .ok_or(FromSqlError::InvalidBlobSize { expected_size: 32, blob_size: bytes.len() })
}

fn known(connection: &Connection, run: &RunId) -> Result<Option<Known>, Fault> {
    let mut by_index = connection.prepare_cached(
        "SELECT runs.run, heads.seq, heads.hash
         FROM runs LEFT JOIN heads USING (run) WHERE runs.id = ?1",
    )?;
    let mut rows = by_index.query([run.as_str()])?;
    let Some(row) = rows.next()? else {
        return unlisted(connection, run).map(|()| None);
    };
    let read = || -> Result<Known, FromSqlError> {
        let value = |column| row.get_ref(column).map_err(FromSqlError::other);
        Ok(Known {
            key: value(0)?.as_i64()?,
            seq: value(1)?.as_i64()?.unsigned_abs(),
            hash: hash(value(2)?)?,
        })
    };
    let damaged = |error: FromSqlError| Fault::Damaged {
        place: format!("the head of cast `{run}`"),
        what: error.to_string(),
    };
    read().map(Some).map_err(damaged)
}

/// Makes sure that a run which the index does not find is not there all the same: a damaged
/// index must not make a run disappear.
fn unlisted(connection: &Connection, run: &RunId) -> Result<(), Fault> {
    // In one look: the run may have come to be since the index was asked.
    let hidden: bool = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM runs NOT INDEXED WHERE id = ?1)
             AND NOT EXISTS (SELECT 1 FROM runs WHERE id = ?1)",
        )?
        .query_row([run.as_str()], |row| row.get(0))?;
    if hidden {
        let what = "it is there, but the index of casts does not name it".to_owned();
        return Err(Fault::Damaged { place: format!("cast `{run}`"), what });
    }
    Ok(())
}

pub(super) fn head(connection: &Connection, run: &RunId) -> Result<Option<Head>, Fault> {
    let Some(known) = known(connection, run)? else {
        return Ok(None);
    };
    let mut statement = connection.prepare_cached(
        "SELECT place, ts, hash FROM events
         WHERE place > ?1 AND place <= ?2 ORDER BY place DESC LIMIT 1",
    )?;
    let all = (schema::place(known.key, 0), schema::place(known.key, u64::MAX));
    let mut rows = statement.query(params![all.0, all.1])?;
    let missing = || Fault::at(run, known.seq, "it is missing");
    let row = rows.next()?.ok_or_else(missing)?;
    let read = || -> Result<Head, FromSqlError> {
        let value = |column| row.get_ref(column).map_err(FromSqlError::other);
        Ok(Head {
            seq: schema::seq_at(value(0)?.as_i64()?),
            ts: value(1)?.as_i64()?,
            hash: hash(value(2)?)?,
        })
    };
    let head = read().map_err(|error| Fault::at(run, known.seq, error.to_string()))?;
    if head.seq < known.seq {
        return Err(missing());
    }
    known.agrees(run, head.seq, head.hash)?;
    Ok(Some(head))
}

/// A damaged snapshot is none: the records say the same.
pub(super) fn snapshot(connection: &Connection, run: &RunId) -> Result<Option<Snapshot>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, hash, version, bytes, checksum
         FROM snapshots JOIN runs USING (run) WHERE runs.id = ?1",
    )?;
    let found = statement
        .query_row([run.as_str()], |row| {
            let snapshot = Snapshot {
                seq: row.get::<_, i64>(0)?.unsigned_abs(),
                hash: hash(row.get_ref(1)?)?,
                version: row.get(2)?,
                bytes: row.get(3)?,
            };
            Ok((snapshot, row.get::<_, Vec<u8>>(4)?))
        })
        .optional();
    match found {
        Ok(Some((snapshot, sum))) if checksum(&snapshot)[..] == sum[..] => Ok(Some(snapshot)),
        Err(error) if error.sqlite_error_code().is_some() && !is_damage(&error) => {
            Err(Fault::Sqlite(error))
        }
        Ok(_) | Err(_) => Ok(None),
    }
}

/// What guards the bytes of a snapshot, which no chain covers.
pub(super) fn checksum(snapshot: &Snapshot) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&snapshot.seq.to_le_bytes());
    hasher.update(&snapshot.hash.0);
    hasher.update(&(snapshot.version.len() as u64).to_le_bytes());
    hasher.update(snapshot.version.as_bytes());
    hasher.update(&snapshot.bytes);
    *hasher.finalize().as_bytes()
}

pub(super) fn runs(connection: &Connection) -> Result<Vec<CastLine>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT id, status, loadout, request, started, from_cast FROM runs ORDER BY run DESC",
    )?;
    let mut rows = statement.query([])?;
    let mut lines = Vec::new();
    while let Some(row) = rows.next()? {
        lines.push(line(row).map_err(|what| Fault::Damaged {
            place: format!("line {} of the list of casts", lines.len() + 1),
            what,
        })?);
    }
    Ok(lines)
}

fn line(row: &Row<'_>) -> Result<CastLine, String> {
    let text = |column| row.get::<_, String>(column).map_err(|error| error.to_string());
    Ok(CastLine {
        cast_id: RunId::parse(&text(0)?).map_err(|error| error.to_string())?,
        status: status(&text(1)?)?,
        loadout: text(2)?,
        request: text(3)?,
        started_at: wall_time(row.get(4).map_err(|error| error.to_string())?),
        from_cast_id: row.get(5).map_err(|error| error.to_string())?,
    })
}

fn status(word: &str) -> Result<CastStatus, String> {
    let all = [
        CastStatus::Running,
        CastStatus::Waiting,
        CastStatus::Completed,
        CastStatus::Failed,
        CastStatus::Aborted,
    ];
    all.into_iter()
        .find(|status| status.word() == word)
        .ok_or_else(|| format!("`{word}` is no status"))
}
