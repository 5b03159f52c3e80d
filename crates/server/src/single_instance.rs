//! One server a state folder: the lock that it holds from before its first answer until its casts rest.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

const LOCK_FILE: &str = "server.lock";

/// A process that checks the lock holds it for a moment. A server retries this often before it reports that another
/// one runs.
const TRIES: u32 = 5;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// Takes the lock of a state folder; `None` where a server has it.
pub(crate) fn take(state: &Path) -> io::Result<Option<File>> {
    fs::create_dir_all(state)?;
    let path = state.join(LOCK_FILE);
    let file =
        fs::OpenOptions::new().create(true).write(true).truncate(false).mode(0o600).open(path)?;
    for tried in 0..TRIES {
        if tried > 0 {
            thread::sleep(BETWEEN_TRIES);
        }
        if lock(&file, FlockOperation::NonBlockingLockExclusive)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// Whether a server has the lock of a state folder: one that begins, answers, or brings its casts to rest.
pub fn is_held(state: &Path) -> bool {
    // Several may look at once, so they share it.
    File::open(state.join(LOCK_FILE))
        .and_then(|file| lock(&file, FlockOperation::NonBlockingLockShared))
        .is_ok_and(|got| !got)
}

fn lock(file: &File, how: FlockOperation) -> io::Result<bool> {
    match rustix::fs::flock(file, how) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
