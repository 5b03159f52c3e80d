//! Resolves a path from a handle to another handle.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;

/// How a folder on the way is opened.
pub(crate) const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// Whether this system has turned out to lack `openat2`.
static LACKING: AtomicBool = AtomicBool::new(false);

/// The parts of a path, which lead downwards only.
pub(crate) fn parts(path: &Path) -> io::Result<Vec<&OsStr>> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => {
                let message = format!("`{}` does not lead downwards", path.display());
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
        }
    }
    Ok(parts)
}

/// The name, where a path is nothing else.
pub(crate) fn single(path: &Path) -> Option<&OsStr> {
    let mut parts = path.components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(name)), None) => Some(name),
        _ => None,
    }
}

/// Opens `path` beneath `folder`.
pub(crate) fn open(folder: impl AsFd, path: &Path, how: OFlags) -> io::Result<OwnedFd> {
    open_or_make(folder, path, how, Mode::empty())
}

/// The same; a file that is made on the way (`CREATE`) gets this mode.
pub(crate) fn open_or_make(
    folder: impl AsFd,
    path: &Path,
    how: OFlags,
    mode: Mode,
) -> io::Result<OwnedFd> {
    let how = how | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    if let Some(name) = single(path) {
        return openat(folder, name, how, mode).map_err(|error| named(error, path));
    }
    let parts = parts(path)?;
    // A single name, by far the most usual, leads nowhere else: nothing is on the way, and no link is followed.
    if parts.len() > 1 && !LACKING.load(Ordering::Relaxed) {
        let clean: PathBuf = parts.iter().collect();
        let rules = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        for _ in 0..TRIES_MAX {
            match openat2(&folder, &clean, how, mode, rules) {
                // Another process renamed something; the system asks for a retry.
                Err(Errno::AGAIN) => {}
                // Some sandboxes refuse what they do not know.
                Err(Errno::NOSYS | Errno::PERM) => {
                    LACKING.store(true, Ordering::Relaxed);
                    break;
                }
                opened => return opened.map_err(|error| named(error, path)),
            }
        }
    }
    step_by_step(folder, &parts, how, mode).map_err(|error| named(error, path))
}

/// How often a path is retried while another process renames its parts.
const TRIES_MAX: u32 = 16;

/// The same with nothing but `openat`.
pub(crate) fn step_by_step(
    folder: impl AsFd,
    parts: &[&OsStr],
    how: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let through = FOLDER | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let Some((last, before)) = parts.split_last() else {
        return openat(folder, ".", how, mode);
    };
    let mut at: Option<OwnedFd> = None;
    for part in before {
        at = Some(match &at {
            Some(at) => openat(at, *part, through, Mode::empty())?,
            None => openat(&folder, *part, through, Mode::empty())?,
        });
    }
    match &at {
        Some(at) => openat(at, *last, how, mode),
        None => openat(&folder, *last, how, mode),
    }
}

/// An error in words, where the system's own would puzzle.
pub(crate) fn named(error: Errno, path: &Path) -> io::Error {
    match error {
        Errno::LOOP | Errno::XDEV => {
            let message = format!("`{}`: a symbolic link is in the way", path.display());
            io::Error::new(io::ErrorKind::InvalidInput, message)
        }
        Errno::NOTDIR => {
            let message = format!(
                "`{}`: a symbolic link is in the way, or something else that is no folder",
                path.display()
            );
            io::Error::new(io::ErrorKind::NotADirectory, message)
        }
        other => other.into(),
    }
}
