//! Commands that one process leaves for another.

use materia_contract::RunId;
use materia_engine::Command;
use rusqlite::Connection;

use super::fault::Fault;

pub(super) fn post(connection: &Connection, run: &RunId, command: &Command) -> Result<(), Fault> {
    let text = serde_json::to_string(command).expect("a command is data and always renders");
    connection
        .prepare_cached("INSERT INTO inbox (run_id, command) VALUES (?1, ?2)")?
        .execute([run.as_str(), &text])?;
    Ok(())
}

pub(super) fn take(connection: &Connection, run: &RunId) -> Result<Vec<Command>, Fault> {
    // A driver asks often and there is seldom anything: looking takes no lock from writers.
    let waiting: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM inbox WHERE run_id = ?1)")?
        .query_row([run.as_str()], |row| row.get(0))?;
    if !waiting {
        return Ok(Vec::new());
    }
    let mut statement =
        connection.prepare_cached("DELETE FROM inbox WHERE run_id = ?1 RETURNING id, command")?;
    let mut taken = statement
        .query_map([run.as_str()], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    // The order of returned rows is not promised.
    taken.sort_unstable_by_key(|(id, _)| *id);
    taken
        .into_iter()
        .map(|(id, text)| {
            serde_json::from_str(&text).map_err(|error| Fault::Damaged {
                place: format!("command {id} for cast `{run}`"),
                what: error.to_string(),
            })
        })
        .collect()
}
