//! Copies shipped scripts into a profile (U4).

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Script;
use super::script_store::{Copy, MANIFEST_FILE, ScriptStore};

/// Held while files are written, so that two processes that start at once do not mix.
const LOCK_FILE: &str = ".lock";

/// Why the scripts are not in the profile.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// The profile cannot be written, or a copy in it cannot be read.
    #[error(
        "the shipped utility `{script}` cannot be kept in `{}`: {error}; make that folder readable and writable, or name another profile with MATERIA_PROFILE_DIR",
        folder.display()
    )]
    Folder {
        /// The script.
        script: &'static str,
        /// The folder of the copies.
        folder: PathBuf,
        /// Error of the operating system.
        error: io::Error,
    },
    /// A cast that goes on names a file that is no longer what it was.
    #[error(
        "`{}`, which this cast runs, was changed or removed since it began; put it back, or begin a new cast",
        path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
    },
}

/// Installs these scripts in the profile. Scripts that a person changed are never overwritten. If all are there,
/// nothing is written or locked, so that a read-only profile works.
pub fn sync(shelf: &ScriptStore, scripts: &[&'static Script]) -> Result<(), SyncError> {
    let Some(missing) = scripts.iter().find(|script| !shelf.holds(script)) else { return Ok(()) };
    let failed = |script: &Script, error| SyncError::Folder {
        script: script.name,
        folder: shelf.folder.clone(),
        error,
    };
    let _lock = lock(&shelf.folder).map_err(|error| failed(missing, error))?;
    // Another process may have changed it while this one waited for the lock.
    let mut shelf = shelf.again();
    for script in scripts {
        put(&mut shelf, script).map_err(|error| failed(script, error))?;
    }
    Ok(())
}

fn lock(folder: &Path) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    let file =
        File::options().write(true).create(true).truncate(false).open(folder.join(LOCK_FILE))?;
    file.lock()?;
    Ok(file)
}

/// Puts one script in its place, then writes down what it is. Should the process end between the
/// two, the next one finds the right bytes in place and only writes that down.
fn put(shelf: &mut ScriptStore, script: &Script) -> io::Result<()> {
    if shelf.holds(script) {
        return Ok(());
    }
    let choice = shelf.choose(script)?;
    if !choice.present {
        replace(&shelf.folder, &choice.file, script.text.as_bytes())?;
    }
    let copy = Copy { file: choice.file.clone(), hash: script.hash() };
    if !choice.changed {
        shelf.manifest.written.insert(choice.file, copy.hash.clone());
    }
    shelf.manifest.scripts.insert(script.name.to_owned(), copy);
    let text = serde_json::to_vec_pretty(&shelf.manifest)?;
    replace(&shelf.folder, MANIFEST_FILE, &text)
}

/// Writes a temporary file and renames it, so that no reader sees a partial file.
fn replace(folder: &Path, file: &str, bytes: &[u8]) -> io::Result<()> {
    let beside = folder.join(format!(".{file}.{}.tmp", std::process::id()));
    let written = File::create(&beside)
        .and_then(|mut new| new.write_all(bytes).and_then(|()| new.sync_all()))
        .and_then(|()| fs::rename(&beside, folder.join(file)));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}
