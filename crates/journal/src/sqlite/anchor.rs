//! Checks that the open file still has the journal's name.
//!
//! A turn may remove or replace the journal during a run, as `git clean` does. SQLite would go on writing into the
//! removed file without an error. So after every commit, before it counts, the file and its log are checked by name.

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
    /// For a file that was just opened.
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
