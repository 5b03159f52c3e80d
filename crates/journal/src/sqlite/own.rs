//! The user's own journals, and the adoption of foreign ones.

use std::path::Path;

use materia_contract::RunId;
use rusqlite::{Connection, TransactionBehavior};

use super::connect::{self, Way};
use super::lease::{self, Locks};
use super::{OpenError, Options, SqliteJournal, place, schema};
use crate::notes::{FileIdentity, Notes, Whose, fresh_id};

/// Counts of the rows that adoption removed from a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adopted {
    /// Commands that waited in it; their senders are unknown.
    pub commands: u64,
}

impl SqliteJournal {
    /// Opens the journal of `root` to look at it, if there is one. One that this user's materia did not begin here
    /// is foreign: it is read without any file being made or changed, and nothing can be done to it. Without a
    /// state folder all are.
    pub fn look(root: &Path, options: Options) -> Result<Option<Self>, OpenError> {
        let Some(path) = place::existing(root)? else { return Ok(None) };
        match whose(&path, &options)? {
            Whose::Nobodys => Ok(None),
            Whose::Foreign => Self::foreign(&path, options),
            Whose::Own(id) => {
                let Some((connection, way)) = connect::for_reading(&path, &options)? else {
                    return Ok(None);
                };
                if is_not(&connection, &id) {
                    drop(connection);
                    return Self::foreign(&path, options);
                }
                let journal = Self::new(&path, options, way, Some(id));
                journal.readers.put_back(connection);
                Ok(Some(journal))
            }
        }
    }

    /// Whether the journal of `root` is noted as foreign. Does not open it: [`Self::open`] also compares its id.
    pub fn is_foreign_in(root: &Path, options: &Options) -> Result<bool, OpenError> {
        let Some(path) = place::existing(root)? else { return Ok(false) };
        Ok(matches!(whose(&path, options)?, Whose::Foreign))
    }

    /// The runs in the user's journal of `root` that are driven now. Does not open it.
    pub fn driven_in(root: &Path, options: &Options) -> Result<Vec<RunId>, OpenError> {
        let Some(path) = place::existing(root)? else { return Ok(Vec::new()) };
        let (Whose::Own(id), Some(state)) = (whose(&path, options)?, &options.state) else {
            return Ok(Vec::new());
        };
        Ok(lease::held(&Locks::in_state(state, &id)))
    }

    fn foreign(path: &Path, options: Options) -> Result<Option<Self>, OpenError> {
        let Some((connection, way)) = connect::only_looking(path, &options)? else {
            return Ok(None);
        };
        let mut journal = Self::new(path, options, way, None);
        journal.foreign = true;
        journal.readers.put_back(connection);
        Ok(Some(journal))
    }

    /// Whether it was not begun here by this user, as far as is known: it is read-only then.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.foreign
    }

    /// Makes the journal of `root` the user's own, after the user agreed. Removes its waiting commands and
    /// snapshots, which cannot be trusted, and gives it a new id. Does nothing to the user's own journal; `None` if
    /// there is none.
    pub fn adopt(root: &Path, options: &Options) -> Result<Option<Adopted>, OpenError> {
        let Some(path) = place::existing(root)? else { return Ok(None) };
        let Some(state) = &options.state else { return Ok(None) };
        if !matches!(whose(&path, options)?, Whose::Foreign) {
            return Ok(None);
        }
        let failed = |source| OpenError::Place { path: path.clone(), source };
        let id = fresh_id().map_err(failed)?;
        place::private_file(&path).map_err(failed)?;
        let mut connection = connect::for_writing(&path, options, Some(&id))?;
        let adopted = clear(&mut connection, &id).map_err(|fault| match fault {
            Unfit::Sqlite(error) => super::fault::open_error(&path, &error),
            Unfit::Damaged(what) => {
                OpenError::Damaged { path: path.clone(), what: what.to_owned() }
            }
        })?;
        let file = FileIdentity::of(&path.symlink_metadata().map_err(failed)?);
        Notes::of(state)
            .note(&path, &id, file)
            .map_err(|source| OpenError::State { path: state.clone(), source })?;
        Ok(Some(adopted))
    }
}

/// Whose the journal at `path` is.
fn whose(path: &Path, options: &Options) -> Result<Whose, OpenError> {
    let Some(state) = &options.state else { return Ok(Whose::Foreign) };
    let failed = |source| OpenError::Place { path: path.to_owned(), source };
    Notes::of(state).whose(path).map_err(failed)
}

/// Begins a journal at `path` if there is none, and gives its id, where journals are noted.
pub(super) fn begin(path: &Path, options: &Options) -> Result<Option<String>, OpenError> {
    let Some(state) = &options.state else {
        let failed = |source| OpenError::Place { path: path.to_owned(), source };
        place::private_file(path).map_err(failed)?;
        return Ok(None);
    };
    let failed = |source| OpenError::State { path: state.clone(), source };
    let Some(id) = Notes::of(state).begin(path).map_err(failed)? else {
        return Err(OpenError::Foreign { path: path.to_owned() });
    };
    let failed = |source| OpenError::Place { path: path.to_owned(), source };
    place::private_file(path).map_err(failed)?;
    Ok(Some(id))
}

/// Whether a journal is another one than was noted.
pub(super) fn is_not(connection: &Connection, id: &str) -> bool {
    !schema::journal_id(connection).is_ok_and(|found| found.as_deref() == Some(id))
}

/// Why a journal cannot become one's own.
enum Unfit {
    Sqlite(rusqlite::Error),
    Damaged(&'static str),
}

impl From<rusqlite::Error> for Unfit {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

fn clear(connection: &mut Connection, id: &str) -> Result<Adopted, Unfit> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let is = |question: &str| transaction.query_row(question, [], |row| row.get::<_, bool>(0));
    // Events without a cast would show up in a later cast that gets the same number.
    if is(
        "SELECT EXISTS (SELECT 1 FROM decisions WHERE place >> 40 NOT IN (SELECT run FROM runs))",
    )? {
        return Err(Unfit::Damaged("it has events of no cast"));
    }
    if is("SELECT EXISTS (SELECT 1 FROM runs WHERE run < 1 OR run >= 8388608)")? {
        return Err(Unfit::Damaged("it numbers its casts in another way"));
    }
    let commands = transaction.execute("DELETE FROM inbox", [])?;
    // Old leases were held elsewhere; epochs start again.
    for table in ["snapshots", "past", "chapters", "leases"] {
        transaction.execute(&format!("DELETE FROM {table}"), [])?;
    }
    transaction.execute("DELETE FROM journal", [])?;
    transaction.execute("INSERT INTO journal (only, id) VALUES (1, ?1)", [id])?;
    transaction.commit()?;
    Ok(Adopted { commands: commands as u64 })
}

impl SqliteJournal {
    /// A journal whose file is there, with connections of this kind.
    pub(super) fn opened(path: &Path, options: Options, id: Option<String>) -> Self {
        Self::new(path, options, Way::Shared, id)
    }
}
