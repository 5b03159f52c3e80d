//! An existing workspace.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use materia_safe_fs::Folder;

use crate::fault::{At as _, Fault};
use crate::git::Git;
use crate::location::Place;
use crate::look::Look;
use crate::ref_list::is_id;

/// The file that says that a workspace is complete; it holds the base commit.
pub(crate) const MADE: &str = "made";
/// How long another process may hold a workspace.
const LOCK_TIME_MAX: Duration = Duration::from_mins(2);
/// The pause between two tries. No system call waits for a lock of another process until a deadline.
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// A cast's repository and its files.
#[derive(Debug)]
pub struct Workspace {
    pub(crate) place: Place,
    /// The base commit.
    pub(crate) base: String,
    /// The lock, while an operation is under way.
    held: Mutex<Option<Arc<File>>>,
}

/// Ends an operation.
pub(crate) struct Held<'a>(&'a Workspace);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        *self.0.held.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// A place, and what was found there.
#[derive(Debug)]
pub enum Opened {
    /// Everything is there.
    Here(Workspace),
    /// The files were deleted, the repository is there: [`Workspace::make_checkout`] makes them again.
    CheckoutGone(Workspace),
    /// Nothing is there that could be used.
    Gone,
}

/// Looks for the workspace at a place.
pub fn open(place: &Place) -> Result<Opened, Fault> {
    place.check()?;
    let private = match Folder::at_itself(&place.private()) {
        Err(error) if is_missing(&error) => return Ok(Opened::Gone),
        opened => opened.at("open", &place.private())?,
    };
    let base = match private.read(MADE, 128) {
        Err(error) if is_missing(&error) => return Ok(Opened::Gone),
        read => read.at("read", &place.private().join(MADE))?,
    };
    let base = String::from_utf8_lossy(&base).trim().to_owned();
    if !is_id(&base) || !place.repository().join("objects").is_dir() {
        return Ok(Opened::Gone);
    }
    let workspace = Workspace::at(place, base);
    let there = place.checkout().symlink_metadata().is_ok_and(|it| it.is_dir());
    Ok(if there { Opened::Here(workspace) } else { Opened::CheckoutGone(workspace) })
}

pub(crate) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl Workspace {
    pub(crate) fn at(place: &Place, base: String) -> Self {
        Self { place: place.clone(), base, held: Mutex::new(None) }
    }

    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The base commit.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// git with the workspace's refs and objects and our settings.
    pub(crate) fn git(&self) -> Git {
        // A call of git holds the lock even if it outlives this process, so that no other process writes the same
        // files.
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Git::new(&self.place.private()).attributes(&self.base).holding(held)
    }

    /// The same with the files and our index of them.
    pub(crate) fn git_with_files(&self) -> Git {
        let private = self.place.private();
        self.git().top(&self.place.checkout()).index(&private.join("index")).may_refresh()
    }

    pub(crate) fn private(&self) -> Result<Folder, Fault> {
        let path = self.place.private();
        Folder::at_itself(&path).at("open", &path)
    }

    /// The folder that turns write to. Links in it that would lead our own writing elsewhere are refused.
    pub(crate) fn repository(&self) -> Result<Folder, Fault> {
        let path = self.place.repository();
        let folder = Folder::at_itself(&path).at("open", &path)?;
        for name in ["objects", "refs"] {
            if folder.has(name) {
                folder.folder(name).at("open", &path.join(name))?;
            }
        }
        if folder.has("packed-refs") && !folder.has_file("packed-refs") {
            let path = path.join("packed-refs");
            return Err(Fault::Unusable(format!("`{}` is not a plain file", path.display())));
        }
        Ok(folder)
    }

    pub(crate) fn checkout(&self) -> Result<Folder, Fault> {
        let path = self.place.checkout();
        // Its files are the project's: made as the umask says.
        Ok(Folder::at_itself(&path).at("open", &path)?.for_umask())
    }

    /// Holds the workspace until the end of an operation: one at a time.
    pub(crate) fn lock(&self) -> Result<Held<'_>, Fault> {
        let path = self.place.private().join("lock");
        let file = self.private()?.append("lock").at("open", &path)?;
        let end = Instant::now() + LOCK_TIME_MAX;
        while file.try_lock().is_err() {
            if Instant::now() > end {
                let path = path.display();
                return Err(Fault::Unusable(format!("another process holds `{path}`")));
            }
            std::thread::sleep(LOCK_PAUSE);
        }
        // The process that left these files has ended, because this process holds the lock now.
        let private = self.private()?;
        for name in private.names().at("read", &self.place.private())? {
            let text = name.as_bytes();
            if text.ends_with(b".lock") || text.starts_with(b"materia-") {
                private.remove_all(&name).at("remove", &self.place.private().join(&name))?;
            }
        }
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(file));
        Ok(Held(self))
    }

    /// Whether HEAD of a look goes back to the base. A cast whose HEAD does not cannot be published.
    pub fn has_base_as_ancestor(&self, look: &Look) -> Result<bool, Fault> {
        look.check()?;
        self.is_ancestor(&self.base, &look.head)
    }

    pub(crate) fn is_ancestor(&self, old: &str, new: &str) -> Result<bool, Fault> {
        is_ancestor(&self.git(), old, new)
    }

    /// The error for a complete workspace whose files were deleted: making it again would lose the content of its
    /// repository.
    pub(crate) fn without_files(&self) -> Fault {
        let files = self.place.checkout();
        Fault::Unusable(format!("the files of the workspace were deleted: `{}`", files.display()))
    }
}

/// Whether one commit is the other or comes before it.
pub(crate) fn is_ancestor(git: &Git, old: &str, new: &str) -> Result<bool, Fault> {
    let call = git.call(["merge-base", "--is-ancestor", old, new]);
    let said = call.run()?;
    match said.status {
        0 => Ok(true),
        1 => Ok(false),
        // There is no such commit: HEAD is on a branch without one.
        _ if new.bytes().all(|it| it == b'0') => Ok(false),
        _ => Err(Fault::Unusable(format!(
            "`git merge-base` failed for {old} and {new}: {}",
            said.error
        ))),
    }
}

/// Copies a file with its modification time: git compares it with the times of the listed files.
pub(crate) fn copy_index(from: &Path, folder: &Folder, name: &str) -> Result<(), Fault> {
    let copy = || {
        let mut from = File::open(from)?;
        let mut to = folder.create(name)?;
        io::copy(&mut from, &mut to)?;
        to.set_modified(from.metadata()?.modified()?)
    };
    copy().at("copy", from)
}
