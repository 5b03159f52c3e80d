//! One cast in one file: an archive. It holds the events as they are stored and the texts and files that they name.
//!
//! An archive is foreign: it is only read, nothing in it is carried on, and nothing in it becomes a path or a command.
//! `docs/reference/archive.md` describes the lines.

mod lines;
mod read;
mod redact;
mod write;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use materia_contract::{BlobHash, RunId};
use materia_engine::{Journal, MemoryJournal};

use crate::{Failure, Result};

pub use read::{open, read};
pub use redact::write_redacted;
pub use write::{Written, write};

/// The ending of the names of archives.
pub const ENDING: &str = ".materia";
/// The most bytes of a file. All of it is held in memory.
const FILE_BYTES_MAX: usize = 256 << 20;
/// The most bytes of all events together, and of one. Parsed, they need several times as much memory.
const EVENTS_BYTES_MAX: usize = 64 << 20;
const EVENT_BYTES_MAX: usize = 8 << 20;
/// The most bytes of texts that one event may name by their hashes.
const NAMED_BYTES_MAX: usize = 16 << 20;

/// An archive that was read.
#[derive(Debug)]
pub struct Archive {
    id: RunId,
    name: String,
    redacted: bool,
    journal: Arc<MemoryJournal>,
    gone: BTreeSet<BlobHash>,
    altered: Option<Altered>,
}

/// The first line of an archive that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Altered {
    /// Its number, from 1.
    pub line: u64,
    /// The event that it is, or whose text it is.
    pub seq: Option<u64>,
    /// The fault, in words.
    pub what: String,
}

impl std::fmt::Display for Altered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {} of the archive: {}", self.line, self.what)
    }
}

impl Archive {
    /// The cast in it.
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Its file, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether texts were replaced by their length.
    pub fn is_redacted(&self) -> bool {
        self.redacted
    }

    /// Its events, as a journal of its own.
    pub fn journal(&self) -> &dyn Journal {
        &*self.journal
    }

    /// The first line that is not as it was written.
    pub fn altered(&self) -> Option<&Altered> {
        self.altered.as_ref()
    }

    /// Whether a transcript had been removed because of its age when the archive was made.
    pub fn is_gone(&self, hash: BlobHash) -> bool {
        self.gone.contains(&hash)
    }
}

/// Whether a person means an archive by what was typed in the place of a cast's id. What can be an id is one.
pub fn is_meant(text: &str) -> bool {
    text.ends_with(ENDING) || (RunId::parse(text).is_err() && Path::new(text).is_file())
}

impl Archive {
    /// Refuses it where a line is not as it was written.
    pub fn refuse_altered(&self) -> Result<()> {
        match self.altered() {
            None => Ok(()),
            Some(altered) => {
                Err(Failure::storage(format!("`{}` was altered: {altered}", self.name)))
            }
        }
    }
}
