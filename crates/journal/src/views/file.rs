//! Writing files in a folder that others may write to as well.
//!
//! A symbolic link in the place of a file or folder of ours is refused, never followed: it
//! could lead the output of a turn anywhere.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::private;

/// A view that could not be written. The run is not touched by it.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`: {source}", .path.display())]
pub struct ViewProblem {
    /// The file or folder.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl ViewProblem {
    /// For `map_err`: the problem is at `path`.
    pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self { path, source }
    }
}

/// Opens a file for writing, with `how` added.
pub(super) fn open(path: &Path, how: impl FnOnce(&mut OpenOptions)) -> Result<File, ViewProblem> {
    let mut options = OpenOptions::new();
    options.create(true).mode(private::FILE_MODE).custom_flags(private::no_link());
    how(&mut options);
    options.open(path).map_err(|error| {
        let source = if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
            io::Error::other("it is a symbolic link")
        } else {
            error
        };
        ViewProblem { path: path.to_owned(), source }
    })
}

/// Writes a whole file in place.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), ViewProblem> {
    let mut file = open(path, |options| {
        options.write(true).truncate(true);
    })?;
    file.write_all(bytes).map_err(ViewProblem::at(path))
}

/// Writes a whole file; where it says the `same` as another one, a second name for that will do.
///
/// A name costs a fraction of a file, and every turn of an agent that answers JSON needs one.
pub(super) fn copy_of(
    other: &Path,
    same: bool,
    path: &Path,
    bytes: &[u8],
) -> Result<(), ViewProblem> {
    if same && fs::hard_link(other, path).is_ok() {
        return Ok(());
    }
    write(path, bytes)
}

/// Writes a whole file so that no reader ever sees half of it.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), ViewProblem> {
    let beside = beside(path);
    write(&beside, bytes)?;
    fs::rename(&beside, path).map_err(ViewProblem::at(path))
}

/// The name under which a file is made before it takes the place of `path`.
pub(super) fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    path.with_file_name(name)
}

/// Makes a folder that is really there, and not behind a link.
pub(super) fn folder(path: &Path) -> Result<(), ViewProblem> {
    private::folder(path).map_err(ViewProblem::at(path))
}

/// Refuses a name that could lead elsewhere, whoever gave it.
pub(super) fn refuse_unless(is_name: bool, path: &Path) -> Result<(), ViewProblem> {
    if is_name {
        return Ok(());
    }
    let source = io::Error::other("its last part is no id: an event was forged");
    Err(ViewProblem { path: path.to_owned(), source })
}
