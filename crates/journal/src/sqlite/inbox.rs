//! The inbox: commands from one process to another, and their receipts.

use materia_contract::{Answer, Command, CommandId, Receipt, RunId};
use materia_engine::{Epoch, Posted, Posting, moved_on, refusal_of_ended};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};

use super::fault::Fault;
use super::{lease, list, moved};

/// Result of leaving a command; the error is the id, where another command has it.
type Left = Result<Posting, CommandId>;

/// Leaves a command, unless one of its id is there or was there.
pub(super) fn post(connection: &Connection, run: &RunId, command: &Command) -> Result<Left, Fault> {
    // Looking and leaving are one: two who send the same at once leave it once.
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let left = leave(connection, run, command)?;
    connection.execute_batch("COMMIT")?;
    Ok(left)
}

fn leave(connection: &Connection, run: &RunId, command: &Command) -> Result<Left, Fault> {
    let body = command.body_hash();
    if let Some(id) = &command.id
        && let Some(known) = known(connection, run, id, &body)?
    {
        return Ok(known);
    }
    let text = serde_json::to_string(command).expect("a command is data and always renders");
    let name = command.id.as_ref().map(CommandId::as_str);
    let number = connection
        .prepare_cached("INSERT INTO inbox (run_id, command, name, body) VALUES (?1, ?2, ?3, ?4)")?
        .insert(params![run.as_str(), text, name, body])?;
    let id = command.id.clone().unwrap_or_else(|| CommandId::numbered(number.unsigned_abs()));
    let gone = moved::place(connection, run)?.map(|place| moved_on(run, &place));
    let ended = refusal(connection, run)?.filter(|_| !command.what.revives());
    let Some(reason) = gone.or(ended) else {
        return Ok(Ok(Posting { id, receipt: None }));
    };
    let answer = Answer::Refused { reason };
    let receipt = Receipt { command: id.clone(), body: Some(body), answer };
    self::answer(connection, run, &receipt)?;
    Ok(Ok(Posting { id, receipt: Some(receipt) }))
}

/// Why a run refuses commands, where it has ended.
fn refusal(connection: &Connection, run: &RunId) -> rusqlite::Result<Option<String>> {
    let status: Option<String> = connection
        .prepare_cached("SELECT status FROM runs WHERE id = ?1")?
        .query_row([run.as_str()], |row| row.get(0))
        .optional()?;
    Ok(status.and_then(|word| list::status(&word).ok()).and_then(|(it, _)| refusal_of_ended(it)))
}

/// Refuses everything that waits for a run.
pub(super) fn refuse_all(
    connection: &Connection,
    run: &RunId,
    reason: &str,
) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare_cached("SELECT id, name, body FROM inbox WHERE run_id = ?1")?;
    let waiting = statement.query_map([run.as_str()], |row| {
        let number = row.get::<_, i64>(0)?.unsigned_abs();
        let name: Option<String> = row.get(1)?;
        let command = name.map_or_else(|| CommandId::numbered(number), CommandId::kept);
        let answer = Answer::Refused { reason: reason.to_owned() };
        Ok(Receipt { command, body: row.get(2)?, answer })
    })?;
    for receipt in waiting.collect::<rusqlite::Result<Vec<Receipt>>>()? {
        answer(connection, run, &receipt)?;
    }
    Ok(())
}

/// Takes a command back that waits, for the newest lease of its run; says whether it waited.
pub(super) fn withdraw(
    connection: &Connection,
    run: &RunId,
    epoch: Epoch,
    command: &CommandId,
) -> Result<bool, Fault> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let waited = lease::newest(connection, run)? == epoch && remove(connection, run, command)?;
    connection.execute_batch("COMMIT")?;
    Ok(waited)
}

/// Removes a command that waits; says whether it did.
fn remove(connection: &Connection, run: &RunId, command: &CommandId) -> rusqlite::Result<bool> {
    let (run, id) = (run.as_str(), command.as_str());
    let removed = match id.strip_prefix('#').and_then(|number| number.parse::<i64>().ok()) {
        Some(number) => connection
            .prepare_cached("DELETE FROM inbox WHERE id = ?1 AND run_id = ?2 AND name IS NULL")?
            .execute(params![number, run])?,
        None => connection
            .prepare_cached("DELETE FROM inbox WHERE run_id = ?1 AND name = ?2")?
            .execute([run, id])?,
    };
    Ok(removed > 0)
}

