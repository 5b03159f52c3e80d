//! Removes a whole tree with only two open handles, at any depth.
//!
//! Folders in the tree are moved up beside the tree's root and are removed there one by one.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::Permissions;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Dir, OFlags, renameat, unlinkat};
use rustix::io::Errno;

use crate::resolve;

/// Told apart the folders that are being taken away.
static WAITING: AtomicU64 = AtomicU64::new(0);

/// Takes `name` in `parent` away.
pub(crate) fn all(parent: &OwnedFd, name: &OsStr) -> io::Result<()> {
    match unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        // Which of the two it says depends on the system.
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(error) => return Err(error.into()),
    }
    let mut waiting = VecDeque::from([name.to_owned()]);
    while let Some(next) = waiting.pop_front() {
        empty(parent, &next, &mut waiting)?;
        match unlinkat(parent, &next, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Empties a folder; the folders in it are moved up and wait.
fn empty(parent: &OwnedFd, name: &OsStr, waiting: &mut VecDeque<OsString>) -> io::Result<()> {
    let folder = open(parent, name)?;
    for entry in Dir::read_from(&folder)? {
        let entry = entry?;
        let inner = OsString::from_vec(entry.file_name().to_bytes().to_vec());
        if inner == "." || inner == ".." {
            continue;
        }
        match unlinkat(&folder, &inner, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => continue,
            Err(Errno::ISDIR | Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
        let number = WAITING.fetch_add(1, Ordering::Relaxed);
        let up = OsString::from(format!(".gone-{}-{number}", std::process::id()));
        // `open` makes the folder writable: a folder without write permission cannot be moved, because its `..`
        // changes.
        let _ = open(&folder, &inner)?;
        renameat(&folder, &inner, parent, &up)?;
        waiting.push_back(up);
    }
    Ok(())
}

/// Opens a folder; one whose mode forbids that is given another.
fn open(parent: impl AsFd, name: &OsStr) -> io::Result<OwnedFd> {
    let parent = parent.as_fd();
    let place = resolve::open(parent, Path::new(name), OFlags::PATH | OFlags::DIRECTORY)?;
    // By the handle, not the name: no other process can put a link in between.
    let through = format!("/proc/self/fd/{}", place.as_raw_fd());
    let mode = std::fs::metadata(&through).map_or(0o700, |found| found.permissions().mode());
    if mode & 0o700 != 0o700 {
        std::fs::set_permissions(&through, Permissions::from_mode(0o700))?;
    }
    resolve::open(parent, Path::new(name), resolve::FOLDER)
}
