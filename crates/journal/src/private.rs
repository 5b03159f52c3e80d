//! Files and folders for their owner alone, and never behind a link.
//!
//! A symbolic link in the place of a file or folder of this program is refused, because it could lead the data
//! anywhere.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Of folders that are made.
const FOLDER_MODE: u32 = 0o700;
/// Of files that are made.
pub(crate) const FILE_MODE: u32 = 0o600;

/// The flag that keeps `open` from following a link in the last place of a path.
pub(crate) fn no_link() -> i32 {
    rustix::fs::OFlags::NOFOLLOW.bits().cast_signed()
}

/// Says that something is a link.
pub(crate) fn is_link() -> io::Error {
    io::Error::other("it is a symbolic link, and materia follows none to where it writes")
}

/// Makes a folder whose parent is there; one that is there already must be a folder itself.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(FOLDER_MODE).create(path) {
        Ok(()) => Ok(()),
        Err(error) => match fs::symlink_metadata(path) {
            Ok(found) if found.is_dir() => Ok(()),
            Ok(found) if found.is_symlink() => Err(is_link()),
            Ok(_) => Err(io::Error::other("something that is no folder is in its place")),
            Err(_) => Err(error),
        },
    }
}

/// Makes a folder and those above it that are missing. The last one may not be a link.
pub(crate) fn folders(path: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent()
        && !parent.as_os_str().is_empty()
        && !parent.exists()
    {
        folders(parent)?;
    }
    folder(path)
}

/// The path without a link in it, of something whose last name is none; `None` where nothing is there.
pub(crate) fn real(path: &Path) -> io::Result<Option<PathBuf>> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(is_link()),
        Ok(_) => path.canonicalize().map(Some),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether an error says that nothing is there.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// Flags to open a file that another process may have replaced: no link is followed, and opening a pipe does not
/// block.
pub(crate) fn unwaiting() -> i32 {
    no_link() | rustix::fs::OFlags::NONBLOCK.bits().cast_signed()
}

/// Reads a file of at most so many bytes; what is no file is an error.
pub(crate) fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let file = OpenOptions::new().read(true).custom_flags(unwaiting()).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    if found.len() > bytes_max {
        return Err(io::Error::other("it is too large"));
    }
    let mut bytes = Vec::new();
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Makes a new file; something that is there already is an error.
pub(crate) fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(FILE_MODE).custom_flags(no_link()).open(path)
}

/// Makes a file last through a loss of power, with its name.
pub(crate) fn sync_with_name(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()?;
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}
