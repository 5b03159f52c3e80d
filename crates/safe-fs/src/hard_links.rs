//! Replaces hard-linked files by copies.
//!
//! A sandbox of paths cannot tell the names of a file apart: a program that may write `docs/x` can write `~/.bashrc`
//! where both are one file. So the writable folders are searched before a turn, and such a file becomes a copy.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{File, FileTimes, Permissions};
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, OFlags};
use rustix::io::Errno;
use rustix::process::{Gid, Uid, geteuid};

use crate::folder::{Folder, beside};
use crate::resolve;

/// The most entries that are looked at.
const ENTRIES_MAX: usize = 1_000_000;
/// The most bytes that are copied at a time.
const BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;

/// The names of one file, each with the root that it was found under.
struct Names {
    all: u64,
    found: Vec<(usize, PathBuf)>,
}

/// Replaces every plain file beneath `roots` that has a name elsewhere by a copy with the same content and mode;
/// returns their paths. An error means that one could not be replaced.
///
/// A root may be a file. Files with all names beneath the roots stay as they are. Links are not followed.
pub fn make_own(roots: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    make_own_within(roots, ENTRIES_MAX, BYTES_MAX)
}

pub(crate) fn make_own_within(
    roots: &[PathBuf],
    entries_max: usize,
    bytes_max: u64,
) -> io::Result<Vec<PathBuf>> {
    let inner = |path: &PathBuf| roots.iter().any(|root| root != path && path.starts_with(root));
    let mut outermost: Vec<&PathBuf> = roots.iter().filter(|path| !inner(path)).collect();
    outermost.dedup();
    let mut places = Vec::new();
    let mut names: HashMap<(u64, u64), Names> = HashMap::new();
    let mut entries = entries_max;
    for root in outermost {
        let at = places.len();
        let (folder, start) = match (root.symlink_metadata(), root.parent(), root.file_name()) {
            (Ok(found), Some(parent), Some(name)) if found.is_file() => {
                (Folder::at_itself(parent)?, Some(name))
            }
            (Ok(_), ..) => (Folder::at_itself(root)?, None),
            (Err(error), ..) if error.kind() == io::ErrorKind::NotFound => continue,
            (Err(error), ..) => return Err(error),
        };
        let mut keep = |path: PathBuf, found: &rustix::fs::Stat| {
            #[allow(clippy::useless_conversion, reason = "it is narrower on other machines")]
            let all = u64::from(found.st_nlink);
            if FileType::from_raw_mode(found.st_mode) == FileType::RegularFile && all > 1 {
                let known = names.entry((found.st_dev, found.st_ino));
                let known = known.or_insert(Names { all, found: Vec::new() });
                known.found.push((at, path));
            }
        };
        match start {
            Some(name) => keep(PathBuf::from(name), &folder.look_at(name)?),
            None => look_through(&folder, &mut entries, &mut keep)?,
        }
        places.push(folder);
    }
    let mut left = bytes_max;
    let mut made = Vec::new();
    let elsewhere = names.into_values().filter(|names| names.all > names.found.len() as u64);
    for (at, path) in elsewhere.flat_map(|names| names.found) {
        let folder = &places[at];
        let shown = folder.path().join(&path);
        copy(folder, &path, &mut left).map_err(|error| {
            let what = "has a second name elsewhere, and no copy of its own can be made";
            io::Error::new(error.kind(), format!("`{}` {what}: {error}", shown.display()))
        })?;
        made.push(shown);
    }
    made.sort();
    Ok(made)
}

