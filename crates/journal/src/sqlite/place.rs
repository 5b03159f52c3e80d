//! Checks of the journal's folder and file: no links, and no files beside them that would make SQLite touch other
//! files.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::{JOURNAL_FILE, OpenError};
use crate::notes::beside;
use crate::private;

/// How a rollback journal ends that names a further file, which SQLite deletes when it is done. A journal of ours
/// never spans several files.
const NAMES_ANOTHER_FILE: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Bytes of that.
const NAME_END: i64 = 8;

/// The file of the journal under `root`, whose folder is made if need be. It may not be there yet.
pub(super) fn made(root: &Path) -> Result<PathBuf, OpenError> {
    let failed = |source| OpenError::Folder { path: root.to_owned(), source };
    private::folders(root).map_err(failed)?;
    let real = private::real(root).map_err(failed)?;
    let path = real.unwrap_or_else(|| root.to_owned()).join(JOURNAL_FILE);
    is_plain(&path)?;
    Ok(path)
}

/// The file of the journal under `root`, if it is there.
pub(super) fn existing(root: &Path) -> Result<Option<PathBuf>, OpenError> {
    let real = private::real(root)
        .map_err(|source| OpenError::Folder { path: root.to_owned(), source })?;
    let Some(path) = real.map(|real| real.join(JOURNAL_FILE)) else { return Ok(None) };
    Ok(is_plain(&path)?.then_some(path))
}

/// Whether there is a file at `path`. Anything else there is refused, and so is what is beside it that should not be.
fn is_plain(path: &Path) -> Result<bool, OpenError> {
    let refuse = |path: &Path, source| OpenError::Place { path: path.to_owned(), source };
    for ending in ["-wal", "-shm", "-journal"] {
        let other = beside(path, ending);
        if let Ok(found) = other.symlink_metadata()
            && !found.is_file()
        {
            let source = if found.is_symlink() { private::is_link() } else { no_file() };
            return Err(refuse(&other, source));
        }
    }
    let rollback = beside(path, "-journal");
    if names_another_file(&rollback).unwrap_or(false) {
        let what = "it names another file, which SQLite would delete; remove it";
        return Err(refuse(&rollback, io::Error::other(what)));
    }
    match path.symlink_metadata() {
        Ok(found) if found.is_file() => Ok(true),
        Ok(found) if found.is_symlink() => Err(refuse(path, private::is_link())),
        Ok(_) => Err(refuse(path, no_file())),
        Err(error) if private::is_absent(&error) => Ok(false),
        // The parent is not a folder.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            let root = path.parent().unwrap_or(path).to_owned();
            Err(OpenError::Folder { path: root, source: error })
        }
        Err(error) => Err(refuse(path, error)),
    }
}

fn no_file() -> io::Error {
    io::Error::other("it is no file")
}

fn names_another_file(rollback: &Path) -> io::Result<bool> {
    let mut file = File::options().read(true).custom_flags(private::no_link()).open(rollback)?;
    if file.metadata()?.len() < NAMES_ANOTHER_FILE.len() as u64 {
        return Ok(false);
    }
    let mut end = [0; NAMES_ANOTHER_FILE.len()];
    file.seek(SeekFrom::End(-NAME_END))?;
    file.read_exact(&mut end)?;
    Ok(end == NAMES_ANOTHER_FILE)
}

/// Makes the file if it is missing, private to its owner, and fixes the mode of a file of an earlier version. An
/// existing file is opened by SQLite only: closing another handle would release SQLite's locks.
pub(super) fn private_file(path: &Path) -> io::Result<()> {
    match private::new_file(path) {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    for file in [path.to_owned(), beside(path, "-wal"), beside(path, "-shm")] {
        let open =
            |found: &fs::Metadata| found.is_file() && found.permissions().mode() & 0o077 != 0;
        if file.symlink_metadata().is_ok_and(|found| open(&found)) {
            // It fails if another user owns the file; the mode stays then.
            let _ = fs::set_permissions(&file, fs::Permissions::from_mode(private::FILE_MODE));
        }
    }
    Ok(())
}
