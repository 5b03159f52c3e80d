//! The folders that a server serves, written down, so that the next one serves them as well.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use axum::http::StatusCode;
use materia_contract::RefusalCode;
use materia_safe_fs::Folder;

use crate::http::problem::Refused;
use crate::projects::Registry;

/// The file, in the state folder.
const FILE: &str = "server-projects.json";
/// The most that is read of it.
const BYTES_MAX: u64 = 1 << 20;

/// The list of folders in the state folder. A demo keeps none.
pub(crate) struct ServedFolders {
    state: Option<PathBuf>,
    writing: Mutex<()>,
}

impl ServedFolders {
    pub(crate) fn at(state: Option<&Path>) -> Self {
        Self { state: state.map(Path::to_owned), writing: Mutex::default() }
    }

    /// The folders of the server before that are still there and the user's own.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        let folder = self.state.as_ref().and_then(|state| Folder::at(state).ok());
        let bytes = folder.and_then(|folder| folder.read(FILE, BYTES_MAX).ok());
        // A list that makes no sense names nothing: folders can be added again.
        let listed: Option<Vec<PathBuf>> =
            bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let mut listed = listed.unwrap_or_default();
        listed.retain(|dir| dir.is_absolute() && check(dir).is_ok());
        listed
    }

    /// Writes down the folders that are served now.
    pub(crate) fn note(&self, rooms: &Registry) -> io::Result<()> {
        let Some(state) = &self.state else { return Ok(()) };
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let served = rooms.projects();
        let dirs: Vec<&Path> = served.iter().map(|it| it.project.dir.as_path()).collect();
        let text = serde_json::to_vec(&dirs).map_err(io::Error::other)?;
        Folder::at(state)?.replace(FILE, &text)
    }
}

/// Refuses a path that is no folder, or a folder of another user.
pub(crate) fn check(dir: &Path) -> Result<(), Refused> {
    let Some(found) = dir.metadata().ok().filter(Metadata::is_dir) else {
        return Err(Refused::unknown("there is no such folder"));
    };
    let own = rustix::process::geteuid();
    if found.uid() != own.as_raw() && !own.is_root() {
        let detail = "the folder belongs to somebody else; only your own are served";
        return Err(Refused::new(StatusCode::FORBIDDEN, RefusalCode::Forbidden, detail));
    }
    Ok(())
}
