//! The folder of a cast, which other programs may write to as well.
//!
//! All access is beneath the artifact root, through a handle that was opened before any turn ran. No link is
//! followed, because it could lead the output of a turn anywhere.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use materia_safe_fs::{Anchor, Folder};

/// A view that could not be written. The run is not touched by it.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`: {source}", .path.display())]
pub struct ViewProblem {
    /// The file or folder.
    pub path: PathBuf,
    /// The error of the system.
    pub source: io::Error,
}

impl ViewProblem {
    /// For `map_err`: the problem is at `path`.
    pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self { path, source }
    }
}

/// Where a cast has its folder.
#[derive(Debug)]
pub(super) struct Place {
    root: Anchor,
    path: PathBuf,
    /// The artifact root, since it was last looked whether it still is where it was.
    held: Option<Arc<Folder>>,
}

impl Place {
    /// The folder at `path`, whose parent is the artifact root.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { root: Anchor::of(path.parent().unwrap_or(Path::new("."))), path, held: None }
    }

    /// Its path, for people to read.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder, if it is there.
    pub(super) fn folder(&self) -> io::Result<Folder> {
        self.root.folder()?.folder(self.name())
    }

    /// The artifact root was just looked at, for many casts: the next files are made beneath this handle.
    pub(super) fn hold(&mut self, root: Option<Arc<Folder>>) {
        self.held = root;
    }

    /// The folder `within` it, or itself, which is made where it is missing.
    pub(super) fn make(&self, within: &str) -> Result<Folder, ViewProblem> {
        let root = self.held.clone().map_or_else(|| self.root.make(), Ok);
        self.made(root, within)
    }

    /// The same, for one of many files that are written in one go: the root is looked at once for all of them.
    pub(super) fn make_next(&mut self, within: &str) -> Result<Folder, ViewProblem> {
        if self.held.is_none() {
            self.held = self.root.make().ok();
        }
        self.make(within)
    }

    /// Opens a file in it to go on at its end; the folder and the file are made where they are missing.
    pub(super) fn append(&self, name: &str) -> Result<File, ViewProblem> {
        let root = self.held.clone().map_or_else(|| self.root.make(), Ok);
        let opened = root.and_then(|root| root.append(Path::new(self.name()).join(name)));
        opened.map_err(ViewProblem::at(&self.path.join(name)))
    }

    fn made(&self, root: io::Result<Arc<Folder>>, within: &str) -> Result<Folder, ViewProblem> {
        let path = Path::new(self.name()).join(within);
        let made = root.and_then(|root| root.make_folder(path));
        made.map_err(|source| ViewProblem { path: self.path.join(within), source })
    }

    fn name(&self) -> &std::ffi::OsStr {
        self.path.file_name().unwrap_or_default()
    }
}

fn in_folder(folder: &Folder, name: &str, source: io::Error) -> ViewProblem {
    ViewProblem { path: folder.path().join(name), source }
}

/// Writes a whole file.
pub(super) fn write(folder: &Folder, name: &str, bytes: &[u8]) -> Result<(), ViewProblem> {
    folder.write(name, bytes).map_err(|source| in_folder(folder, name, source))
}

/// Writes a whole file; where it says the `same` as another one, a second name for that will do.
///
/// A name costs a fraction of a file, and every turn of an agent that answers JSON needs one.
pub(super) fn copy_of(
    folder: &Folder,
    other: &str,
    same: bool,
    name: &str,
    bytes: &[u8],
) -> Result<(), ViewProblem> {
    if same && folder.second_name(other, name).is_ok() {
        return Ok(());
    }
    write(folder, name, bytes)
}

/// Writes a whole file so that no reader ever sees half of it.
pub(super) fn replace(folder: &Folder, name: &str, bytes: &[u8]) -> Result<(), ViewProblem> {
    folder.replace(name, bytes).map_err(|source| in_folder(folder, name, source))
}

/// Refuses a name that could lead to another folder.
pub(super) fn refuse_unless(
    is_name: bool,
    path: impl FnOnce() -> PathBuf,
) -> Result<(), ViewProblem> {
    if is_name {
        return Ok(());
    }
    let source = io::Error::other("its last part is no id: an event was forged");
    Err(ViewProblem { path: path(), source })
}
