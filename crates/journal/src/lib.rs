//! Durable records of runs, and the files beside them that people look at.
//!
//! [`SqliteJournal`] is the truth: an event exists when it is committed there. [`Views`] keeps
//! what can be derived from it at hand as plain files; whatever is wrong with a view, the
//! journal mends it, never the other way round.
//!
//! Deliberately absent: what an event means. Status words and turn files are read off the
//! events here; every rule of a run is the kernel's.

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
