//! Reads records and detects damage.
//!
//! A row of the wrong shape, a missing row and an early end are reported with their place. A changed row is detected
//! by the hash chain.

use std::ops::ControlFlow;

use materia_contract::{ChainHash, Record, RunId};
use materia_engine::{Head, Page, record_bytes};
use rusqlite::Connection;
use rusqlite::types::{FromSqlError, ValueRef};

use super::fault::Fault;
use super::walk::{Known, Walk, hash};
use super::{decisions, schema};

/// For how many bytes of records room is made at once, at the most.
const RESERVE_MAX: usize = 256 << 10;

/// About what one takes.
const RECORD_BYTES: usize = 384;

pub(super) fn page(
    connection: &Connection,
    run: &RunId,
    after: u64,
    bytes: usize,
) -> Result<Page, Fault> {
    let records = Vec::with_capacity(bytes.min(RESERVE_MAX) / RECORD_BYTES);
    let mut page = Page { records, end: true, derived: true };
    let mut taken = 0;
    visit_each(connection, run, after, &mut |record| {
        taken += record_bytes(record);
        page.records.push(std::mem::replace(record, blank()));
        if taken < bytes {
            return ControlFlow::Continue(());
        }
        // Later records are not read: they may be damaged, and this page is not.
        page.end = false;
        ControlFlow::Break(())
    })?;
    Ok(page)
}

/// Visits the records after `after`.
pub(super) fn for_each(
    connection: &Connection,
    run: &RunId,
    after: u64,
    visit: &mut dyn FnMut(&Record) -> ControlFlow<()>,
) -> Result<(), Fault> {
    visit_each(connection, run, after, &mut |record| visit(record))
}

/// Visits them, for a visitor that may keep what it is shown.
fn visit_each(
    connection: &Connection,
    run: &RunId,
    after: u64,
    visit: &mut dyn FnMut(&mut Record) -> ControlFlow<()>,
) -> Result<(), Fault> {
    let _moment = Moment::of(connection)?;
    let Some(known) = known(connection, run)? else {
        return Ok(());
    };
    let (key, seq) = (known.key, known.seq);
    let record = blank();
    let mut walk = Walk { run, known, after, last: after, record, visit };
    if decisions::visit(connection, key, &mut walk)?.is_break() {
        return Ok(());
    }
    if walk.last < seq {
        return Err(walk.damaged("it is missing"));
    }
    Ok(())
}

/// One moment of the file, for several looks at it.
struct Moment<'a>(&'a Connection);

impl<'a> Moment<'a> {
    fn of(connection: &'a Connection) -> rusqlite::Result<Self> {
        connection.prepare_cached("BEGIN")?.execute([])?;
        Ok(Self(connection))
    }
}

impl Drop for Moment<'_> {
    fn drop(&mut self) {
        // Nothing was written. Where SQLite has ended it already, there is nothing to end.
        let end = self.0.prepare_cached("ROLLBACK").and_then(|mut end| end.execute([]));
        drop(end);
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
        whole: None,
        input: None,
        hash: ChainHash([0; 32]),
    }
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
    if matches!(row.get_ref(1)?, ValueRef::Null) {
        return Err(Fault::Damaged {
            place: format!("the head of cast `{run}`"),
            what: "it is missing, so that nothing says how far the events of the cast go"
                .to_owned(),
        });
    }
    let read = || -> Result<Known, FromSqlError> {
        let value = |column| row.get_ref(column).map_err(FromSqlError::other);
        let (key, seq) = (value(0)?.as_i64()?, value(1)?.as_i64()?);
        if !schema::is_key(key) {
            return Err(FromSqlError::OutOfRange(key));
        }
        let seq = u64::try_from(seq).map_err(|_| FromSqlError::OutOfRange(seq))?;
        Ok(Known { key, seq, hash: hash(value(2)?)? })
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
    // In one statement: the run may have been created since the index was read.
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
    let _moment = Moment::of(connection)?;
    let Some(known) = known(connection, run)? else {
        return Ok(None);
    };
    let damaged = |what: String| Fault::at(run, known.seq, what);
    let last = decisions::last(connection, known.key).map_err(|error| {
        if error.sqlite_error_code().is_none() { damaged(error.to_string()) } else { error.into() }
    })?;
    let missing = || damaged("it is missing".to_owned());
    let (seq, ts, stored) = last.ok_or_else(missing)?;
    let hash = hash((&stored).into()).map_err(|error| damaged(error.to_string()))?;
    if seq < known.seq {
        return Err(missing());
    }
    known.agrees(run, seq, hash)?;
    Ok(Some(Head { seq, ts, hash }))
}