/// The result of an earlier command with this id, if there was one.
fn known(
    connection: &Connection,
    run: &RunId,
    id: &CommandId,
    body: &str,
) -> Result<Option<Left>, Fault> {
    let receipt = receipt(connection, run, id)?;
    let waiting = || {
        connection
            .prepare_cached("SELECT body FROM inbox WHERE run_id = ?1 AND name = ?2")?
            .query_row([run.as_str(), id.as_str()], |row| row.get::<_, Option<String>>(0))
            .optional()
    };
    let found = match &receipt {
        Some(receipt) => Some(receipt.body.clone()),
        None => waiting()?,
    };
    Ok(found.map(|of| {
        // Without a hash, commands cannot be compared.
        let same = of.is_none_or(|of| of == body);
        if same { Ok(Posting { id: id.clone(), receipt }) } else { Err(id.clone()) }
    }))
}

/// The commands that wait, oldest first. A driver asks often and there is seldom anything: looking
/// takes no lock from writers.
pub(super) fn commands(connection: &Connection, run: &RunId) -> Result<Vec<Posted>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT id, command, name, body FROM inbox WHERE run_id = ?1 ORDER BY id",
    )?;
    let mut rows = statement.query([run.as_str()])?;
    let mut waiting = Vec::new();
    while let Some(row) = rows.next()? {
        let number = row.get::<_, i64>(0)?.unsigned_abs();
        let name: Option<String> = row.get(2)?;
        let id = name.map_or_else(|| CommandId::numbered(number), CommandId::kept);
        let command = read(row.get_ref(1)?);
        let command = command.map(|command| Command { id: Some(id.clone()), ..command });
        waiting.push(Posted { id: Some(id), body: row.get(3)?, command });
    }
    Ok(waiting)
}

/// The runs for which commands wait. There are seldom any.
pub(super) fn addressed(connection: &Connection) -> Result<Vec<RunId>, Fault> {
    let mut statement = connection.prepare_cached("SELECT DISTINCT run_id FROM inbox")?;
    let runs = statement.query_map([], |row| row.get::<_, String>(0))?;
    let runs = runs.collect::<rusqlite::Result<Vec<_>>>()?;
    // Invalid ids belong to no run.
    Ok(runs.iter().filter_map(|run| RunId::parse(run).ok()).collect())
}

fn read(stored: ValueRef<'_>) -> Result<Command, String> {
    let text = stored.as_str().map_err(|error| error.to_string())?;
    Command::read(text)
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
    remove(connection, run, &receipt.command)?;
    let (run, id) = (run.as_str(), receipt.command.as_str());
    connection
        .prepare_cached(
            "INSERT INTO receipts (run_id, command, body, first, last, reason)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![run, id, receipt.body, first, last, reason])?;
    Ok(())
}

/// Whether a command has its receipt.
pub(super) fn is_answered(
    connection: &Connection,
    run: &RunId,
    command: &CommandId,
) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM receipts WHERE run_id = ?1 AND command = ?2)",
        )?
        .query_row([run.as_str(), command.as_str()], |row| row.get(0))
}

/// The receipt of a command.
pub(super) fn receipt(
    connection: &Connection,
    run: &RunId,
    command: &CommandId,
) -> Result<Option<Receipt>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT first, last, reason, body FROM receipts WHERE run_id = ?1 AND command = ?2",
    )?;
    let found = statement
        .query_row([run.as_str(), command.as_str()], |row| {
            let answer = match row.get(2)? {
                Some(reason) => Answer::Refused { reason },
                None => Answer::Done {
                    first: row.get::<_, i64>(0)?.unsigned_abs(),
                    last: row.get::<_, i64>(1)?.unsigned_abs(),
                },
            };
            Ok(Receipt { command: command.clone(), body: row.get(3)?, answer })
        })
        .optional()?;
    Ok(found)
}