/// Looks at every plain file beneath a folder.
fn look_through(
    root: &Folder,
    entries: &mut usize,
    keep: &mut impl FnMut(PathBuf, &rustix::fs::Stat),
) -> io::Result<()> {
    let mut open = vec![PathBuf::new()];
    while let Some(at) = open.pop() {
        let shown = || root.path().join(&at);
        let named = |error: io::Error| {
            let message = format!("`{}` cannot be looked through: {error}", shown().display());
            io::Error::new(error.kind(), message)
        };
        let folder = match root.folder(&at) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && foreign(root, &at) => {
                // Another user's, closed to us and so to the turn; of our own it could change the mode.
                continue;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            opened => opened.map_err(named)?,
        };
        for entry in Dir::read_from(folder.handle()).map_err(|error| named(error.into()))? {
            let entry = entry.map_err(|error| named(error.into()))?;
            let name = OsString::from_vec(entry.file_name().to_bytes().to_vec());
            if name == "." || name == ".." {
                continue;
            }
            *entries = entries.checked_sub(1).ok_or_else(|| {
                let message = format!("more than {ENTRIES_MAX} files lie in what may be written");
                io::Error::new(io::ErrorKind::QuotaExceeded, message)
            })?;
            let path = at.join(&name);
            match entry.file_type() {
                FileType::Directory => open.push(path),
                FileType::RegularFile => match folder.look_at(&name) {
                    Ok(found) => keep(path, &found),
                    // A removed file cannot be written to.
                    Err(Errno::NOENT) => {}
                    Err(error) => return Err(named(error.into())),
                },
                FileType::Unknown => match folder.look_at(&name) {
                    Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Directory => {
                        open.push(path);
                    }
                    Ok(found) => keep(path, &found),
                    Err(Errno::NOENT) => {}
                    Err(error) => return Err(named(error.into())),
                },
                FileType::Symlink
                | FileType::Fifo
                | FileType::Socket
                | FileType::CharacterDevice
                | FileType::BlockDevice => {}
            }
        }
    }
    Ok(())
}

/// Whether a folder beneath `root` belongs to another user.
fn foreign(root: &Folder, at: &Path) -> bool {
    let parent = at.parent().and_then(|parent| root.folder(parent).ok());
    let found = parent.zip(at.file_name()).and_then(|(parent, name)| parent.look_at(name).ok());
    found.is_some_and(|found| found.st_uid != geteuid().as_raw())
}

/// Puts a copy of a file in its place. The file itself, with its other names, stays as it is.
fn copy(folder: &Folder, path: &Path, left: &mut u64) -> io::Result<()> {
    let parent = folder.folder(path.parent().unwrap_or(Path::new("")))?;
    let name = path.file_name().unwrap_or_default();
    // Without waiting: a pipe may have taken its place by now.
    let how = OFlags::RDONLY | OFlags::NONBLOCK;
    let mut from = File::from(resolve::open(parent.handle(), Path::new(name), how)?);
    let found = from.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("something that is no file is in its place"));
    }
    *left = left.checked_sub(found.len()).ok_or_else(|| {
        let message = format!("that would be more than {} MiB", BYTES_MAX / 1024 / 1024);
        io::Error::new(io::ErrorKind::FileTooLarge, message)
    })?;
    let beside = beside(name);
    let copied = (|| {
        let mut to = parent.create(&beside)?;
        io::copy(&mut from, &mut to)?;
        if found.uid() != geteuid().as_raw() {
            // Only root can, and only root would otherwise take the file from its owner.
            let (owner, group) = (Uid::from_raw(found.uid()), Gid::from_raw(found.gid()));
            let _ = rustix::fs::fchown(&to, Some(owner), Some(group));
        }
        to.set_permissions(Permissions::from_mode(found.mode() & 0o777))?;
        let times = FileTimes::new().set_modified(found.modified()?);
        to.set_times(found.accessed().map_or(times, |accessed| times.set_accessed(accessed)))?;
        parent.rename(&beside, Path::new(name))
    })();
    if copied.is_err() {
        let _ = parent.remove_file(&beside);
    }
    copied
}

impl Folder {
    /// The `stat` of a name in it; links are not followed.
    fn look_at(&self, name: &OsStr) -> Result<rustix::fs::Stat, Errno> {
        rustix::fs::statat(self.handle(), name, AtFlags::SYMLINK_NOFOLLOW)
    }
}
