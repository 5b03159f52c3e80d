//! The list of runs.

use materia_contract::time::wall_time;
use materia_contract::{CastLine, CastStatus, RunId};
use rusqlite::{Connection, Row};

use super::fault::Fault;

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
