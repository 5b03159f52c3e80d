//! Folders for measurements.
//!
//! They stay until the program ends: a file system may search for space around recent deletions (ext4 without a
//! journal does), so that cleaning up after one round would slow down the next.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use tempfile::TempDir;

use crate::Outcome;

/// Where memory is a file system, on which a sync costs nothing.
const MEMORY: &str = "/dev/shm";

/// Everything that is to be deleted at the end.
static FOLDERS: Mutex<Vec<TempDir>> = Mutex::new(Vec::new());

/// The folder that `--in` names.
static PLACE: OnceLock<PathBuf> = OnceLock::new();

/// Measures in this folder instead of beside the program.
pub(crate) fn set_place(folder: &str) -> Outcome<()> {
    let folder = std::fs::canonicalize(folder).map_err(|error| format!("`{folder}`: {error}"))?;
    PLACE.set(folder).map_err(|_| "`--in` is given twice".into())
}

fn keep(folder: TempDir) -> PathBuf {
    let path = folder.path().to_owned();
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).push(folder);
    path
}

/// Deletes all that was made.
pub(crate) fn clear() {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// A fresh folder in the one that `--in` names; otherwise on the file system of the build, which is the one that people
/// use.
pub(crate) fn on_disk() -> Outcome<PathBuf> {
    let place = if let Some(place) = PLACE.get() {
        place.clone()
    } else {
        let program = std::env::current_exe()?;
        program.ancestors().nth(2).ok_or("the program lies in no folder")?.join("tmp")
    };
    std::fs::create_dir_all(&place)?;
    Ok(keep(tempfile::Builder::new().prefix("bench-").tempdir_in(place)?))
}

/// A fresh folder in memory; `None` where there is no such file system.
pub(crate) fn in_memory() -> Option<PathBuf> {
    tempfile::Builder::new().prefix("materia-bench-").tempdir_in(MEMORY).ok().map(keep)
}

/// Every file beneath a folder.
pub(crate) fn files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                found.push(entry.path());
            }
        }
    }
    Ok(found)
}
