//! The list of runs.

use materia_contract::time::wall_time;
use materia_contract::{CastLine, CastStatus, RunId};
use materia_engine::{Cursor, Lines, ReadError, line_bytes};
use rusqlite::{Connection, Row};

use super::fault::{Fault, is_damage};

/// How much of an id that is none is shown.
const ID_CHARS_MAX: usize = 64;

/// A page of the list, newest first, of the runs that are older than the one at the cursor.
pub(super) fn runs(connection: &Connection, before: i64, bytes: usize) -> Result<Lines, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT id, status, loadout, request, started, from_cast, run FROM runs
         WHERE run < ?1 ORDER BY run DESC",
    )?;
    let mut rows = statement.query([before])?;
    let mut page = Lines::default();
    let (mut taken, mut last) = (0, before);
    loop {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => break,
            // Later rows cannot be reached; the earlier ones are returned.
            Err(error) if is_damage(&error) && !page.lines.is_empty() => {
                page.unreadable.push(format!("the list of casts is damaged: {error}"));
                break;
            }
            Err(error) => return Err(error.into()),
        };
        if taken >= bytes && !page.lines.is_empty() {
            page.next = Some(Cursor(last.to_string()));
            break;
        }
        last = row.get(6)?;
        match line(row) {
            Ok(line) => {
                taken += line_bytes(&line);
                page.lines.push(line);
            }
            // One that makes no sense is no reason to hide the others.
            Err(what) => page.unreadable.push(unreadable(row, &what)),
        }
    }
    Ok(page)
}

/// Says which run cannot be listed, and why.
fn unreadable(row: &Row<'_>, what: &str) -> String {
    let id = row.get_ref(0).ok().and_then(|id| id.as_str().ok()).unwrap_or("?");
    let id: String = id.chars().take(ID_CHARS_MAX).collect();
    format!("cast `{id}` cannot be listed: {what}")
}

/// Where a page begins; the first one begins before everything.
pub(super) fn before(cursor: Option<&Cursor>) -> Result<i64, ReadError> {
    cursor.map_or(Ok(i64::MAX), |cursor| cursor.0.parse().map_err(|_| ReadError::NoSuchPlace))
}

/// The line of one run.
pub(super) fn one(connection: &Connection, run: &RunId) -> Result<Option<CastLine>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT id, status, loadout, request, started, from_cast FROM runs WHERE id = ?1",
    )?;
    let mut rows = statement.query([run.as_str()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let place = || format!("the line of cast `{run}` in the list of casts");
    line(row).map(Some).map_err(|what| Fault::Damaged { place: place(), what })
}

fn line(row: &Row<'_>) -> Result<CastLine, String> {
    let text = |column| row.get::<_, String>(column).map_err(|error| error.to_string());
    let (status, verdict) = status(&text(1)?)?;
    Ok(CastLine {
        cast_id: RunId::parse(&text(0)?).map_err(|error| error.to_string())?,
        status,
        loadout: text(2)?,
        request: text(3)?,
        started_at: wall_time(row.get(4).map_err(|error| error.to_string())?),
        from_cast_id: row.get(5).map_err(|error| error.to_string())?,
        verdict,
    })
}

/// A status as the list has it. A cast that completed says with which verdict, behind a space.
pub(super) fn status_word(status: CastStatus, verdict: Option<bool>) -> String {
    match verdict {
        Some(verdict) if status == CastStatus::Completed => format!("{} {verdict}", status.word()),
        Some(_) | None => status.word().to_owned(),
    }
}

/// Reads what [`status_word`] wrote.
pub(super) fn status(text: &str) -> Result<(CastStatus, Option<bool>), String> {
    let (word, verdict) = text.split_once(' ').map_or((text, None), |(word, it)| (word, Some(it)));
    let verdict = verdict.map(str::parse).transpose();
    match (CastStatus::from_word(word), verdict) {
        (Some(status), Ok(verdict)) => Ok((status, verdict)),
        (None, _) | (_, Err(_)) => Err(format!("`{text}` is no status")),
    }
}
