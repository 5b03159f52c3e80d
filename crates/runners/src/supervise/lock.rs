//! Lock that is held while any process of a tree lives.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use materia_safe_fs::Folder;

/// How long a lock is waited for. Only a tree whose materia was killed can hold it, and that
/// tree is being killed as well.
const PATIENCE: Duration = Duration::from_secs(8);
/// The pause between two tries. No system call waits for a lock of another process until a deadline.
const PAUSE: Duration = Duration::from_millis(20);

/// Why there is no lock.
#[derive(Debug, thiserror::Error)]
pub(super) enum LockError {
    /// Another tree has it.
    #[error("another process still uses its session")]
    Held,
    /// The file system refused.
    #[error("its session cannot be locked: {0}")]
    Io(#[from] io::Error),
}

impl LockError {
    /// Whether another tree has it.
    pub(super) fn is_held(&self) -> bool {
        matches!(self, Self::Held)
    }
}

/// Takes the lock at `path`; it is given back when the file is closed, in whatever manner.
pub(super) fn take(path: &Path) -> Result<File, LockError> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput).into());
    };
    let file = Folder::at_itself(folder)?.append(name)?;
    let end = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error.into()),
            Err(TryLockError::WouldBlock) if Instant::now() > end => return Err(LockError::Held),
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
        }
    }
}
