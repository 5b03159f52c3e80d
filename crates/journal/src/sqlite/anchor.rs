//! Whether the file that is written to still is the one that others find.
//!
//! A turn may remove or replace the journal while a run goes on, as `git clean` does. SQLite writes on into a file
//! that nobody finds any more, and says that all is well. So after every commit, before it counts, the names are
//! looked at: one look at the file and one at its log.

use std::io;
use std::path::{Path, PathBuf};

use crate::notes::{FileIdentity, beside};

/// The files that a connection has open, by name.
#[derive(Debug, Clone)]
pub(super) struct Anchor {
    path: PathBuf,
    log: PathBuf,
    file: FileIdentity,
    /// The log, once it is there.
    logged: Option<FileIdentity>,
}

/// How the names stand to the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// They are these files.
    Yes,
    /// The file has no name any more, or its log has none: the name of the file is free, or still its own.
    Removed,
    /// Something else has the name.
    Replaced,
}

impl Anchor {
    /// That of a file which was just opened.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let log = beside(path, "-wal");
        let file = FileIdentity::at(path)?;
        let logged = FileIdentity::at(&log).ok();
        Ok(Self { path: path.to_owned(), log, file, logged })
    }

    /// Which file it is.
    pub(super) fn file(&self) -> FileIdentity {
        self.file
    }

    /// How it stands just behind a commit, when there is a log.
    pub(super) fn holds(&mut self) -> Holds {
        match FileIdentity::at(&self.path) {
            Ok(found) if found.is_same(self.file) => {}
            Ok(_) => return Holds::Replaced,
            Err(_) => return Holds::Removed,
        }
        match (self.logged, FileIdentity::at(&self.log)) {
            (None, Ok(found)) => {
                self.logged = Some(found);
                Holds::Yes
            }
            (Some(logged), Ok(found)) if logged.is_same(found) => Holds::Yes,
            (_, Ok(_) | Err(_)) => Holds::Removed,
        }
    }
}
