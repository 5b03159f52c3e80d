//! The right to drive a run: a lock on a file in its folder, and a number that goes up with each holder.
//!
//! The lock belongs to the open file and ends with the process, however that ends. What is
//! written in the file only helps a person to find the process. Where the lock is lost all the same, since
//! somebody removed the file, the number tells the old holder's batches from the new one's.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use materia_contract::RunId;
use materia_engine::{ClaimError, Epoch};
use rusqlite::{Connection, OptionalExtension, params};

const LOCK_FILE: &str = "lock";

/// How often, and after which pause, a lock is tried again: a look at it takes a moment and is no holder.
const LOOKERS_MAX: u32 = 3;
const LOOK: Duration = Duration::from_millis(1);

/// The runs that this process drives through one journal.
#[derive(Debug, Default)]
pub(super) struct Held {
    count: AtomicUsize,
    runs: Mutex<HashSet<RunId>>,
}

impl Held {
    /// Whether there is exactly one.
    pub(super) fn is_one(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 1
    }

    /// Whether this is one of them: nobody else writes to it.
    pub(super) fn has(&self, run: &RunId) -> bool {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).contains(run)
    }
}

/// What keeps others away from a run.
pub(super) struct Lock {
    run: RunId,
    held: Arc<Held>,
    // Given up last: until then nobody else can be told that the run is free.
    _file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.held.count.fetch_sub(1, Ordering::Relaxed);
        self.held.runs.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.run);
    }
}

/// Locks a run.
pub(super) fn lock(root: &Path, run: &RunId, held: &Arc<Held>) -> Result<Lock, ClaimError> {
    let failed = |source| ClaimError::Io { run: run.clone(), source };
    let mut file = open(&root.join(run.as_str())).map_err(failed)?;
    let mut tries = 0;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            // It may be somebody who only looks whether the run is held.
            Err(TryLockError::WouldBlock) if tries < LOOKERS_MAX => thread::sleep(LOOK),
            Err(TryLockError::WouldBlock) => {
                return Err(ClaimError::Held { run: run.clone(), pid: holder(&mut file) });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        tries += 1;
    }
    // A full disk must not keep anybody from going on: the number is a help, not the lock.
    let _ = sign(&mut file);
    held.count.fetch_add(1, Ordering::Relaxed);
    held.runs.lock().unwrap_or_else(PoisonError::into_inner).insert(run.clone());
    Ok(Lock { run: run.clone(), held: Arc::clone(held), _file: file })
}

/// Whether somebody holds the lock of a run.
pub(super) fn is_locked(root: &Path, run: &RunId) -> Result<bool, ClaimError> {
    let failed = |source| ClaimError::Io { run: run.clone(), source };
    let file = match File::open(root.join(run.as_str()).join(LOCK_FILE)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(failed(error)),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

/// Notes one more lease of a run; gives its number.
pub(super) fn begin(connection: &Connection, run: &RunId) -> rusqlite::Result<Epoch> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO leases (run_id, epoch) VALUES (?1, 1)
         ON CONFLICT (run_id) DO UPDATE SET epoch = epoch + 1 RETURNING epoch",
    )?;
    let epoch: i64 = statement.query_row(params![run.as_str()], |row| row.get(0))?;
    Ok(Epoch(epoch.unsigned_abs()))
}

/// The newest lease of a run.
pub(super) fn newest(connection: &Connection, run: &RunId) -> rusqlite::Result<Epoch> {
    let mut statement = connection.prepare_cached("SELECT epoch FROM leases WHERE run_id = ?1")?;
    let epoch: Option<i64> = statement.query_row([run.as_str()], |row| row.get(0)).optional()?;
    Ok(Epoch(epoch.unwrap_or(0).unsigned_abs()))
}

fn open(folder: &Path) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
        .open(folder.join(LOCK_FILE))
}

fn sign(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(format!("{}\n", std::process::id()).as_bytes())
}

fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
