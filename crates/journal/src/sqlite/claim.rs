//! The right to drive a run: a lock on a file in its folder.
//!
//! The lock belongs to the open file and ends with the process, however that ends. What is
//! written in the file only helps a person to find the process.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use materia_contract::RunId;
use materia_engine::{Claim, ClaimError};

const LOCK_FILE: &str = "lock";

pub(super) fn claim(
    root: &Path,
    run: &RunId,
    claims: &Arc<AtomicUsize>,
) -> Result<Claim, ClaimError> {
    let failed = |source| ClaimError::Io { run: run.clone(), source };
    let mut file = open(&root.join(run.as_str())).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(ClaimError::Held { run: run.clone(), pid: holder(&mut file) });
        }
        Err(TryLockError::Error(source)) => return Err(failed(source)),
    }
    // A full disk must not keep anybody from going on: the number is a help, not the lock.
    let _ = sign(&mut file);
    claims.fetch_add(1, Ordering::Relaxed);
    Ok(Claim::new((file, Counted(Arc::clone(claims)))))
}

/// One claim among those that are counted.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
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
