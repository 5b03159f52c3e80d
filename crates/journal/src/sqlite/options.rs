//! Options of a journal, errors of opening it, and counters.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// How long an operation waits for other processes.
const BUSY_TIMEOUT: Duration = Duration::from_mins(1);

/// Settings of a journal.
#[derive(Debug, Clone)]
pub struct Options {
    /// Slept inside each commit, to see what a slow disk does. For benchmarks only.
    pub commit_delay: Option<Duration>,
    /// How long an operation waits for other processes that write to the same file.
    pub busy_timeout: Duration,
    /// The largest the file may get, in pages; `None` leaves that to the disk.
    pub pages_max: Option<u32>,
    /// The user's state folder, with the notes on journals that this user began, and the locks of runs. Without
    /// one, every journal counts as the user's own, and locks are in the folders of the runs.
    pub state: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self { commit_delay: None, busy_timeout: BUSY_TIMEOUT, pages_max: None, state: None }
    }
}

/// Why a journal could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder cannot be made or looked into.
    #[error("cannot use the artifact folder `{}`: {source}", .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A newer version has written it.
    #[error(
        "`{}` has format {found}, and this version of materia knows only format {known}: use a newer materia, or another artifact folder",
        .path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The format it has.
        found: i64,
        /// The format that this version knows.
        known: i64,
    },
    /// An earlier version has written it that was never released.
    #[error(
        "`{}` was written by an earlier, unreleased version of materia (format {found}; this one reads {known}): look at it with that version, or move it away",
        .path.display()
    )]
    Earlier {
        /// The file.
        path: PathBuf,
        /// The format it has.
        found: i64,
        /// The format that this version knows.
        known: i64,
    },
    /// It is no journal, or no longer one.
    #[error("`{}` is damaged: {what}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damage.
        what: String,
    },
    /// It has tables, views or triggers that a journal has not.
    #[error(
        "`{}` is no journal as materia makes them: {what}; nothing in it was read or run. Move it out of the way, or put one back that you trust",
        .path.display()
    )]
    Altered {
        /// The file.
        path: PathBuf,
        /// The differences.
        what: String,
    },
    /// This user's materia did not begin it here.
    #[error("`{}` was not begun here by your materia", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A link or something else is in its place, or it cannot be looked at.
    #[error("`{}` cannot be used: {source}", .path.display())]
    Place {
        /// The file or folder.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The user's state folder cannot be used.
    #[error("the state folder `{}` cannot be used: {source}", .path.display())]
    State {
        /// The folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Other processes did not let go of it.
    #[error("other processes kept `{}` locked for too long", .path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// There is no room.
    #[error("the disk is full: `{}` cannot be opened", .path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Nothing may be written here.
    #[error("`{}` cannot be written: {what}", .path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// The obstacle.
        what: String,
    },
    /// The storage failed in another way.
    #[error("`{}` cannot be opened: {what}", .path.display())]
    Storage {
        /// The file.
        path: PathBuf,
        /// The error.
        what: String,
    },
}

/// Counters of the writes through one journal value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Transactions that were committed; each is one sync.
    pub commits: u64,
    /// Batches in them.
    pub batches: u64,
    /// Decisions in those; each is one row.
    pub decisions: u64,
    /// Records in those.
    pub records: u64,
    /// Bytes of text and hash in those.
    pub bytes: u64,
    /// The time that all commits took together.
    pub commit_time: Duration,
}
