//! A cast that a person wants to look at, wherever it is.

use materia_contract::{Folders, RunId};
use materia_engine::Journal;
use materia_journal::FileBlobs;

use crate::archive::{self, Archive, Written};
use crate::project::{Found, Project};
use crate::{Failure, Result};

/// A cast to look at: in a journal of the project, or in an archive.
pub enum Subject {
    /// In a journal.
    Cast(Found),
    /// In an archive.
    Archive(Box<Archive>),
}

impl Subject {
    /// Its events.
    pub fn journal(&self) -> &dyn Journal {
        match self {
            Self::Cast(found) => found.journal(),
            Self::Archive(archive) => archive.journal(),
        }
    }

    /// Its id.
    pub fn id(&self) -> &RunId {
        match self {
            Self::Cast(found) => &found.id,
            Self::Archive(archive) => archive.id(),
        }
    }

    /// The archive, if it is in one.
    pub fn archive(&self) -> Option<&Archive> {
        match self {
            Self::Cast(_) => None,
            Self::Archive(archive) => Some(archive),
        }
    }

    /// The words by which commands name it.
    pub fn name(&self) -> &str {
        match self {
            Self::Cast(found) => found.id.as_str(),
            Self::Archive(archive) => archive.name(),
        }
    }

    /// The folders that its events name. An archive has none, so their names stay.
    pub fn folders(&self, project: &Project) -> Folders {
        match self {
            Self::Cast(found) => project.folders(&found.root, &found.id),
            Self::Archive(_) => Folders::default(),
        }
    }

    /// Writes it into an archive without its texts.
    pub fn write_redacted(&self) -> Result<Written> {
        if let Self::Archive(archive) = self {
            archive.refuse_altered()?;
            if archive.is_redacted() {
                return Err(Failure::usage(format!("`{}` is redacted already", archive.name())));
            }
        }
        archive::write_redacted(self.journal(), self.id())
    }

    /// Writes it into an archive.
    pub fn write(&self) -> Result<Written> {
        match self {
            Self::Cast(found) => {
                let blobs = FileBlobs::of(&found.root);
                archive::write(found.journal(), &found.id, |hash| blobs.is_gone(hash))
            }
            Self::Archive(archive) => {
                archive.refuse_altered()?;
                if archive.is_redacted() {
                    return Err(Failure::usage(format!(
                        "`{}` is redacted; copy the file",
                        archive.name()
                    )));
                }
                archive::write(archive.journal(), archive.id(), |hash| archive.is_gone(hash))
            }
        }
    }
}
