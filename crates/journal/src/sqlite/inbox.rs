//! Commands that one process leaves for another, and what became of them.

use materia_contract::RunId;
use materia_engine::{Answer, Command, Posted, Receipt};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};

use super::fault::Fault;

/// Receipts that are kept. Whoever waits for one asks within moments.
const RECEIPTS_MAX: i64 = 10_000;

/// Leaves a command; gives its number.
pub(super) fn post(connection: &Connection, run: &RunId, command: &Command) -> Result<u64, Fault> {
    let text = serde_json::to_string(command).expect("a command is data and always renders");
    let number = connection
        .prepare_cached("INSERT INTO inbox (run_id, command) VALUES (?1, ?2)")?
        .insert([run.as_str(), &text])?;
    Ok(number.unsigned_abs())
}

/// The commands that wait, oldest first. A driver asks often and there is seldom anything: looking
/// takes no lock from writers.
pub(super) fn commands(connection: &Connection, run: &RunId) -> Result<Vec<Posted>, Fault> {
    let mut statement =
        connection.prepare_cached("SELECT id, command FROM inbox WHERE run_id = ?1 ORDER BY id")?;
    let mut rows = statement.query([run.as_str()])?;
    let mut waiting = Vec::new();
    while let Some(row) = rows.next()? {
        let number = row.get::<_, i64>(0)?.unsigned_abs();
        waiting.push(Posted { number, command: read(row.get_ref(1)?) });
    }
    Ok(waiting)
}

fn read(stored: ValueRef<'_>) -> Result<Command, String> {
    let text = stored.as_str().map_err(|error| error.to_string())?;
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Keeps what became of a command, which waits no longer.
pub(super) fn answer(
    connection: &Connection,
    run: &RunId,
    receipt: &Receipt,
) -> rusqlite::Result<()> {
    let (first, last, reason) = match &receipt.answer {
        Answer::Done { first, last } => (Some(first.cast_signed()), Some(last.cast_signed()), None),
        Answer::Refused { reason } => (None, None, Some(reason)),
    };
    let command = receipt.command.cast_signed();
    connection
        .prepare_cached("DELETE FROM inbox WHERE id = ?1 AND run_id = ?2")?
        .execute(params![command, run.as_str()])?;
    let id = connection
        .prepare_cached(
            "INSERT INTO receipts (command, run_id, first, last, reason)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .insert(params![command, run.as_str(), first, last, reason])?;
    connection
        .prepare_cached("DELETE FROM receipts WHERE id <= ?1")?
        .execute([id - RECEIPTS_MAX])?;
    Ok(())
}

/// Whether a command has its receipt.
pub(super) fn is_answered(connection: &Connection, command: u64) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM receipts WHERE command = ?1)")?
        .query_row([command.cast_signed()], |row| row.get(0))
}

/// What became of a command of `run`.
pub(super) fn receipt(
    connection: &Connection,
    run: &RunId,
    command: u64,
) -> Result<Option<Receipt>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT first, last, reason FROM receipts WHERE command = ?1 AND run_id = ?2",
    )?;
    let answer = statement
        .query_row(params![command.cast_signed(), run.as_str()], |row| {
            Ok(match row.get(2)? {
                Some(reason) => Answer::Refused { reason },
                None => Answer::Done {
                    first: row.get::<_, i64>(0)?.unsigned_abs(),
                    last: row.get::<_, i64>(1)?.unsigned_abs(),
                },
            })
        })
        .optional()?;
    Ok(answer.map(|answer| Receipt { command, answer }))
}
