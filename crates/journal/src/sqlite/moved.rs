//! The mark of a run that was copied to another journal and goes on there. It is kept as a receipt under an id that no
//! command can have.

use materia_contract::RunId;
use materia_engine::Epoch;
use rusqlite::{Connection, OptionalExtension, params};

use super::fault::Fault;
use super::lease;

const ID: &str = "#moved";

/// Where a run goes on, if it was copied from here.
pub(super) fn place(connection: &Connection, run: &RunId) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT reason FROM receipts WHERE run_id = ?1 AND command = ?2")?
        .query_row([run.as_str(), ID], |row| row.get(0))
        .optional()
}

/// Sets the mark, or removes it, for the newest lease of a run; returns that lease.
pub(super) fn mark(
    connection: &Connection,
    run: &RunId,
    epoch: Epoch,
    place: Option<&str>,
) -> Result<Epoch, Fault> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let newest = lease::newest(connection, run)?;
    if newest == epoch {
        match place {
            Some(place) => connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO receipts (run_id, command, reason) VALUES (?1, ?2, ?3)",
                )?
                .execute(params![run.as_str(), ID, place])?,
            None => connection
                .prepare_cached("DELETE FROM receipts WHERE run_id = ?1 AND command = ?2")?
                .execute([run.as_str(), ID])?,
        };
    }
    connection.execute_batch("COMMIT")?;
    Ok(newest)
}
