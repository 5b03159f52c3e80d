//! The lease of a run: a lock on a file, and an epoch that goes up with each holder.
//!
//! The file is in the user's state folder, which turns do not touch: a turn cannot release the lock by changing the
//! folder of its cast. The lock belongs to the open file and ends with the process. The content of the file only
//! helps a person to find the process. Where the lock is lost because the file was removed, the epoch tells the old
//! holder's batches from the new holder's.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use materia_contract::RunId;
use materia_engine::{ClaimError, Epoch};
use rusqlite::{Connection, OptionalExtension, params};

use crate::private;

/// The folder of the locks in the state folder.
const LOCKS_FOLDER: &str = "locks";

/// The name of a lock in the folder of its run, where there is no state folder.
const LOCK_FILE: &str = "lock";

/// How often, and after which pause, a lock is retried: a process that checks the lock or withdraws a command holds
/// it for a moment only.
const LOOKERS_MAX: u32 = 20;
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// The location of the locks of a journal's runs.
#[derive(Debug, Clone)]
pub(super) struct Locks {
    folder: PathBuf,
    in_state: bool,
}

impl Locks {
    /// In the user's state folder, for the journal of this id.
    pub(super) fn in_state(state: &Path, id: &str) -> Self {
        Self { folder: state.join(LOCKS_FOLDER).join(id), in_state: true }
    }

    /// In the folders of the runs.
    pub(super) fn in_casts(root: &Path) -> Self {
        Self { folder: root.to_owned(), in_state: false }
    }

    fn path(&self, run: &RunId) -> PathBuf {
        // An invalid id is hashed, because it becomes a file name.
        let name = RunId::parse(run.as_str()).map_or_else(
            |_| blake3::hash(run.as_str().as_bytes()).to_hex().to_string(),
            |run| run.to_string(),
        );
        if self.in_state {
            self.folder.join(format!("{name}.{LOCK_FILE}"))
        } else {
            self.folder.join(name).join(LOCK_FILE)
        }
    }
}

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

    /// Whether at most one run is driven here.
    pub(super) fn is_one_or_none(&self) -> bool {
        self.count.load(Ordering::Relaxed) <= 1
    }

    /// Whether this is one of them; no other process writes to it then.
    pub(super) fn has(&self, run: &RunId) -> bool {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).contains(run)
    }
}

/// The lock of a run.
pub(super) struct Lock {
    run: RunId,
    held: Arc<Held>,
    /// The file, if it goes with the lock.
    remove: Option<PathBuf>,
    // Dropped last: until then no other process can see the run as free.
    _file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.held.count.fetch_sub(1, Ordering::Relaxed);
        self.held.runs.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.run);
        if let Some(path) = &self.remove {
            // A process that waits for the lock checks whether its locked file still has this name.
            let _ = fs::remove_file(path);
        }
    }
}

/// Locks a run.
pub(super) fn lock(locks: &Locks, run: &RunId, held: &Arc<Held>) -> Result<Lock, ClaimError> {
    let failed = |source| ClaimError::Io { run: run.clone(), source };
    let path = locks.path(run);
    let mut tries = 0;
    let mut file = loop {
        let mut file = open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) if has_name(&file, &path) => break file,
            // The former holder has just released the lock and removed the file.
            Ok(()) => continue,
            // The holder may be a process that only checks whether the run is held.
            Err(TryLockError::WouldBlock) if tries < LOOKERS_MAX => thread::sleep(POLL_INTERVAL),
            Err(TryLockError::WouldBlock) => {
                return Err(ClaimError::Held { run: run.clone(), pid: holder(&mut file) });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        tries += 1;
    };
    // An error, such as a full disk, is ignored: the process id is only informative, the lock itself is held.
    let _ = sign(&mut file);
    held.count.fetch_add(1, Ordering::Relaxed);
    held.runs.lock().unwrap_or_else(PoisonError::into_inner).insert(run.clone());
    let remove = locks.in_state.then_some(path);
    Ok(Lock { run: run.clone(), held: Arc::clone(held), remove, _file: file })
}

/// Whether a file that is open still has its name.
fn has_name(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(named)) = (file.metadata(), path.symlink_metadata()) else { return false };
    (open.dev(), open.ino()) == (named.dev(), named.ino())
}

/// Whether a process holds the lock of a run.
pub(super) fn is_locked(locks: &Locks, run: &RunId) -> Result<bool, ClaimError> {
    let failed = |source| ClaimError::Io { run: run.clone(), source };
    let mut options = File::options();
    let file = match options.read(true).custom_flags(private::unwaiting()).open(locks.path(run)) {
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

/// The runs whose locks are held, by name. Unreadable ones are left out.
pub(super) fn held(locks: &Locks) -> Vec<RunId> {
    let entries = fs::read_dir(&locks.folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let runs = names.filter_map(|name| {
        let run =
            if locks.in_state { name.strip_suffix(LOCK_FILE)?.strip_suffix('.')? } else { &name };
        RunId::parse(run).ok()
    });
    let mut held: Vec<RunId> = runs.filter(|run| is_locked(locks, run).unwrap_or(false)).collect();
    held.sort();
    held
}

/// Notes one more lease of a run; gives its number. Behind the largest number comes 1 again.
pub(super) fn begin(connection: &Connection, run: &RunId) -> rusqlite::Result<Epoch> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO leases (run_id, epoch) VALUES (?1, 1)
         ON CONFLICT (run_id) DO UPDATE
         SET epoch = iif(epoch BETWEEN 0 AND 9223372036854775806, epoch + 1, 1) RETURNING epoch",
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

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        private::folders(folder)?;
    }
    File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(private::FILE_MODE)
        .custom_flags(private::no_link())
        .open(path)
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
