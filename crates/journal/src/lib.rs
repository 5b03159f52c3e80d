//! Durable records of runs, and the files beside them for people.
//!
//! [`SqliteJournal`] is the source of truth: an event exists when it is committed there. [`Views`] writes derived
//! plain files; a wrong view is repaired from the journal, never the other way round.
//!
//! Status words and turn files are taken from the events here; every rule of a run is in the kernel.

#![allow(clippy::doc_markdown, reason = "SQLite is a name and no code")]

mod blobs;
mod memory;
mod notes;
mod private;
mod sqlite;
mod views;

pub use blobs::{BLOBS_FOLDER, FileBlobs};
pub use sqlite::{Adopted, JOURNAL_FILE, OpenError, Options, SqliteJournal, Stats};
pub use views::{CatchUp, CatchUpError, ViewProblem, Views};
