//! A folder for the file that is read. It is in memory where the system has such a place: a file that is written anew thousands
//! of times would otherwise wait for the disk each time.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;

/// Where files in memory lie on Linux.
const IN_MEMORY: &str = "/dev/shm";

/// Writes the bytes to a file of this name, and says where it is.
pub(crate) fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder().join(name);
    std::fs::write(&path, bytes).expect("a file in a temporary folder");
    path
}

/// The folder; one a process.
pub(crate) fn folder() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let made = || tempfile::tempdir_in(IN_MEMORY).or_else(|_| tempfile::tempdir());
    FOLDER.get_or_init(|| made().expect("a temporary folder")).path()
}
