//! Events without inputs, as older versions wrote them: one row each. A fork of such a run begins with them.

use std::ops::ControlFlow;

use materia_contract::Record;
use rusqlite::types::{FromSqlError, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::fault::Fault;
use super::read::{Last, Walk, beyond, hash};
use super::schema;

/// Shows what is left of them behind the place where `walk` stands.
pub(super) fn visit(
    connection: &Connection,
    key: i64,
    walk: &mut Walk<'_>,
) -> Result<ControlFlow<()>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT place, ts, lag, type, node, data, hash FROM events
         WHERE place > ?1 AND place <= ?2 ORDER BY place",
    )?;
    let (from, to) = (schema::place(key, walk.last), schema::place(key, u64::MAX));
    let mut rows = statement.query(params![from, to])?;
    while let Some(row) = rows.next().map_err(|error| beyond(walk.run, walk.last, error))? {
        fill(&mut walk.record, row).map_err(|error| walk.damaged(error.to_string()))?;
        if walk.show()?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
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
    record.input = None;
    record.hash = hash(value(6)?)?;
    Ok(())
}

fn copy(held: &mut String, value: ValueRef<'_>) -> Result<(), FromSqlError> {
    held.clear();
    held.push_str(value.as_str()?);
    Ok(())
}

/// The last of them.
pub(super) fn last(connection: &Connection, key: i64) -> rusqlite::Result<Option<Last>> {
    let mut statement = connection.prepare_cached(
        "SELECT place, ts, hash FROM events
         WHERE place > ?1 AND place <= ?2 ORDER BY place DESC LIMIT 1",
    )?;
    let all = [schema::place(key, 0), schema::place(key, u64::MAX)];
    let last =
        statement.query_row(all, |row| Ok((schema::seq_at(row.get(0)?), row.get(1)?, row.get(2)?)));
    last.optional()
}

/// Writes events that follow from no decision.
pub(super) fn add(connection: &Connection, key: i64, records: &[Record]) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO events (place, ts, lag, type, node, data, hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for record in records {
        insert.execute(params![
            schema::place(key, record.seq),
            record.ts,
            record.ts.wrapping_sub(record.wall),
            record.kind,
            record.node,
            record.data,
            record.hash.0,
        ])?;
    }
    Ok(())
}
