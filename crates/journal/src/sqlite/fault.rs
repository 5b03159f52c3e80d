//! Conversion of SQLite's errors.

use std::path::Path;

use materia_contract::RunId;
use materia_engine::{AppendError, ReadError};
use rusqlite::{Error, ErrorCode, ffi};

use super::OpenError;

/// Why a read failed.
#[derive(Debug)]
pub(super) enum Fault {
    /// SQLite said so.
    Sqlite(Error),
    /// The stored data is damaged.
    Damaged { place: String, what: String },
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Fault {
    /// Damage at an event.
    pub(super) fn at(run: &RunId, seq: u64, what: impl Into<String>) -> Self {
        Self::Damaged { place: format!("event {seq} of cast `{run}`"), what: what.into() }
    }

    /// As the port says it, for a read that was about `subject`.
    pub(super) fn into_read_error(self, subject: &str) -> ReadError {
        match self {
            Self::Damaged { place, what } => ReadError::Damaged { place, what },
            Self::Sqlite(error) if is_damage(&error) => {
                ReadError::Damaged { place: subject.to_owned(), what: error.to_string() }
            }
            Self::Sqlite(error) if is_busy(&error) => {
                ReadError::Storage("other processes kept it locked for too long".to_owned())
            }
            Self::Sqlite(error) => ReadError::Storage(error.to_string()),
        }
    }
}

/// Another process is in the way for the moment.
pub(super) fn is_busy(error: &Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed
        )
    )
}

/// The file is not what SQLite has written.
pub(super) fn is_damage(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// Nothing may be written here, or not even the files that a reader needs.
pub(super) fn is_read_only(error: &Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied)
    )
}

/// There is no room on the disk.
pub(super) fn is_full(error: &Error) -> bool {
    // The shared index of the log is the one file whose growth fails under another name.
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
        || error.sqlite_error().is_some_and(|raw| raw.extended_code == ffi::SQLITE_IOERR_SHMSIZE)
        || is_too_large(error)
}

/// The largest size that files may have here, where the system sets one (`ulimit -f`) and a write has just failed:
/// SQLite does not tell why it did.
fn is_too_large(error: &Error) -> bool {
    let failed = [
        ffi::SQLITE_FULL,
        ffi::SQLITE_IOERR_WRITE,
        ffi::SQLITE_IOERR_TRUNCATE,
        ffi::SQLITE_IOERR_SHMSIZE,
    ];
    let write = |raw: &ffi::Error| failed.contains(&raw.extended_code);
    error.sqlite_error().is_some_and(write) && size_limit().is_some()
}

fn size_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Fsize).current
}

/// An error in words.
fn told(error: &Error) -> String {
    match size_limit() {
        Some(limit) if is_too_large(error) => format!(
            "{error}: a file may not become larger than {limit} bytes here; `ulimit -f` sets that"
        ),
        Some(_) | None => error.to_string(),
    }
}

/// As the port says it, for an append.
pub(super) fn append_error(error: &Error) -> AppendError {
    if is_full(error) {
        AppendError::Full(told(error))
    } else if is_busy(error) {
        AppendError::Storage("other processes kept it locked for too long".to_owned())
    } else {
        AppendError::Storage(error.to_string())
    }
}

/// The error for the user who opens the journal.
pub(super) fn open_error(path: &Path, error: &Error) -> OpenError {
    let path = path.to_owned();
    let what = told(error);
    if is_too_large(error) {
        OpenError::Storage { path, what }
    } else if is_full(error) {
        OpenError::Full { path }
    } else if is_busy(error) {
        OpenError::Busy { path }
    } else if is_damage(error) {
        OpenError::Damaged { path, what }
    } else if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) {
        OpenError::ReadOnly { path, what }
    } else {
        OpenError::Storage { path, what }
    }
}
