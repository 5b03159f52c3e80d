//! The list of runs.

use materia_contract::time::wall_time;
use materia_contract::{CastLine, CastStatus, RunId};
use materia_engine::{Cursor, Lines, ReadError, line_bytes};
use rusqlite::{Connection, Row};

use super::fault::Fault;

/// A page of the list, newest first, of the runs that are older than the one at the cursor.
pub(super) fn runs(connection: &Connection, before: i64, bytes: usize) -> Result<Lines, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT id, status, loadout, request, started, from_cast, run FROM runs
         WHERE run < ?1 ORDER BY run DESC",
    )?;
    let mut rows = statement.query([before])?;
    let mut page = Lines::default();
    let (mut taken, mut last) = (0, before);
    while let Some(row) = rows.next()? {
        if taken >= bytes && !page.lines.is_empty() {
            page.next = Some(Cursor(last.to_string()));
            break;
        }
        let line = line(row).map_err(|what| Fault::Damaged {
            place: format!("line {} of the list of casts", page.lines.len() + 1),
            what,
        })?;
        taken += line_bytes(&line);
        last = row.get(6)?;
        page.lines.push(line);
    }
    Ok(page)
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
