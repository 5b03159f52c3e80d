//! Temporary folders that are removed with their process, or later by another one.
//!
//! Each contains a file that is locked as long as its process lives. A lock ends with its process; a process id could
//! be reused.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Once;

use rustix::fs::Mode;

use crate::Folder;

/// How every name begins.
const PREFIX: &str = "materia-";
/// The file that says that a folder is one of ours.
const MARK: &str = ".materia-temporary";
/// The content of that file.
const WORDS: &[u8] =
    b"A temporary folder of materia. It may be removed once nobody holds a lock on this file.\n";
/// How many names are tried.
const TRIES_MAX: u32 = 8;

/// A new folder that only this user can read, with an unpredictable name. It is removed on drop; if the process is
/// killed, [`sweep`] removes it later.
#[derive(Debug)]
pub struct Temporary {
    place: Folder,
    name: String,
    folder: Folder,
    path: PathBuf,
    // Locked as long as it is open.
    _mark: File,
}

impl Temporary {
    /// A new one among the system's temporary files; `purpose` becomes part of its name.
    /// The first one of a process removes what killed processes left (see [`sweep`]).
    pub fn new(purpose: &str) -> io::Result<Self> {
        sweep();
        Self::within(&std::env::temp_dir(), purpose)
    }

    /// A new one in `place`.
    pub fn within(place: &Path, purpose: &str) -> io::Result<Self> {
        let place = Folder::at(&place.canonicalize()?)?;
        let mut tries = 0;
        let (name, folder) = loop {
            let mut random = [0; 8];
            rustix::rand::getrandom(&mut random[..], rustix::rand::GetRandomFlags::empty())?;
            let name = format!("{PREFIX}{purpose}-{:016x}", u64::from_le_bytes(random));
            match place.new_folder(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < TRIES_MAX => {
                    tries += 1;
                }
                made => break (name, made?),
            }
        };
        let mut mark = folder.create(MARK)?;
        // The text is written after the lock is taken: a file with the text and without a lock has no living owner.
        mark.try_lock().map_err(io::Error::from)?;
        mark.write_all(WORDS)?;
        let path = place.path().join(&name);
        Ok(Self { place, name, folder, path, _mark: mark })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder itself.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // If it cannot be removed now, [`sweep`] removes it later.
        let _ = self.place.remove_all(&self.name);
    }
}

/// Removes the temporary folders of killed processes: those with our mark file and without a lock on it, at any age.
/// Runs once in a process.
pub fn sweep() {
    static SWEPT: Once = Once::new();
    SWEPT.call_once(|| {
        let _ = sweep_now();
    });
}

/// The same at once; says how many went.
pub fn sweep_now() -> usize {
    sweep_in(&std::env::temp_dir())
}

/// The same in `place`; says how many went.
pub(crate) fn sweep_in(place: &Path) -> usize {
    let Ok(place) = Folder::at(place) else { return 0 };
    let ours = |name: &OsStr| name.as_encoded_bytes().starts_with(PREFIX.as_bytes());
    let names = place.names().unwrap_or_default();
    let left = names.iter().filter(|name| ours(name) && is_left(&place, name));
    left.filter(|name| place.remove_all(name).is_ok()).count()
}

/// Whether a folder was left by a process that is gone.
fn is_left(place: &Folder, name: &OsStr) -> bool {
    let look = || {
        let folder = place.folder(name)?;
        let private = folder.owner_and_mode()? == (rustix::process::getuid().as_raw(), Mode::RWXU);
        let mark = folder.open(MARK)?;
        let said = folder.read(MARK, WORDS.len() as u64)?;
        io::Result::Ok(private && said == WORDS && mark.try_lock().is_ok())
    };
    look().unwrap_or(false)
}
