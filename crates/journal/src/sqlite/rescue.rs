//! Restores a journal that was removed while it was in use.
//!
//! The open file still has everything. A copy is made beside its old name and takes that name, unless another file
//! has it by now: then the copy is kept elsewhere, and the error says where.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;

use super::anchor::{Anchor, Holds};
use super::readers::Readers;
use super::{OpenError, Options, connect, own};
use crate::notes::{Notes, beside, remove};
use crate::private;

/// The folder in the state folder for copies of journals whose file was replaced.
const RESCUED_FOLDER: &str = "rescued";

/// The location of a journal, and its other users in this process.
pub(super) struct Home {
    pub(super) path: PathBuf,
    pub(super) options: Options,
    pub(super) id: Option<String>,
    pub(super) readers: Arc<Readers>,
}

impl Home {
    /// Opens the journal for writing, which is there.
    pub(super) fn connect(&self) -> Result<Connection, OpenError> {
        let connection = connect::for_writing(&self.path, &self.options, self.id.as_deref())?;
        if self.id.as_ref().is_some_and(|id| own::is_not(&connection, id)) {
            return Err(OpenError::Foreign { path: self.path.clone() });
        }
        Ok(connection)
    }

    /// Makes sure that what was just committed is in the file that has the name. Gives a new connection where
    /// it had to be written again; an error says why that cannot be.
    pub(super) fn hold(
        &self,
        connection: &Connection,
        anchor: &mut Anchor,
    ) -> Result<Option<Connection>, String> {
        match anchor.holds() {
            Holds::Yes => Ok(None),
            Holds::Removed => {
                tracing::warn!(path = %self.path.display(), "the journal was removed: writing it again");
                let written = self.write_again(connection, anchor);
                written.map(Some).map_err(|why| {
                    format!(
                        "`{}` was removed while the cast ran, and could not be written again: {why}{}",
                        self.path.display(),
                        self.keep_elsewhere(connection)
                    )
                })
            }
            Holds::Replaced => Err(format!(
                "something else has taken the place of `{}` while the cast ran{}",
                self.path.display(),
                self.keep_elsewhere(connection)
            )),
        }
    }

    fn write_again(
        &self,
        connection: &Connection,
        anchor: &mut Anchor,
    ) -> Result<Connection, String> {
        let failed = |error: io::Error| error.to_string();
        let folder = self.path.parent().unwrap_or(&self.path);
        private::folders(folder).map_err(failed)?;
        let copy = beside(&self.path, &format!(".again-{}", std::process::id()));
        Self::copy_to(connection, &copy)?;
        let placed = self.put_in_place(&copy);
        if placed.is_err() {
            let _ = remove(&copy);
        }
        placed.map_err(failed)?;
        let opened = self.connect().map_err(|error| error.to_string())?;
        *anchor = Anchor::of(&self.path).map_err(failed)?;
        if let (Some(state), Some(id)) = (&self.options.state, &self.id) {
            Notes::of(state).note(&self.path, id, anchor.file()).map_err(failed)?;
        }
        self.readers.begin_anew();
        Ok(opened)
    }

    /// Gives a copy the name of the journal.
    fn put_in_place(&self, copy: &Path) -> io::Result<()> {
        // Old files of these names would be taken for the log of the new file.
        for ending in ["-wal", "-shm", "-journal"] {
            remove(&beside(&self.path, ending))?;
        }
        fs::rename(copy, &self.path)?;
        private::sync_with_name(&self.path)
    }

    /// Writes everything that the connection sees into a new file.
    fn copy_to(connection: &Connection, copy: &Path) -> Result<(), String> {
        remove(copy).map_err(|error| error.to_string())?;
        private::new_file(copy).map_err(|error| error.to_string())?;
        let name = copy.to_str().ok_or("its path is no text")?;
        connection.execute("VACUUM INTO ?1", [name]).map_err(|error| error.to_string())?;
        private::sync_with_name(copy).map_err(|error| error.to_string())
    }

    /// Keeps a copy in the state folder; returns a text that says where.
    fn keep_elsewhere(&self, connection: &Connection) -> String {
        let (Some(state), Some(id)) = (&self.options.state, &self.id) else {
            return String::new();
        };
        let folder = state.join(RESCUED_FOLDER);
        let copy = folder.join(format!("{id}-{}.db", std::process::id()));
        let kept = private::folders(&folder).map_err(|error| error.to_string());
        match kept.and_then(|()| Self::copy_to(connection, &copy)) {
            Ok(()) => format!("; what was recorded was saved as `{}`", copy.display()),
            Err(why) => format!("; what was recorded could not be saved: {why}"),
        }
    }
}
